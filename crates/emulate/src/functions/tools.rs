//! The tool information interface: there are no variables, events or categories, and tools find that out in the proper way.
//!
//! Its functions never call error handlers; the caller gets the code.

use hpcast_objects::ErrorClass;

use crate::argument::{Argument, At, Buffer, InfoAt, InfoHandle, Text, TextAt, TypeAt};
use crate::call::{Call, mpi};
use crate::fault::{Answer, Concern, Fault};

/// Arguments that are not looked at, with their types in C.
macro_rules! unseen {
    ($($name:ident $in_c:literal;)*) => {$(
        struct $name;
        impl Argument for $name {
            const IN_C: &'static str = $in_c;
            unsafe fn from_c(_: usize, _: &Call<'_>) -> $name {
                $name
            }
        }
    )*};
}
unseen! {
    CbSafety "MPI_T_cb_safety";
    CountAt "MPI_Count *";
    CvarHandle "MPI_T_cvar_handle";
    CvarHandleAt "MPI_T_cvar_handle *";
    Enum "MPI_T_enum";
    EnumAt "MPI_T_enum *";
    EventCbFunction "MPI_T_event_cb_function";
    EventDroppedCbFunction "MPI_T_event_dropped_cb_function";
    EventFreeCbFunction "MPI_T_event_free_cb_function";
    EventInstance "MPI_T_event_instance";
    EventRegistration "MPI_T_event_registration";
    EventRegistrationAt "MPI_T_event_registration *";
    PvarHandle "MPI_T_pvar_handle";
    PvarHandleAt "MPI_T_pvar_handle *";
    PvarSession "MPI_T_pvar_session";
    SourceOrderAt "MPI_T_source_order *";
}

fn refused(class: ErrorClass, detail: &str) -> Answer {
    Err(Fault::new(class, detail).of(Concern::Nobody))
}

fn no_such_index() -> Answer {
    refused(ErrorClass::ToolInvalidIndex, "there are no variables, events or categories")
}

fn no_such_name() -> Answer {
    refused(ErrorClass::ToolInvalidName, "there are no variables, events or categories")
}

fn no_such_handle() -> Answer {
    refused(ErrorClass::ToolInvalidHandle, "no such handle was given out")
}

/// How many there are of something.
fn none(number: At<i32>) -> Answer {
    number.set(0);
    Ok(())
}

/// Where the handle of a session of performance variables is.
struct PvarSessionAt(usize);

impl Argument for PvarSessionAt {
    const IN_C: &'static str = "MPI_T_pvar_session *";
    unsafe fn from_c(word: usize, _: &Call<'_>) -> PvarSessionAt {
        PvarSessionAt(word)
    }
}

impl PvarSessionAt {
    /// Sessions are all alike, and hold nothing: their handles only are not null.
    fn set(&self, word: usize) {
        // SAFETY: the program says that there is a handle; it is a pointer in all libraries.
        unsafe { (self.0 as *mut usize).write_unaligned(word) };
    }
}

mpi! {
    fn MPI_T_init_thread(_call, required: i32, provided: At<i32>) {
        provided.set(required);
        Ok(())
    }
    fn MPI_T_finalize(_call) {
        Ok(())
    }
    fn MPI_T_cvar_get_num(_call, num_cvar: At<i32>) {
        none(num_cvar)
    }
    fn MPI_T_pvar_get_num(_call, num_pvar: At<i32>) {
        none(num_pvar)
    }
    fn MPI_T_category_get_num(_call, num_cat: At<i32>) {
        none(num_cat)
    }
    fn MPI_T_event_get_num(_call, num_events: At<i32>) {
        none(num_events)
    }
    fn MPI_T_source_get_num(_call, num_sources: At<i32>) {
        none(num_sources)
    }
    fn MPI_T_category_changed(_call, update_number: At<i32>) {
        none(update_number)
    }
    fn MPI_T_pvar_session_create(_call, session: PvarSessionAt) {
        session.set(1);
        Ok(())
    }
    fn MPI_T_pvar_session_free(_call, session: PvarSessionAt) {
        session.set(0);
        Ok(())
    }
    fn MPI_T_category_get_categories(_call, _cat_index: i32, _len: i32, _indices: At<i32>) {
        no_such_index()
    }
    fn MPI_T_category_get_cvars(_call, _cat_index: i32, _len: i32, _indices: At<i32>) {
        no_such_index()
    }
    fn MPI_T_category_get_events(_call, _cat_index: i32, _len: i32, _indices: At<i32>) {
        no_such_index()
    }
    fn MPI_T_category_get_index(_call, _name: Text, _cat_index: At<i32>) {
        no_such_name()
    }
    fn MPI_T_category_get_info(
        _call, _cat_index: i32, _name: TextAt, _name_len: At<i32>, _desc: TextAt, _desc_len: At<i32>,
        _num_cvars: At<i32>, _num_pvars: At<i32>, _num_categories: At<i32>,
    ) {
        no_such_index()
    }
    fn MPI_T_category_get_num_events(_call, _cat_index: i32, _num_events: At<i32>) {
        no_such_index()
    }
    fn MPI_T_category_get_pvars(_call, _cat_index: i32, _len: i32, _indices: At<i32>) {
        no_such_index()
    }
    fn MPI_T_cvar_get_index(_call, _name: Text, _cvar_index: At<i32>) {
        no_such_name()
    }
    fn MPI_T_cvar_get_info(
        _call, _cvar_index: i32, _name: TextAt, _name_len: At<i32>, _verbosity: At<i32>, _datatype: TypeAt,
        _enumtype: EnumAt, _desc: TextAt, _desc_len: At<i32>, _bind: At<i32>, _scope: At<i32>,
    ) {
        no_such_index()
    }
    fn MPI_T_cvar_handle_alloc(_call, _cvar_index: i32, _obj_handle: Buffer, _handle: CvarHandleAt, _count: At<i32>) {
        no_such_index()
    }
    fn MPI_T_cvar_handle_free(_call, _handle: CvarHandleAt) {
        no_such_handle()
    }
    fn MPI_T_cvar_read(_call, _handle: CvarHandle, _buf: Buffer) {
        no_such_handle()
    }
    fn MPI_T_cvar_write(_call, _handle: CvarHandle, _buf: Buffer) {
        no_such_handle()
    }
    fn MPI_T_enum_get_info(_call, _enumtype: Enum, _num: At<i32>, _name: TextAt, _name_len: At<i32>) {
        no_such_handle()
    }
    fn MPI_T_enum_get_item(_call, _enumtype: Enum, _indx: i32, _value: At<i32>, _name: TextAt, _name_len: At<i32>) {
        no_such_handle()
    }
    fn MPI_T_event_callback_get_info(
        _call, _event_registration: EventRegistration, _cb_safety: CbSafety, _info_used: InfoAt,
    ) {
        no_such_handle()
    }
    fn MPI_T_event_callback_set_info(
        _call, _event_registration: EventRegistration, _cb_safety: CbSafety, _info: InfoHandle,
    ) {
        no_such_handle()
    }
    fn MPI_T_event_copy(_call, _event_instance: EventInstance, _buffer: Buffer) {
        no_such_handle()
    }
    fn MPI_T_event_get_index(_call, _name: Text, _event_index: At<i32>) {
        no_such_name()
    }
    fn MPI_T_event_get_info(
        _call, _event_index: i32, _name: TextAt, _name_len: At<i32>, _verbosity: At<i32>,
        _array_of_datatypes: TypeAt, _array_of_displacements: At<i64>, _num_elements: At<i32>, _enumtype: EnumAt,
        _info: InfoAt, _desc: TextAt, _desc_len: At<i32>, _bind: At<i32>,
    ) {
        no_such_index()
    }
    fn MPI_T_event_get_source(_call, _event_instance: EventInstance, _source_index: At<i32>) {
        no_such_handle()
    }
    fn MPI_T_event_get_timestamp(_call, _event_instance: EventInstance, _event_timestamp: CountAt) {
        no_such_handle()
    }
    fn MPI_T_event_handle_alloc(
        _call, _event_index: i32, _obj_handle: Buffer, _info: InfoHandle, _event_registration: EventRegistrationAt,
    ) {
        no_such_index()
    }
    fn MPI_T_event_handle_free(
        _call, _event_registration: EventRegistration, _user_data: Buffer, _free_cb_function: EventFreeCbFunction,
    ) {
        no_such_handle()
    }
    fn MPI_T_event_handle_get_info(_call, _event_registration: EventRegistration, _info_used: InfoAt) {
        no_such_handle()
    }
    fn MPI_T_event_handle_set_info(_call, _event_registration: EventRegistration, _info: InfoHandle) {
        no_such_handle()
    }
    fn MPI_T_event_read(_call, _event_instance: EventInstance, _element_index: i32, _buffer: Buffer) {
        no_such_handle()
    }
    fn MPI_T_event_register_callback(
        _call, _event_registration: EventRegistration, _cb_safety: CbSafety, _info: InfoHandle, _user_data: Buffer,
        _event_cb_function: EventCbFunction,
    ) {
        no_such_handle()
    }
    fn MPI_T_event_set_dropped_handler(
        _call, _event_registration: EventRegistration, _dropped_cb_function: EventDroppedCbFunction,
    ) {
        no_such_handle()
    }
    fn MPI_T_pvar_get_index(_call, _name: Text, _var_class: i32, _pvar_index: At<i32>) {
        no_such_name()
    }
    fn MPI_T_pvar_get_info(
        _call, _pvar_index: i32, _name: TextAt, _name_len: At<i32>, _verbosity: At<i32>, _var_class: At<i32>,
        _datatype: TypeAt, _enumtype: EnumAt, _desc: TextAt, _desc_len: At<i32>, _bind: At<i32>, _readonly: At<i32>,
        _continuous: At<i32>, _atomic: At<i32>,
    ) {
        no_such_index()
    }
    fn MPI_T_pvar_handle_alloc(
        _call, _session: PvarSession, _pvar_index: i32, _obj_handle: Buffer, _handle: PvarHandleAt, _count: At<i32>,
    ) {
        no_such_index()
    }
    fn MPI_T_pvar_handle_free(_call, _session: PvarSession, _handle: PvarHandleAt) {
        no_such_handle()
    }
    fn MPI_T_pvar_read(_call, _session: PvarSession, _handle: PvarHandle, _buf: Buffer) {
        no_such_handle()
    }
    fn MPI_T_pvar_readreset(_call, _session: PvarSession, _handle: PvarHandle, _buf: Buffer) {
        no_such_handle()
    }
    fn MPI_T_pvar_reset(_call, _session: PvarSession, _handle: PvarHandle) {
        no_such_handle()
    }
    fn MPI_T_pvar_start(_call, _session: PvarSession, _handle: PvarHandle) {
        no_such_handle()
    }
    fn MPI_T_pvar_stop(_call, _session: PvarSession, _handle: PvarHandle) {
        no_such_handle()
    }
    fn MPI_T_pvar_write(_call, _session: PvarSession, _handle: PvarHandle, _buf: Buffer) {
        no_such_handle()
    }
    fn MPI_T_source_get_info(
        _call, _source_index: i32, _name: TextAt, _name_len: At<i32>, _desc: TextAt, _desc_len: At<i32>,
        _ordering: SourceOrderAt, _ticks_per_second: CountAt, _max_ticks: CountAt, _info: InfoAt,
    ) {
        no_such_index()
    }
    fn MPI_T_source_get_timestamp(_call, _source_index: i32, _timestamp: CountAt) {
        no_such_index()
    }
}

//! Copies from and to memory that programs name, which may not be there.
//!
//! A message is moved while the simulation is being changed, and perhaps while the other rank runs. A fault then cannot end the rank
//! where it is, as other faults do. Instead the copy is given up: [`guarded`] returns as if it were done, the fault is noted, and
//! the run is stopped. Nobody goes on in code of a program after that (`call.rs`), so that nobody sees what was not copied.

use std::arch::naked_asm;
use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What was wrong with memory that was to be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The signal.
    pub signal: c_int,
    /// The address; none if it is one that no memory can have.
    pub address: Option<usize>,
    /// Whether it was to be written.
    pub is_write: bool,
}

/// A fault, and whose buffer it was in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadBuffer {
    /// Whose.
    pub rank: u32,
    /// What was wrong.
    pub fault: Fault,
}

thread_local! {
    /// The stack of the copy under way, or 0.
    static WAY_OUT: Cell<usize> = const { Cell::new(0) };
    /// Why the copy was given up.
    static FAULT: Cell<Option<Fault>> = const { Cell::new(None) };
    /// The first bad buffer of this run.
    static BAD: Cell<Option<BadBuffer>> = const { Cell::new(None) };
    /// Stops the run.
    static STOP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// A run begins on this thread; the flag stops it.
pub fn begin(stop: Arc<AtomicBool>) {
    BAD.set(None);
    STOP.set(Some(stop));
}

/// The bad buffer that has ended the run, if one has.
pub fn bad_buffer() -> Option<BadBuffer> {
    BAD.get()
}

/// Notes whose buffer it was, and stops the run.
pub fn give_up(rank: u32, fault: Fault) {
    BAD.set(BAD.get().or(Some(BadBuffer { rank, fault })));
    STOP.with_borrow(|stop| stop.iter().for_each(|stop| stop.store(true, Ordering::Relaxed)));
}

/// Copies, or gives up at the first address that is not there. What the copy has allocated is lost then: `copy` should keep
/// nothing that must be given back.
#[inline]
pub fn guarded<F: FnMut()>(mut copy: F) -> Result<(), Fault> {
    unsafe extern "C" fn run<F: FnMut()>(copy: *mut c_void) {
        // SAFETY: the closure below, which nobody else uses.
        unsafe { (*copy.cast::<F>())() }
    }
    let is_done = WAY_OUT.with(|way_out| {
        // SAFETY: the function calls that closure, and the cell lives as long as the thread.
        unsafe { call_guarded(run::<F>, (&raw mut copy).cast(), way_out.as_ptr()) }
    });
    if is_done { Ok(()) } else { Err(FAULT.take().expect("a fault is noted before a copy is given up")) }
}

/// The same for what can be done only once.
pub fn guarded_once(act: impl FnOnce()) -> Result<(), Fault> {
    let mut act = Some(act);
    guarded(|| act.take().into_iter().for_each(|act| act()))
}

/// For the handler of signals: if a copy is under way, it is given up.
pub fn recover(signal: c_int, address: usize, context: &mut libc::ucontext_t) -> bool {
    /// A page that is not there, or must not be used so.
    const PAGE_FAULT: i64 = 14;
    const WRITING: i64 = 2;
    let way_out = WAY_OUT.replace(0);
    if way_out == 0 {
        return false;
    }
    let registers = &mut context.uc_mcontext.gregs;
    let has_address = registers[libc::REG_TRAPNO as usize] == PAGE_FAULT;
    let is_write = has_address && registers[libc::REG_ERR as usize] & WRITING != 0;
    FAULT.set(Some(Fault { signal, address: has_address.then_some(address), is_write }));
    registers[libc::REG_RSP as usize] = way_out as i64;
    registers[libc::REG_RIP as usize] = come_back as *const () as i64;
    true
}

/// Calls `function` with `data`. `way_out` holds the stack meanwhile, so that [`come_back`] can return in its place.
#[unsafe(naked)]
unsafe extern "C" fn call_guarded(
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
    way_out: *mut usize,
) -> bool {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "mov rbx, rdx",
        "mov [rbx], rsp",
        "mov rax, rdi",
        "mov rdi, rsi",
        "call rax",
        "mov qword ptr [rbx], 0",
        "mov eax, 1",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// Returns from [`call_guarded`] in the place of a function that was given up; the stack is that of its call.
#[unsafe(naked)]
unsafe extern "C" fn come_back() {
    naked_asm!(
        "cld",
        "xor eax, eax",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_given_up_where_memory_is_not_there() {
        crate::signals::install();
        let (mut done, kept) = (false, String::from("kept"));
        assert_eq!(guarded(|| done = true), Ok(()));
        assert!(done);
        let nowhere = std::hint::black_box(8192 as *mut u8);
        for _ in 0..3 {
            // SAFETY: the handler of signals gives it up.
            let read = guarded(|| unsafe { _ = std::hint::black_box(nowhere.read_volatile()) });
            assert_eq!(read, Err(Fault { signal: libc::SIGSEGV, address: Some(8192), is_write: false }));
            // SAFETY: as above.
            let written = guarded(|| unsafe { nowhere.add(5).write_volatile(1) });
            assert_eq!(written, Err(Fault { signal: libc::SIGSEGV, address: Some(8197), is_write: true }));
        }
        let impossible = std::hint::black_box((1usize << 62) as *mut u8);
        // SAFETY: as above.
        let read = guarded(|| unsafe { _ = std::hint::black_box(impossible.read_volatile()) });
        assert_eq!(read.map_err(|fault| fault.address), Err(None));
        assert_eq!((WAY_OUT.get(), kept.as_str()), (0, "kept"));
    }

    #[test]
    fn the_first_bad_buffer_counts() {
        let stop = Arc::new(AtomicBool::new(false));
        begin(stop.clone());
        let fault = Fault { signal: libc::SIGSEGV, address: None, is_write: false };
        give_up(3, fault);
        give_up(4, fault);
        assert!(stop.load(Ordering::Relaxed));
        assert_eq!(bad_buffer(), Some(BadBuffer { rank: 3, fault }));
        begin(stop);
        assert_eq!(bad_buffer(), None);
    }
}

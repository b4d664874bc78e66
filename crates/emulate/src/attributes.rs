//! Attributes: what a program hangs on communicators, datatypes and windows.
//!
//! A value is a word: an address in C, an integer in Fortran. As the standard says (section 19.3.7), C gets the address of a
//! value that Fortran has set, and Fortran gets the address that C has set as an integer.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use hpcast_objects::ErrorClass;

use crate::abi::{Kind, Library};
use crate::argument::Callback;
use crate::call::{Call, Language};
use crate::fault::{Answer, Code, Fault};
use crate::processes::gate::call_program;

/// How the functions of a key are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As C does.
    C,
    /// As Fortran does, with integers of the size of addresses.
    Fortran,
    /// As Fortran does with the functions of MPI-1: default integers.
    OldFortran,
}

/// A key of attributes.
#[derive(Debug)]
pub struct Keyval {
    /// What it is a key for.
    pub kind: Kind,
    /// The program's word for it.
    pub name: Cell<i32>,
    /// Called when the object is duplicated.
    pub copy: Callback,
    /// Called when the attribute goes.
    pub delete: Callback,
    /// What these get.
    pub extra: i64,
    /// How they are called.
    pub form: Form,
    /// The program has freed it; it lives as long as an attribute has it.
    pub is_freed: Cell<bool>,
    /// What calls the functions for copying and deleting, if they are of C++ in MPICH; otherwise 0.
    pub through: Cell<[usize; 2]>,
}

/// The value of an attribute.
#[derive(Clone, Debug)]
pub struct Value {
    /// Kept where it is as long as the attribute: C may get its address.
    word: Rc<i64>,
    /// Who has set it.
    language: Language,
}

impl Value {
    /// What a call has set.
    pub fn new(word: i64, language: Language) -> Value {
        Value { word: Rc::new(word), language }
    }

    /// What a language gets.
    pub fn seen_by(&self, language: Language) -> i64 {
        match (self.language, language) {
            (Language::Fortran, Language::C) => Rc::as_ptr(&self.word) as i64,
            _ => *self.word,
        }
    }
}

/// An object with attributes: its kind and number.
pub type Owner = (Kind, u32);

/// MPI_COMM_DUP_FN of the standard ABI, which is no address of a function. That of MPI_COMM_NULL_COPY_FN and
/// MPI_COMM_NULL_DELETE_FN is null.
const DUP: usize = 1;

/// MPICH's word for an attribute that C or C++ has set.
const AS_ADDRESS: usize = 0;

impl Keyval {
    /// The value for a copy of the object; none if it is not copied. The program's function gets object, key, extra state, value, new
    /// value, whether it is copied, and in Fortran the error code.
    fn copied(&self, call: &Call<'_>, (kind, number): Owner, value: &Value) -> Result<Option<Value>, Fault> {
        let handles = call.abi.handles();
        let key = self.name.get();
        let (mut flag, mut code) = (0, 0);
        let copy = match (self.copy.address, self.form) {
            (0, _) => return Ok(None),
            (DUP, Form::C) => return Ok(Some(value.clone())),
            (address, Form::C) => {
                let object = handles.to_c(kind, number, call.me.base());
                let mut out = 0i64;
                // SAFETY: the program says that this is a function that copies attributes.
                code = unsafe {
                    let value = value.seen_by(Language::C) as usize;
                    let (out, flag) = (&raw mut out as usize, &raw mut flag as usize);
                    let (key, extra) = (key as usize, self.extra as usize);
                    match self.through.get() {
                        [0, _] => call_program(address, &[object, key, extra, value, out, flag]),
                        [through, _] => {
                            call_program(through, &[address, object, key, extra, AS_ADDRESS, value, out, flag])
                        }
                    }
                } as i32;
                Value::new(out, Language::C)
            }
            (address, form) => {
                let object = handles.to_fortran(kind, number);
                let mut out = 0i64;
                let value = value.seen_by(Language::Fortran);
                // SAFETY: as above. The first half of a long integer is the default integer of the same value.
                unsafe {
                    let inputs = [&raw const object as usize, &raw const key as usize];
                    let words = [&raw const self.extra as usize, &raw const value as usize, &raw mut out as usize];
                    let outputs = [&raw mut flag as usize, &raw mut code as usize];
                    call_program(address, &[&inputs[..], &words, &outputs].concat());
                }
                Value::new(if form == Form::OldFortran { i64::from(out as i32) } else { out }, Language::Fortran)
            }
        };
        answer(code)?;
        Ok((flag != 0).then_some(copy))
    }

    /// An attribute goes. The program's function gets object, key, value, extra state, and in Fortran the error code.
    fn deleted(&self, call: &Call<'_>, (kind, number): Owner, value: &Value) -> Answer {
        let handles = call.abi.handles();
        let key = self.name.get();
        let mut code = 0;
        match (self.delete.address, self.form) {
            (0, _) => {}
            (address, Form::C) => {
                let object = handles.to_c(kind, number, call.me.base());
                let (key, value, extra) = (key as usize, value.seen_by(Language::C) as usize, self.extra as usize);
                // SAFETY: the program says that this is a function that deletes attributes.
                code = unsafe {
                    match self.through.get() {
                        [_, 0] => call_program(address, &[object, key, value, extra]),
                        [_, through] => call_program(through, &[address, object, key, AS_ADDRESS, value, extra]),
                    }
                } as i32;
            }
            (address, _) => {
                let object = handles.to_fortran(kind, number);
                let value = value.seen_by(Language::Fortran);
                // SAFETY: as above.
                unsafe {
                    let inputs = [&raw const object as usize, &raw const key as usize];
                    let words = [&raw const value as usize, &raw const self.extra as usize, &raw mut code as usize];
                    call_program(address, &[&inputs[..], &words].concat());
                }
            }
        }
        answer(code)
    }
}

/// What a function of the program says of itself.
fn answer(code: i32) -> Answer {
    match code {
        0 => Ok(()),
        code => Err(Fault::new(ErrorClass::Other, "an attribute's function failed").of_class(Code::Own(code))),
    }
}

/// The attributes of one object, in the order in which they were set.
#[derive(Debug, Default)]
pub struct Attributes {
    list: RefCell<Vec<(Rc<Keyval>, Value)>>,
}

impl Attributes {
    fn place(&self, keyval: &Rc<Keyval>) -> Option<usize> {
        self.list.borrow().iter().position(|(known, _)| Rc::ptr_eq(known, keyval))
    }

    /// The value of a key.
    pub fn get(&self, keyval: &Rc<Keyval>) -> Option<Value> {
        self.place(keyval).map(|place| self.list.borrow()[place].1.clone())
    }

    /// Sets the value of a key; one that was there is deleted.
    pub fn set(&self, call: &Call<'_>, owner: Owner, keyval: &Rc<Keyval>, value: Value) -> Answer {
        self.delete(call, owner, keyval)?;
        self.list.borrow_mut().push((keyval.clone(), value));
        Ok(())
    }

    /// Deletes the attribute of a key, if there is one.
    pub fn delete(&self, call: &Call<'_>, owner: Owner, keyval: &Rc<Keyval>) -> Answer {
        let Some(value) = self.get(keyval) else { return Ok(()) };
        keyval.deleted(call, owner, &value)?;
        // The program's function may have changed the list.
        if let Some(place) = self.place(keyval) {
            self.list.borrow_mut().remove(place);
        }
        call.forget_keyval(keyval);
        Ok(())
    }

    /// Deletes all, the last first.
    pub fn clear(&self, call: &Call<'_>, owner: Owner) -> Answer {
        loop {
            let last = self.list.borrow().last().map(|(keyval, _)| keyval.clone());
            let Some(keyval) = last else { return Ok(()) };
            self.delete(call, owner, &keyval)?;
        }
    }

    /// The attributes of a copy of the object.
    pub fn copied(&self, call: &Call<'_>, owner: Owner) -> Result<Rc<Attributes>, Fault> {
        let copies = Attributes::default();
        let all = self.list.borrow().clone();
        for (keyval, value) in all {
            if let Some(value) = keyval.copied(call, owner, &value)? {
                copies.list.borrow_mut().push((keyval, value));
            }
        }
        Ok(Rc::new(copies))
    }
}

/// Values of MPI's own attributes of communicators.
#[derive(Default)]
pub struct Predefined {
    values: [Cell<i32>; NAMES.len()],
}

/// MPI's own attributes of communicators.
const NAMES: [&str; 7] =
    ["MPI_TAG_UB", "MPI_HOST", "MPI_IO", "MPI_WTIME_IS_GLOBAL", "MPI_UNIVERSE_SIZE", "MPI_APPNUM", "MPI_LASTUSEDCODE"];

impl Predefined {
    /// The value of a key of MPI's own, as a language gets it: C the address of an integer.
    pub fn get(&self, call: &Call<'_>, key: i32) -> Option<i64> {
        let name = call.abi.name_of(call.own_key(key), &NAMES)?;
        let value = match name {
            "MPI_TAG_UB" => crate::functions::TAG_UB,
            "MPI_HOST" => call.abi.proc_null,
            "MPI_IO" => call.abi.any_source,
            // All clocks are those of the simulation.
            "MPI_WTIME_IS_GLOBAL" => 1,
            "MPI_UNIVERSE_SIZE" => call.me.world.size as i32,
            "MPI_LASTUSEDCODE" => call.me.own_errors.borrow().last_used(call.abi.constant("MPI_ERR_LASTCODE")),
            _ => 0,
        };
        let place = NAMES.iter().position(|&known| known == name)?;
        self.values[place].set(value);
        Some(match call.language {
            Language::C => &raw const self.values[place] as i64,
            Language::Fortran => i64::from(value),
        })
    }
}

/// Keys of the program's own: no library has one of its own with these bits.
const OWN: u32 = 0x7000_0000;

impl Call<'_> {
    /// The key of one of MPI's own attributes as C names it: in MPICH those of Fortran are the next numbers.
    pub fn own_key(&self, key: i32) -> i32 {
        let is_next = self.abi.library == Library::Mpich && self.language == Language::Fortran;
        if is_next { key.wrapping_sub(1) } else { key }
    }

    /// A new key.
    pub fn new_keyval(&self, kind: Kind, copy: Callback, delete: Callback, extra: i64, is_old: bool) -> i32 {
        let form = match (self.language, is_old) {
            (Language::C, _) => Form::C,
            (Language::Fortran, false) => Form::Fortran,
            (Language::Fortran, true) => Form::OldFortran,
        };
        let keyval = Rc::new(Keyval {
            kind,
            name: Cell::new(0),
            copy,
            delete,
            extra,
            form,
            is_freed: Cell::default(),
            through: Cell::default(),
        });
        let name = (OWN | self.me.objects.keyvals.insert(keyval.clone())) as i32;
        keyval.name.set(name);
        name
    }

    /// The key of a word of the program.
    pub fn keyval(&self, kind: Kind, key: i32) -> Result<Rc<Keyval>, Fault> {
        let found = self.me.objects.keyvals.get(key as u32 & !OWN).filter(|_| key as u32 & OWN == OWN);
        let found = found.filter(|keyval| keyval.kind == kind);
        found.ok_or_else(|| Fault::new(ErrorClass::Keyval, format!("{key} is no key")))
    }

    /// Frees a key; where it is in use it lives on, and keeps its word. Gives the word that is no key.
    pub fn free_keyval(&self, kind: Kind, key: i32) -> Result<i32, Fault> {
        let keyval = self.keyval(kind, key)?;
        keyval.is_freed.set(true);
        self.forget_keyval(&keyval);
        Ok(self.abi.constant("MPI_KEYVAL_INVALID"))
    }

    /// A key that was freed goes with its last attribute: then only the table and the caller have it.
    fn forget_keyval(&self, keyval: &Rc<Keyval>) {
        if keyval.is_freed.get() && Rc::strong_count(keyval) <= 2 {
            self.me.objects.keyvals.remove(keyval.name.get() as u32 & !OWN);
        }
    }
}

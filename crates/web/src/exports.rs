//! The functions that the worker calls.

use std::cell::RefCell;

use crate::failure::shown;
use crate::session::Session;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// A phase of the work begins: its number in the order of an analysis.
    safe fn phase(number: u32);
}

struct ModuleState {
    session: Session,
    answer: Vec<u8>,
}

thread_local! {
    static MODULE: RefCell<ModuleState> = RefCell::new(ModuleState {
        session: Session::new(|begun| phase(begun as u32)),
        answer: Vec::new(),
    });
}

/// Memory for a file or a call of this many bytes: its number, or 0 if there is not enough.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(bytes: usize) -> u32 {
    MODULE.with_borrow_mut(|module| module.session.reserve(bytes).unwrap_or(0))
}

/// Where this memory is; 0 for another number.
#[unsafe(no_mangle)]
pub extern "C" fn address(number: u32) -> usize {
    MODULE.with_borrow_mut(|module| {
        let file = module.session.file(number);
        file.map_or(0, |bytes| bytes.as_mut_ptr() as usize)
    })
}

/// Releases memory that no call has used.
#[unsafe(no_mangle)]
pub extern "C" fn release(number: u32) {
    MODULE.with_borrow_mut(|module| module.session.forget(number));
}

/// Answers the call in this memory, and releases it. Returns 1, or 0 if it failed: then the answer says why.
#[unsafe(no_mangle)]
pub extern "C" fn call(number: u32) -> u32 {
    MODULE.with_borrow_mut(|ModuleState { session, answer }| {
        let asked = session.file(number).map(std::mem::take).unwrap_or_default();
        session.forget(number);
        // The memory of the last answer is free for the work.
        *answer = Vec::new();
        match session.answer(&asked) {
            Ok(found) => {
                *answer = found;
                1
            }
            Err(failure) => {
                *answer = shown(&failure).unwrap_or_default();
                0
            }
        }
    })
}

/// Where the answer to the last call is.
#[unsafe(no_mangle)]
pub extern "C" fn answer_address() -> usize {
    MODULE.with_borrow(|module| module.answer.as_ptr() as usize)
}

/// Its size in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn answer_size() -> usize {
    MODULE.with_borrow(|module| module.answer.len())
}

//! Objects of Rust that JavaScript holds by the handles of wasm-bindgen, and objects of JavaScript that Rust holds by
//! their place in a table.

use std::cell::RefCell;

use wasm_bindgen::prelude::*;

/// What JavaScript holds.
#[wasm_bindgen]
pub struct Session {
    user: String,
    notes: Vec<Box<[u8; 40]>>,
}

#[wasm_bindgen]
impl Session {
    #[wasm_bindgen(constructor)]
    pub fn new(user: String, notes: usize) -> Session {
        let notes = (0..notes).map(|note| Box::new([note as u8; 40]));
        Session {
            user,
            notes: notes.collect(),
        }
    }

    pub fn describe(&self) -> String {
        format!("{} with {} notes", self.user, self.notes.len())
    }
}

/// What holds an object of JavaScript.
pub struct Listener {
    pub number: u32,
    pub callback: JsValue,
}

thread_local! {
    static LISTENERS: RefCell<Vec<Box<Listener>>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a function of JavaScript.
#[wasm_bindgen]
pub fn listen(number: u32, callback: JsValue) {
    LISTENERS.with(|all| all.borrow_mut().push(Box::new(Listener { number, callback })));
}

/// Forgets a listener without dropping it, so that its place in the table stays taken.
#[wasm_bindgen]
pub fn forget(number: u32) {
    LISTENERS.with(|all| {
        let mut all = all.borrow_mut();
        if let Some(at) = all.iter().position(|one| one.number == number) {
            std::mem::forget(all.swap_remove(at));
        }
    });
}

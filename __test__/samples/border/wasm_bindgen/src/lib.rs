//! Objects of Rust that JavaScript holds by the handles of wasm-bindgen, and objects of JavaScript that Rust holds by
//! theirs.

use wasm_bindgen::prelude::*;

/// What JavaScript holds.
#[wasm_bindgen]
pub struct Session {
    user: String,
    notes: Vec<Box<[u8; 40]>>,
    on_close: JsValue,
}

#[wasm_bindgen]
impl Session {
    #[wasm_bindgen(constructor)]
    pub fn new(user: String, notes: usize) -> Session {
        let notes = (0..notes).map(|note| Box::new([note as u8; 40]));
        Session {
            user,
            notes: notes.collect(),
            on_close: JsValue::UNDEFINED,
        }
    }

    /// Keeps a function of JavaScript.
    pub fn listen(&mut self, on_close: JsValue) {
        self.on_close = on_close;
    }

    pub fn describe(&self) -> String {
        format!("{} with {} notes", self.user, self.notes.len())
    }
}

thread_local! {
    static KEPT: std::cell::RefCell<Vec<JsValue>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Keeps an object of JavaScript until the program ends.
#[wasm_bindgen]
pub fn keep(object: JsValue) {
    KEPT.with(|kept| kept.borrow_mut().push(object));
}

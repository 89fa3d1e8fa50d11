//! Desks of Rust that JavaScript holds by the handles of wasm-bindgen. They hold clients of JavaScript by their places in a
//! table of `externref`.

use wasm_bindgen::prelude::*;

/// A client of JavaScript that is served, or waits.
pub struct Session {
    pub number: u32,
    pub client: JsValue,
}

#[wasm_bindgen]
#[derive(Default)]
pub struct Desk {
    sessions: Vec<Box<Session>>,
}

/// The sessions of clients that wait for a desk.
static mut WAITING: Vec<Box<Session>> = Vec::new();

#[wasm_bindgen]
impl Desk {
    #[wasm_bindgen(constructor)]
    pub fn new() -> Desk {
        Desk::default()
    }

    pub fn serve(&mut self, number: u32, client: JsValue) {
        self.sessions.push(Box::new(Session { number, client }));
    }
}

#[wasm_bindgen]
pub fn wait(number: u32, client: JsValue) {
    // There is one thread.
    unsafe { (*&raw mut WAITING).push(Box::new(Session { number, client })) };
}

/// The client of this number does not wait any more.
#[wasm_bindgen]
pub fn leave(number: u32) {
    // There is one thread.
    unsafe { (*&raw mut WAITING).retain(|session| session.number != number) };
}

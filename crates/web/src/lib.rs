//! The engine for a page: a module of WebAssembly that a worker calls. It has what the addon has over the same engine, and
//! no analysis of its own.
//!
//! ```text
//! page ─► worker ─► exports ─► Session ─► engine
//! ```
//!
//! A page asks for memory for each file and fills it slice by slice, so that JavaScript never holds a whole file. Everything
//! else is a [`PageCall`], given as JSON: [`Session::answer`] answers with JSON, or with numbers as bytes. There is one thread.
//! Work says when a phase begins; to cancel it, the page ends the worker.

mod call;
#[cfg(target_family = "wasm")]
mod exports;
mod failure;
mod numbers;
mod session;
mod view;

pub use call::{NamedFile, OpenCall, PageCall};
pub use failure::CallFailure;
pub use session::Session;

//! Reads the memory of WebAssembly programs from outside: of any process of Linux, and of core files.
//!
//! Nothing is written into the process, it gets no signal, and it needs no preparation.
//!
//! 1. [`mapping`] reads what is mapped, and [`memories`] which mappings have the form of a linear memory.
//! 2. [`sightings`] confirms them by what the engine keeps of each, and finds [`modules`].
//! 3. [`globals`] finds the globals of the instance, and [`layout`] says which values they must have.
//! 4. [`target`] takes a dump: [`live`] stops a process for as long as the copy takes.
//!
//! This crate reads files and processes, as no other crate of the engine does.

pub mod api;
pub mod core_file;
mod error;
#[cfg(test)]
mod found_in_test;
pub mod globals;
pub mod layout;
#[cfg(target_os = "linux")]
mod live;
pub mod mapping;
pub mod memories;
pub mod modules;
pub mod moment;
#[cfg(target_os = "linux")]
pub mod process;
pub mod refusal;
pub mod sightings;
pub mod space;
#[cfg(target_os = "linux")]
mod stop;
pub mod target;

pub use error::OutsideError;

//! The Node binding: conversions and tasks only, no analysis.
//!
//! The TypeScript in `js/` puts the public API on top; what is exported here is for it alone.
//!
//! No work runs on a thread of libuv, where it would keep files, names and ciphers of the whole process
//! waiting. There are three kinds of threads, all of a bounded number:
//!
//! - A few take asynchronous work from a queue, first come, first served, and do what one thread does
//!   alone ([`work_queue`]). Another few read pipes, which may keep them waiting for ever.
//! - One for each core does the pieces that are cut for several ([`threads`]), of all work.
//! - A synchronous call has one of its own: the caller may have used up its stack.

// The unit tests' build has no Node: there the macros of napi-rs register nothing, so every function
// of the binding would count as dead code.
#[cfg(not(test))]
mod analysis;
#[cfg(not(test))]
mod capture;
#[cfg(not(test))]
mod contents;
#[cfg(not(test))]
mod debug_info;
#[cfg(not(test))]
mod error;
#[cfg(not(test))]
mod heap;
#[cfg(not(test))]
mod inputs;
#[cfg(not(test))]
mod options;
#[cfg(not(test))]
mod tasks;
#[cfg(not(test))]
mod views;

mod guard;
mod threads;
mod work_queue;

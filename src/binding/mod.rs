//! The Node binding: conversions and tasks only, no analysis.
//!
//! The TypeScript in `js/` builds the public API on top. The functions exported here are only for it.
//!
//! No work runs on a thread of libuv, where it would delay file access, name lookups and cryptography of
//! the whole process. There are three kinds of threads, each bounded in number:
//!
//! - A few threads take asynchronous work from a queue in the order of its arrival and do its sequential
//!   parts ([`work_queue`]). A few others read pipes, which can block without limit.
//! - One thread per core does the parallel pieces of all work ([`threads`]).
//! - A synchronous call gets a separate thread, because the caller may have used up its stack.

// The build for unit tests has no Node. There, the macros of napi-rs register nothing, so every function
// of the binding would be dead code.
#[cfg(not(test))]
mod analysis;
#[cfg(not(test))]
mod beneath;
#[cfg(not(test))]
mod capture;
#[cfg(not(test))]
mod contents;
#[cfg(not(test))]
mod debug_info;
#[cfg(not(test))]
mod error;
#[cfg(not(test))]
mod export;
#[cfg(not(test))]
mod heap;
#[cfg(not(test))]
mod inputs;
#[cfg(not(test))]
mod options;
#[cfg(not(test))]
mod profile;
#[cfg(not(test))]
mod sites;
#[cfg(not(test))]
mod tasks;
#[cfg(not(test))]
mod views;

mod guard;
mod threads;
mod work_queue;

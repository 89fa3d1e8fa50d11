//! The Node binding: conversions and tasks only, no analysis.
//!
//! The TypeScript in `js/` builds the public API on top. The functions exported here are only for it.
//!
//! No work runs on a thread of libuv, where it would delay file access, name lookups and cryptography of
//! the whole process. There are three kinds of threads, each bounded in number:
//!
//! - A few threads take asynchronous work from a queue in the order of its arrival and do its sequential
//!   parts ([`workers::work_queue`]). A few others read pipes, which can block without limit.
//! - One thread per core does the parallel pieces of all work ([`workers::threads`]).
//! - A synchronous call gets a separate thread, because the caller may have used up its stack.

mod analysis;
mod beneath;
mod calls;
mod capture;
mod contents;
mod debug_info;
mod error;
mod export;
mod files;
mod growth;
mod heap;
mod heap_handle;
mod input_bytes;
mod inputs;
mod open_heap;
mod options;
mod outcome;
mod outside;
mod place_table_handle;
mod profile;
mod tasks;
mod views;
mod work_control;

//! The threads on which the work of a host runs: how many there are, in what order they take work, and what
//! happens if work panics. It knows no host: the addon for Node uses it.
//!
//! - [`work_queue`]: asynchronous work, in the order of its arrival, on a few threads.
//! - [`threads`]: one thread per core for the parallel pieces of all work, and a separate thread for a synchronous call.
//! - [`guard`]: a panic becomes an error.

pub mod guard;
pub mod threads;
pub mod work_queue;

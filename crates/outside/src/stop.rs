//! Stops all threads of a process for a moment.
//!
//! `PTRACE_SEIZE` and `PTRACE_INTERRUPT` send no signal, and change nothing in the process. If this process ends
//! meanwhile, the system lets the threads go on. A system call that waits may end early with `EINTR`, as after a stop by
//! a shell.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use crate::process::Process;

/// How long threads may take to stop. One that waits for a disk cannot stop.
const TIME_TO_STOP: Duration = Duration::from_secs(2);
/// How often new threads are looked for.
const MOST_LOOKS: usize = 100;
/// What `waitpid` says of a thread that `PTRACE_INTERRUPT` stopped.
const EVENT_STOP: i32 = 128;

/// Threads that stand still until this is dropped. They are bound to the thread that stopped them.
pub struct Stopped {
    /// Each thread with the signal that it was about to get.
    threads: BTreeMap<i32, Option<i32>>,
    /// When the first one was stopped.
    pub start: Instant,
}

impl Stopped {
    /// Stops all threads of a process.
    pub fn all(process: &Process) -> io::Result<Self> {
        let mut stopped = Self {
            threads: BTreeMap::new(),
            start: Instant::now(),
        };
        // While they are stopped one by one, others may start new ones.
        for _ in 0..MOST_LOOKS {
            let all = process.threads()?;
            let new: Vec<i32> = all
                .into_iter()
                .filter(|thread| !stopped.threads.contains_key(thread))
                .collect();
            if new.is_empty() {
                return Ok(stopped);
            }
            for thread in new {
                stopped.interrupt(thread)?;
            }
            stopped.wait()?;
        }
        Err(io::Error::other(
            "it starts threads faster than they can be stopped",
        ))
    }

    fn interrupt(&mut self, thread: i32) -> io::Result<()> {
        match trace(libc::PTRACE_SEIZE, thread, 0) {
            // It has ended meanwhile.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Ok(()),
            other => other?,
        }
        self.threads.insert(thread, None);
        match trace(libc::PTRACE_INTERRUPT, thread, 0) {
            Err(error) if error.raw_os_error() != Some(libc::ESRCH) => Err(error),
            _ => Ok(()),
        }
    }

    /// Waits until all threads stand still.
    fn wait(&mut self) -> io::Result<()> {
        let waiting: Vec<i32> = self
            .threads
            .iter()
            .filter(|(_, signal)| signal.is_none())
            .map(|(&thread, _)| thread)
            .collect();
        for thread in waiting {
            match self.wait_for(thread)? {
                Some(signal) => _ = self.threads.insert(thread, Some(signal)),
                None => _ = self.threads.remove(&thread),
            }
        }
        Ok(())
    }

    /// The signal that a thread was about to get, 0 for none; `None` if it has ended.
    fn wait_for(&self, thread: i32) -> io::Result<Option<i32>> {
        loop {
            let mut status = 0;
            // SAFETY: the status is a number of this function.
            let found =
                unsafe { libc::waitpid(thread, &raw mut status, libc::__WALL | libc::WNOHANG) };
            match found {
                -1 => {
                    let error = io::Error::last_os_error();
                    match error.raw_os_error() {
                        Some(libc::ECHILD) => return Ok(None),
                        Some(libc::EINTR) => {}
                        _ => return Err(error),
                    }
                }
                0 if self.start.elapsed() > TIME_TO_STOP => {
                    return Err(io::Error::other(format!(
                        "its thread {thread} did not stop within {} s",
                        TIME_TO_STOP.as_secs()
                    )));
                }
                0 => std::thread::sleep(Duration::from_micros(50)),
                _ if !libc::WIFSTOPPED(status) => return Ok(None),
                _ if status >> 16 == EVENT_STOP => return Ok(Some(0)),
                // It was about to get a signal, which it gets when it goes on.
                _ => return Ok(Some(libc::WSTOPSIG(status))),
            }
        }
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        for (&thread, signal) in &self.threads {
            // If it has ended, there is nothing to do.
            _ = trace(libc::PTRACE_DETACH, thread, signal.unwrap_or(0));
        }
    }
}

/// What `ptrace` calls a request: the libraries of C differ.
#[cfg(not(target_env = "musl"))]
type Request = libc::c_uint;
#[cfg(target_env = "musl")]
type Request = libc::c_int;

/// One request without an address.
fn trace(request: Request, thread: i32, data: i32) -> io::Result<()> {
    // SAFETY: these requests read and write no memory of this process.
    let result = unsafe {
        libc::ptrace(
            request,
            thread,
            std::ptr::null_mut::<libc::c_void>(),
            data as libc::c_long,
        )
    };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

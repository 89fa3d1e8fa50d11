//! The threads for pieces of parallel work.

use std::io;
use std::num::NonZero;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};

use rayon::{ThreadBuilder, ThreadPoolBuilder};

use super::guard::internal_error;
use base::columns;
use base::error::{Error, Result};

/// The number of processor cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Starts the threads, once. There is one for each core, or as many as the variable
/// `RAYON_NUM_THREADS` says, up to `most_threads`; fewer if the system starts no more.
///
/// Only pieces of work run there, never whole analyses. A rayon thread that waits for other pieces of
/// its analysis takes any other job meanwhile. If that job were a whole analysis, the first analysis
/// would have to wait for its end.
///
/// # Errors
/// [`Error::Threads`] if there is none at all, [`Error::OutOfMemory`]. Another call tries again.
pub fn start() -> Result<()> {
    static ARE_STARTED: Mutex<bool> = Mutex::new(false);
    let mut are_started = ARE_STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !*are_started {
        columns::check_headroom()?;
        let wanted = std::env::var("RAYON_NUM_THREADS")
            .ok()
            .and_then(|number| number.parse().ok());
        start_up_to(
            wanted
                .filter(|&number| number > 0)
                .unwrap_or_else(cores)
                .min(most_threads()),
        )?;
        *are_started = true;
    }
    Ok(())
}

/// The memory that must stay free for the work when a further thread is started.
const ROOM_FOR_WORK: u64 = 64 << 20;

/// More threads than cores make nothing faster, and thousands of them leave none for the rest of the
/// process. A machine with few cores still allows a few, for tests of other numbers of threads.
fn most_threads() -> usize {
    cores().max(16)
}

/// Starts the threads before rayon builds its pool. Rayon builds its global pool once and never again,
/// even if the first attempt fails for lack of threads.
fn start_up_to(wanted: usize) -> Result<()> {
    let mut threads: Vec<Sender<ThreadBuilder>> = Vec::new();
    for nth in 0..wanted {
        // If all free memory were used for threads, nothing would be left for the rest of the process.
        if nth > 0 && columns::check_room(ROOM_FOR_WORK, "more threads").is_err() {
            break;
        }
        let (sender, receiver) = channel::<ThreadBuilder>();
        let thread = std::thread::Builder::new().name(format!("heap-analyzer-{nth}"));
        let started = thread.spawn(move || {
            if let Ok(rayon_thread) = receiver.recv() {
                rayon_thread.run();
            }
        });
        match started {
            Ok(_) => threads.push(sender),
            Err(source) if nth == 0 => return Err(Error::Threads { source }),
            Err(_) => break,
        }
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads.len())
        .spawn_handler(|thread| {
            let sent = threads[thread.index()].send(thread);
            sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
        });
    // All threads exist, so this fails only if there is a pool already. Then that one is used.
    let _ = pool.build_global();
    Ok(())
}

/// Does work on another thread while the caller waits, because the caller may have used up its stack. A panic
/// becomes an error.
///
/// # Errors
/// [`Error::Threads`], [`Error::OutOfMemory`], and those of the work.
pub fn run_on_own_thread<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    start()?;
    columns::check_headroom()?;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("heap-analyzer".to_owned())
            .spawn_scoped(scope, work)
            .map_err(|source| Error::Threads { source })?;
        thread
            .join()
            .unwrap_or_else(|panic| Err(internal_error(&*panic)))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    #[test]
    fn a_panic_on_another_thread_is_an_internal_error() {
        let error =
            run_on_own_thread(|| -> Result<()> { panic!("run_on_own_thread") }).unwrap_err();
        assert_eq!(error.code(), "ERR_INTERNAL");
        assert!(error.to_string().contains("run_on_own_thread"), "{error}");
    }

    #[test]
    fn work_may_borrow_from_its_caller_and_return_a_value() {
        let bytes = [1u8, 2, 3];
        assert_eq!(run_on_own_thread(|| Ok(bytes.len())).unwrap(), 3);
    }
}

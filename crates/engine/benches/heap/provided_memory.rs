//! Runs a program while there is free memory that the host of a virtual machine has already provided.
//!
//! A virtual machine gives memory that was free for about half a second back to its host, and gets it again at a
//! twentieth of the usual speed. Without this, the time of a program would depend on what ran before it. So this
//! process holds memory that it has touched, and releases as much of it as the program takes.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::Failure;
use crate::yardsticks::touch_fresh_memory;

/// Bytes that are released at a time.
const PIECE: u64 = 8 << 20;
/// Bytes that are released before the program starts, and are then kept free. What is free for long goes back to
/// the host.
const AHEAD: u64 = 64 << 20;
/// Between two looks at how much memory is free.
const PAUSE: Duration = Duration::from_millis(1);

/// Holds this many bytes, runs the program, prints its seconds as the last line of stderr, and exits as it does.
pub fn run(bytes: u64, program: &str, arguments: &[String]) -> Result<(), Failure> {
    let bytes = free_memory().map_or(0, |free| bytes.min(free / 2));
    let mut held: Vec<_> = (0..bytes / PIECE)
        .map(|_| touch_fresh_memory(PIECE as usize))
        .collect();
    let level = free_memory().unwrap_or_default() + AHEAD.min(bytes);
    let mut release = || {
        let missing = level.saturating_sub(free_memory().unwrap_or(level));
        held.truncate(held.len().saturating_sub((missing / PIECE) as usize));
    };
    release();
    let ended = AtomicBool::new(false);
    let (status, seconds) = thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                release();
                thread::sleep(PAUSE);
            }
        });
        let begin = Instant::now();
        let status = Command::new(program).args(arguments).status();
        ended.store(true, Ordering::Relaxed);
        (status, begin.elapsed().as_secs_f64())
    });
    eprintln!("\n{seconds}");
    std::process::exit(status?.code().unwrap_or(1));
}

/// Bytes of memory that nothing uses; nothing where the system does not say.
fn free_memory() -> Option<u64> {
    let file = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = file
        .lines()
        .find_map(|line| line.strip_prefix("MemFree:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}

//! Holds what a target does against what its input may cost. The numbers are those of SECURITY.md.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use cpu_time::ProcessTime;

/// The system's allocator, which counts what is in use.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Beyond this there is no memory: a find, and the machine lives on.
const ALL_MEMORY: usize = 2 << 30;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is passed on to the system's allocator as it is, or refused as `alloc` may.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let in_use = IN_USE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(in_use, Relaxed);
        if in_use > ALL_MEMORY {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// What inputs of some kind may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of memory per byte of input.
    pub bytes_per_byte: usize,
    /// Bytes of memory whatever the input is.
    pub more_bytes: usize,
}

/// A dump: object table, references, dominators.
pub const DUMP: Limits = Limits {
    bytes_per_byte: 16,
    more_bytes: 64 << 20,
};

/// A module: every byte may be a name, a function, an entry of the debug information.
pub const MODULE: Limits = Limits {
    bytes_per_byte: 512,
    more_bytes: 192 << 20,
};

/// CPU seconds for any input of a fuzzer: they have at most some 100 KB. The time itself is linear, but
/// the constants are those of an instrumented build on a busy machine.
const SECONDS: Duration = Duration::from_secs(20);

/// Runs something on inputs of so many bytes and panics if it costs more than it may.
pub fn within<T>(limits: Limits, input: usize, run: impl FnOnce() -> T) -> T {
    // The counts are of the whole process: one at a time.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock();
    let before = IN_USE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let start = ProcessTime::now();
    let result = run();
    let time = start.elapsed();
    let peak = PEAK.load(Relaxed).saturating_sub(before);
    let allowed = limits.bytes_per_byte * input + limits.more_bytes;
    assert!(
        peak <= allowed,
        "{peak} bytes of memory for {input} bytes of input, more than {allowed}"
    );
    assert!(
        time <= SECONDS,
        "{time:?} of CPU time for {input} bytes of input"
    );
    result
}

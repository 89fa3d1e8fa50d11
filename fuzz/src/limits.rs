//! Compares the memory and the time of a target with the limits for its input. The numbers are those of
//! SECURITY.md.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use cpu_time::ProcessTime;

/// The system's allocator, which counts what is in use.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Larger allocations fail, which counts as a finding and protects the machine.
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

/// The limits for inputs of a kind: an amount per byte, and a constant amount.
///
/// CPU time depends little on other processes of the machine. The limits are several times what the worst
/// inputs need in an instrumented build.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    memory_per_byte: usize,
    more_memory: usize,
    time_per_byte: Duration,
    more_time: Duration,
}

impl Limits {
    /// The same with another amount of memory for each byte.
    pub const fn with_memory_per_byte(self, memory_per_byte: usize) -> Self {
        Self {
            memory_per_byte,
            ..self
        }
    }

    /// The same with another constant amount of memory.
    pub const fn with_more_memory(self, more_memory: usize) -> Self {
        Self {
            more_memory,
            ..self
        }
    }
}

/// A dump: object table, references, dominators.
pub const DUMP: Limits = Limits {
    memory_per_byte: 16,
    more_memory: 64 << 20,
    time_per_byte: Duration::from_micros(2),
    more_time: Duration::from_secs(1),
};

/// A dump that is opened for questions, and all of these: indexes, and answers that list everything.
pub const QUESTIONS: Limits = Limits {
    memory_per_byte: 32,
    more_memory: 128 << 20,
    time_per_byte: Duration::from_micros(8),
    more_time: Duration::from_secs(4),
};

/// An expression over a dozen objects, and what else it must be equal to.
pub const EXPRESSION: Limits = Limits {
    memory_per_byte: 4096,
    more_memory: 64 << 20,
    time_per_byte: Duration::from_micros(100),
    more_time: Duration::from_secs(1),
};

/// A heap snapshot of V8 that is opened for questions, and all of these. A node takes two bytes at least.
pub const SNAPSHOT: Limits = Limits {
    memory_per_byte: 64,
    ..QUESTIONS
};

/// A module's sections and its debug information: every byte may be a name, a function, an entry.
pub const SECTIONS: Limits = Limits {
    memory_per_byte: 512,
    more_memory: 192 << 20,
    time_per_byte: Duration::from_micros(20),
    more_time: Duration::from_secs(10),
};

/// A module with code: some instructions of its collector may be read however short it is.
pub const MODULE: Limits = Limits {
    more_time: Duration::from_secs(20),
    ..SECTIONS
};

/// Runs something on inputs, each with its kind and its size, and panics if it exceeds the limits.
pub fn within<T>(inputs: &[(Limits, usize)], run: impl FnOnce() -> T) -> T {
    // The counts are of the whole process: one at a time.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock();
    let before = IN_USE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let start = ProcessTime::now();
    let result = run();
    let time = start.elapsed();
    let peak = PEAK.load(Relaxed).saturating_sub(before);
    let sizes: Vec<usize> = inputs.iter().map(|&(_, bytes)| bytes).collect();
    let memory: usize = inputs
        .iter()
        .map(|(limits, bytes)| limits.memory_per_byte * bytes + limits.more_memory)
        .sum();
    assert!(
        peak <= memory,
        "{peak} bytes of memory for inputs of {sizes:?} bytes, more than {memory}"
    );
    let allowed: Duration = inputs
        .iter()
        .map(|&(limits, bytes)| limits.time_per_byte * bytes as u32 + limits.more_time)
        .sum();
    assert!(
        time <= allowed,
        "{time:?} of CPU time for inputs of {sizes:?} bytes, more than {allowed:?}"
    );
    result
}

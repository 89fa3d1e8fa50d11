//! Yardsticks, the limits of the machine for any program: reading a dump once from start to end, following
//! one pointer per object where each gives the next, and allocating as much fresh memory as the dump has and
//! releasing it.

use std::hint::black_box;
use std::time::Instant;

use memmap2::MmapMut;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::Failure;
use crate::analysis::map;
use crate::support::forge::random::Random;

/// Of several repetitions the fastest counts: the first brings the file into memory.
const REPETITIONS: usize = 5;
const PAGE: usize = 4096;
/// Bytes that one thread reads at a time.
const CHUNK: usize = 1 << 22;

pub fn measure(dump: &str, objects: u32) -> Result<Value, Failure> {
    let dump = map(dump)?;
    Ok(json!({
        "dumpBytes": dump.len(),
        "objects": objects,
        "threads": rayon::current_num_threads(),
        "readSeconds": fastest(|| sum(&dump)),
        "parallelReadSeconds": fastest(|| dump.par_chunks(CHUNK).map(sum).reduce(|| 0, u64::wrapping_add)),
        "chaseSeconds": chase(objects),
        "freshSeconds": fastest(|| touch_fresh_memory(dump.len())),
    }))
}

fn fastest<T>(work: impl Fn() -> T) -> f64 {
    let seconds = (0..REPETITIONS).map(|_| {
        let begin = Instant::now();
        black_box(work());
        begin.elapsed().as_secs_f64()
    });
    seconds.fold(f64::INFINITY, f64::min)
}

fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.as_chunks::<8>().0.iter();
    words.fold(0, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)))
}

/// Makes the system clear pages. Every column of a table has this cost.
pub fn touch_fresh_memory(size: usize) -> MmapMut {
    let mut memory = MmapMut::map_anon(size).unwrap();
    #[cfg(target_os = "linux")]
    memory.advise(memmap2::Advice::HugePage).unwrap();
    memory.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
    memory
}

/// Follows a cycle through as many numbers as there are objects.
fn chase(objects: u32) -> f64 {
    let next = cycle(objects);
    let begin = Instant::now();
    let mut at = 0;
    for _ in 0..objects {
        at = next[at as usize];
    }
    black_box(at);
    begin.elapsed().as_secs_f64()
}

/// One random cycle through all numbers below a count (Sattolo).
fn cycle(count: u32) -> Vec<u32> {
    let mut random = Random::new(1);
    let mut next: Vec<u32> = (0..count).collect();
    for at in (1..count).rev() {
        next.swap(at as usize, random.below(at) as usize);
    }
    next
}

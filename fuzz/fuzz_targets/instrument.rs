#![no_main]

use warpo_heap_analyzer_fuzz::module_edits::{self, Focus};

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    module_edits::mutate(data, size, max_size, seed, Focus::Anything)
});
libfuzzer_sys::fuzz_target!(|input: &[u8]| warpo_heap_analyzer_fuzz::targets::instrument(input));

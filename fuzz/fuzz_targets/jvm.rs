#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| warpo_heap_analyzer_fuzz::targets::jvm(input));

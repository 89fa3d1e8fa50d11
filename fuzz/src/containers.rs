//! The targets for files that contain memory in another form than a heap dump.

use engine::dumps::{Compression, ContainerError, Coredump, Dump, Header, dump_of_raw_memory};
use engine::{Address, Control};

use crate::limits::{DUMP, Limits, within};

/// The most memory that the targets take out of a file.
const LARGEST: u64 = 1 << 20;

/// A coredump: a value of a frame takes one byte in the file, and 16 in memory.
const COREDUMP: Limits = DUMP.with_memory_per_byte(64);

/// The input is a coredump. Each of its instances becomes a dump that can be read, or an error. The same input as raw memory
/// stays as it is.
pub fn coredump(input: &[u8]) {
    let header = Header {
        data_end: Address(0),
        heap_base: Address(0),
        stack_pointer: Address(0),
        globals: vec![1, 2],
    };
    within(&[(COREDUMP, input.len())], || {
        let control = Control::default();
        let coredump = match Coredump::parse(input, &control) {
            Ok(coredump) => coredump,
            Err(error) => {
                let Some(ContainerError::Coredump { offset, .. }) = error.own() else {
                    panic!("{error}");
                };
                assert!(*offset <= input.len() as u64, "{error}");
                return;
            }
        };
        for instance in coredump.instances.iter().take(4) {
            let globals = coredump.globals_of(instance);
            assert!(globals.is_none_or(|globals| globals.len() <= input.len()));
            if let Ok(dump) = coredump.dump_of(instance, &header, LARGEST, &control) {
                let read = Dump::parse(&dump).unwrap();
                assert!(read.memory.size() <= LARGEST && read.memory.size().is_multiple_of(65536));
                assert_eq!(read.globals.iter().collect::<Vec<_>>(), [1, 2]);
            }
        }
        if let Ok(dump) = dump_of_raw_memory(input, &header) {
            assert_eq!(Dump::parse(&dump).unwrap().memory.as_bytes(), input);
        }
    });
}

/// The input is a compressed file. What comes out is bounded, and the same twice.
pub fn compressed(input: &[u8]) {
    let Some(format) = Compression::of(input) else {
        return;
    };
    // A zstd file may take its window.
    let limits = DUMP.with_memory_per_byte(2048).with_more_memory(400 << 20);
    within(&[(limits, input.len())], || {
        let decompress = || format.decompress(input, LARGEST, &Control::default());
        match (decompress(), decompress()) {
            (Ok(one), Ok(other)) => assert!(one == other && one.len() as u64 <= LARGEST),
            (Err(error), Err(_)) => assert!(error.own::<ContainerError>().is_some(), "{error}"),
            _ => panic!("the second time, the result differs"),
        }
    });
}

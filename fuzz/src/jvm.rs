//! Heap dumps of a JVM.

use engine::heap::{DumpBytes, InMemory};
use engine::outputs::formats::TableOptions;
use engine::questions::LoadedHeap;
use engine::{Control, Input, Reading, Result, Tolerance};

use crate::invariants;
use crate::limits::{SNAPSHOT, within};
use crate::questions::{ask_all, export_all, grow};

/// The input is a heap dump of a JVM. It is read as it is, and as far as it is complete. The number of threads must not
/// change an answer.
pub fn jvm(input: &[u8]) {
    for damage in [false, true] {
        let reading = Reading::from(Tolerance {
            damage,
            ..Tolerance::default()
        });
        let ask = || match open_jvm(input, &reading) {
            Ok(heap) => {
                export_all(&heap);
                ask_all(&heap, &[1, 3], TableOptions::default()) + &grow(&heap, 0, b'0')
            }
            Err(error) => {
                assert!(error.code().starts_with("ERR_HPROF"), "{error}");
                error.to_string()
            }
        };
        if !input.starts_with(b"JAVA PROFILE 1.0.") {
            return;
        }
        within(&[(SNAPSHOT, input.len())], ask);
        invariants::with_any_threads(ask);
    }
}

fn open_jvm(input: &[u8], reading: &Reading) -> Result<LoadedHeap> {
    let file = Input {
        name: "app.hprof",
        bytes: input.to_vec(),
    };
    let keep = |bytes: Vec<u8>| {
        let kept: Box<dyn DumpBytes> = Box::new(InMemory(bytes.clone()));
        Ok((bytes, kept))
    };
    let no_module: Option<&Input<'_>> = None;
    engine::open(file, no_module, reading, false, keep, &Control::default())
}

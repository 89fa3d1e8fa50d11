//! Heap dumps of a JVM (HPROF 1.0.1 and 1.0.2): from the file to a heap.
//!
//! | file | what it does |
//! |---|---|
//! | `outline`, `heap_records`, `scan` | find the records: names, classes, threads, and in parallel all objects and roots |
//! | `classes`, `table`, `id_index` | which object is of which class, and which object has an id |
//! | `field_layout`, `sizes` | how large objects are: a dump does not say it |
//! | `edges`, `roots`, `unlisted_roots`, `graph`, `graph_reader` | references, roots, and the heap that they make |
//! | `jvm_heap`, `facts`, `source`, `reader`, `fields`, `contents`, `values`, `container_layout`, `containers`, `survey` | what questions ask |
//!
//! A file is read where it lies. Beside it, an object takes 16 bytes while the file is read, and 5 afterwards for questions:
//! where its record is.

mod bytes;
mod class_parts;
mod classes;
mod container_layout;
mod containers;
mod contents;
mod edges;
mod error;
mod facts;
mod field_layout;
mod fields;
mod graph;
mod graph_reader;
mod heap_records;
mod id_index;
mod jvm_heap;
mod model;
mod object_table;
mod outline;
mod reader;
mod roots;
mod scan;
mod sizes;
mod source;
mod survey;
mod table;
mod unlisted_roots;
mod values;
mod warnings;

pub use error::HprofError;
pub use outline::begins;
pub use warnings::objects_move;

use std::sync::Arc;

use base::control::Control;
use base::error::Result;
use base::input::{Input, ReadBytes};
use base::tolerance::Tolerance;
use heap::{DumpBytes, Heap, Opened};

use class_parts::FileInput;
use graph::{Solved, solve};
use jvm_heap::JvmSource;

/// Analyzes a dump. The bytes are dropped as soon as they are read.
///
/// # Errors
/// [`Error::InFile`](base::Error::InFile) around [`HprofError`]; [`Error::OutOfMemory`](base::Error::OutOfMemory) and
/// [`Error::Aborted`](base::Error::Aborted) without it.
pub fn analyze(
    dump: Input<'_, impl ReadBytes>,
    tolerance: Tolerance,
    control: &Control,
) -> Result<Heap> {
    Ok(read(&dump, tolerance, false, control)?.heap)
}

/// Opens a dump for questions, which read `contents` again.
///
/// # Errors
/// As [`analyze`].
pub fn open(
    dump: Input<'_, impl ReadBytes>,
    contents: Box<dyn DumpBytes>,
    tolerance: Tolerance,
    control: &Control,
) -> Result<Opened> {
    let solved = read(&dump, tolerance, true, control)?;
    drop(dump);
    let heap = Arc::new(solved.heap);
    let source = JvmSource::new(Arc::clone(&heap), solved.model, contents);
    Ok(Opened {
        heap,
        roots: solved.roots,
        source: Box::new(source),
        indexes: None,
    })
}

fn read(
    dump: &Input<'_, impl ReadBytes>,
    tolerance: Tolerance,
    for_questions: bool,
    control: &Control,
) -> Result<Solved> {
    let bytes = dump.bytes.as_ref();
    let part = control.part(bytes.len() as u64);
    let release = |range| dump.bytes.release(range);
    let input = FileInput {
        bytes,
        release: &release,
        is_partial: tolerance.damage,
        for_questions,
    };
    solve(input, &part).map_err(|error| error.in_file(dump.name))
}

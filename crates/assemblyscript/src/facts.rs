//! What is the same for all objects of an AssemblyScript program.

use heap::{ClassFacts, ClassPattern, ClassUse, Facts};
use runtime_code::std_library;

/// How many references of an object, from its last on, may lead to its own storage: those of a closure, of an array
/// or a view, or the buckets and entries of a map.
const STORAGE_REFERENCES: usize = 3;
/// Strings, and the buffers to which they are encoded, with the bytes of a character.
const TEXT_CLASSES: [(&str, u64); 2] = [
    (std_library::STRING_NAME, 2),
    (std_library::ARRAY_BUFFER_NAME, 1),
];

/// What is the same for all objects of a dump of this program.
pub(super) fn facts(program: u64) -> Facts {
    use ClassPattern::{Begins, Is};
    let uses = [
        (Is(std_library::STRING_NAME), ClassUse::Contents),
        (Is(std_library::ARRAY_BUFFER_NAME), ClassUse::Contents),
        (Begins("~lib/staticarray/"), ClassUse::Contents),
        (Begins("~lib/typedarray/"), ClassUse::Contents),
        (Begins("~lib/dataview/"), ClassUse::Contents),
        (Begins("~lib/"), ClassUse::Container),
    ];
    Facts {
        program,
        has_module: true,
        storage_references: STORAGE_REFERENCES,
        classes: ClassFacts {
            texts: &TEXT_CLASSES,
            uses: uses.into(),
            ..ClassFacts::default()
        },
        ..Facts::default()
    }
}

//! What questions must know of a heap of a JVM.

use heap::{ClassFacts, ClassPattern, ClassUse, Facts, Lacks};

/// In place of the hash of a module: dumps of JVMs have none. Ids of two dumps cannot be compared, because the collector
/// moves objects.
const PROGRAM: u64 = 0x4a56_4d00;
/// How many references of an object, from its last on, may lead to its own storage.
const STORAGE_REFERENCES: usize = 64;
const PLAIN_CLASSES: [&str; 4] = [
    "java.lang.Object",
    "java.lang.Object[]",
    "java.lang.String",
    "byte[]",
];
const CONTENT_CLASSES: [&str; 10] = [
    "java.lang.String",
    "boolean[]",
    "char[]",
    "float[]",
    "double[]",
    "byte[]",
    "short[]",
    "int[]",
    "long[]",
    "java.lang.Object[]",
];

/// What questions must know.
pub(crate) fn facts() -> Facts {
    let contents = CONTENT_CLASSES.map(|name| (ClassPattern::Is(name), ClassUse::Contents));
    let containers = [(ClassPattern::Begins("java.util."), ClassUse::Container)];
    Facts {
        program: PROGRAM,
        has_module: false,
        keeps_numbers: false,
        is_numbered_anew: false,
        storage_references: STORAGE_REFERENCES,
        format: None,
        classes: ClassFacts {
            plain: &PLAIN_CLASSES,
            uses: contents.into_iter().chain(containers).collect(),
            ..ClassFacts::default()
        },
        lacks: Lacks {
            code: "ERR_NOT_IN_HPROF",
            heap: "a heap dump of a JVM",
            garbage: None,
            contents: None,
            blocks: Some(
                "the profile is of a WebAssembly program, and the dump is of the heap of a JVM",
            ),
        },
    }
}

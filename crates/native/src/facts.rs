//! What is the same for all blocks of a program.

use heap::{Facts, Lacks};

/// What is the same for all objects of a dump of this program. Without debug information, nothing says what blocks are.
/// It has no garbage: what nothing refers to has a root of its own.
pub(crate) fn facts(program: u64, has_types: bool) -> Facts {
    let without_types =
        "the module has no debug information, which says what blocks are strings or containers";
    Facts {
        program,
        has_module: true,
        storage_references: 1,
        lacks: Lacks {
            code: "ERR_NOT_IN_NATIVE_HEAP",
            heap: "a heap of a native program",
            contents: (!has_types).then_some(without_types),
            ..Lacks::default()
        },
        ..Facts::default()
    }
}

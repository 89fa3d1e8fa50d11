//! Real programs and their dumps, which `npm run fuzz -- --programs` creates.

use std::sync::LazyLock;

use crate::support::DumpFile;

/// A module and two dumps of one run of it.
pub struct Program {
    /// The module, with names and debug information.
    pub module: &'static [u8],
    /// The first dump of the run.
    pub before: DumpFile,
    /// The last.
    pub after: DumpFile,
}

macro_rules! programs {
    ($($name:literal)*) => {
        vec![$(Program {
            module: include_bytes!(concat!("../programs/", $name, "/program.wasm")),
            before: unpack(include_bytes!(concat!("../programs/", $name, "/before"))),
            after: unpack(include_bytes!(concat!("../programs/", $name, "/after"))),
        }),*]
    };
}

/// All programs. Recipes refer to them by position, so a new one is added at the end.
pub static ALL: LazyLock<Vec<Program>> = LazyLock::new(|| {
    programs![
        "arrays" "sets" "interfaces_generics" "subclasses" "functions" "environments"
        "imported_globals" "foreign_region" "empty_heap" "shop" "server"
    ]
});

/// Rows of words: the number of zero words, the number of words that follow, and these words.
fn unpack(rows: &[u8]) -> DumpFile {
    let mut words = rows.chunks_exact(4);
    let mut bytes = Vec::new();
    let number = |word: &[u8]| u32::from_le_bytes(word.try_into().unwrap()) as usize;
    while let (Some(zeros), Some(count)) = (words.next(), words.next()) {
        bytes.resize(bytes.len() + 4 * number(zeros), 0);
        words
            .by_ref()
            .take(number(count))
            .for_each(|word| bytes.extend(word));
    }
    DumpFile { bytes }
}

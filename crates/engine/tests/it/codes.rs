//! The codes that programs see are the same in Rust and in TypeScript.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// All string literals of a text, quotes left out.
fn literals(text: &str) -> BTreeSet<String> {
    text.split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// The part of a file of this package between `start` and `end`.
fn part(file: &str, start: &str, end: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(file);
    let text = fs::read_to_string(path).unwrap();
    let (_, rest) = text.split_once(start).unwrap();
    let (part, _) = rest.split_once(end).unwrap();
    part.to_owned()
}

/// The codes that the function `code` of a Rust file can return.
fn codes_in(file: &str) -> BTreeSet<String> {
    literals(&part(
        file,
        "pub fn code(&self) -> &'static str {",
        "\n    }",
    ))
}

fn union(name: &str) -> BTreeSet<String> {
    literals(&part("index.d.ts", &format!("export type {name} ="), ";"))
}

#[test]
fn the_error_codes_of_the_engine_are_those_of_the_public_type() {
    let mut codes = codes_in("crates/base/src/error.rs");
    codes.extend(codes_in("crates/base/src/container_error.rs"));
    // The codes of the JavaScript layer: of arguments, capture, attach, closed handles, leak tests, and loading the addon.
    codes.extend(
        [
            "ERR_INVALID_ARG_TYPE",
            "ERR_INVALID_ARG_VALUE",
            "ERR_NO_BINARY",
            "ERR_GLOBALS_NOT_EXPOSED",
            "ERR_MEMORY_MISSING",
            "ERR_DUMP_NOT_ATTACHED",
            "ERR_DUMP_PATH",
            "ERR_DUMP_WRITE",
            "ERR_DUMP_SIGNAL",
            "ERR_ATTACH_TARGET",
            "ERR_ATTACH_ANSWER",
            "ERR_ATTACH_TIMEOUT",
            "ERR_INSTANCE_AMBIGUOUS",
            "ERR_NO_DOCUMENT",
            "ERR_WEBASSEMBLY_FROZEN",
            "ERR_BUFFER_DETACHED",
            "ERR_BUFFER_OUT_OF_BOUNDS",
            "ERR_HEAP_CLOSED",
            "ERR_VIEW_CLOSED",
            "ERR_INCONCLUSIVE",
            "ERR_LEAK",
            "ERR_TIME_LIMIT",
        ]
        .map(str::to_owned),
    );
    assert_eq!(codes, union("ErrorCode"));
}

#[test]
fn the_warning_codes_of_the_engine_are_those_of_the_public_type() {
    let mut codes = codes_in("crates/base/src/warning.rs");
    codes.extend(codes_in("crates/base/src/raw_memory_warning.rs"));
    assert_eq!(codes, union("WarningCode"));
}

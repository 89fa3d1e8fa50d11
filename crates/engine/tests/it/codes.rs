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

/// A text file of this package.
fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(file);
    fs::read_to_string(path).unwrap()
}

/// The part of a text between `start` and `end`.
fn part<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let (_, rest) = text.split_once(start).unwrap();
    rest.split_once(end).unwrap().0
}

/// The codes that the first function `code` of a Rust file can return.
fn codes_in(file: &str) -> BTreeSet<String> {
    let text = read(file);
    let code = part(&text, "fn code(&self) -> &'static str {", "\n    }");
    literals(code)
}

/// The literals of lines that begin so, in files of these names of any crate.
fn literals_of_sources(files: &[&str], begin: &str) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let crates = fs::read_dir(root.join("crates")).unwrap();
    let sources = crates.flat_map(|entry| {
        let folder = entry.unwrap().path().join("src");
        files.iter().map(move |file| folder.join(file))
    });
    let texts = sources.filter_map(|file| fs::read_to_string(file).ok());
    let codes = texts.flat_map(|text| {
        let lines = text.lines().map(str::trim);
        let codes = lines.filter(|line| line.starts_with(begin));
        codes.flat_map(literals).collect::<Vec<_>>()
    });
    codes.collect()
}

/// The codes of what kinds of heaps lack: each source says its own.
fn codes_of_sources() -> BTreeSet<String> {
    literals_of_sources(&["source.rs", "facts.rs"], "code: \"ERR_")
}

/// The codes of warnings that only one kind of heap has.
fn warnings_of_sources() -> BTreeSet<String> {
    literals_of_sources(&["warnings.rs"], "\"WARN_")
}

/// The files in which a crate says its codes: those that implement the trait `Coded`, and the error of all crates.
fn files_with_codes() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let crates = fs::read_dir(root.join("crates")).unwrap();
    let mut folders = vec!["src".to_owned()];
    folders.extend(crates.map(|entry| {
        let name = entry.unwrap().file_name();
        format!("crates/{}/src", name.to_str().unwrap())
    }));
    let mut files = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(root.join(&folder)).unwrap() {
            let file = format!("{folder}/{}", entry.unwrap().file_name().to_str().unwrap());
            if file.ends_with(".rs") && read(&file).contains("\nimpl Coded for ") {
                files.push(file);
            }
        }
    }
    files.push("crates/base/src/error.rs".to_owned());
    files
}

fn union(name: &str) -> BTreeSet<String> {
    literals(part(
        &read("codes.d.ts"),
        &format!("export type {name} ="),
        ";\n",
    ))
}

#[test]
fn the_error_codes_of_the_engine_are_those_of_the_public_type() {
    let files = files_with_codes();
    assert!(files.len() > 8, "{files:?}");
    let mut codes: BTreeSet<String> = files.iter().flat_map(|file| codes_in(file)).collect();
    let of_sources = codes_of_sources();
    assert!(of_sources.len() >= 3, "{of_sources:?}");
    codes.extend(of_sources);
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
            "ERR_INSPECTOR",
            "ERR_INSPECTOR_CLOSED",
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
    let mut codes = codes_in("crates/engine/src/raw_memory_warning.rs");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        let folder = entry.unwrap().file_name();
        let file = format!("crates/{}/src/warning.rs", folder.to_str().unwrap());
        if root.join(&file).exists() {
            codes.extend(codes_in(&file));
        }
    }
    let of_sources = warnings_of_sources();
    assert!(of_sources.len() >= 3, "{of_sources:?}");
    codes.extend(of_sources);
    assert_eq!(codes, union("WarningCode"));
}

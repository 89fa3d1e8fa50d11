//! In JavaScript, one file knows kinds of heaps: a dump of AssemblyScript, a heap snapshot of V8. In Rust, the crates that
//! must not know them do not depend on those that do.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below a folder with one of these extensions.
pub(crate) fn files(folder: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() && !path.ends_with("node_modules") {
            files(&path, extensions, found);
        } else if extension.is_some_and(|extension| extensions.contains(&extension)) {
            found.push(path);
        }
    }
}

/// In JavaScript, one function recognises a file.
const RECOGNISER_IN_JAVASCRIPT: &str = "js/served/file_start.ts";

/// What code of JavaScript asks for a kind: a name, the first bytes of a file, a comparison of the extension; and texts of
/// addresses, whose form is one of a kind.
fn kinds_in_javascript(text: &str) -> Vec<&str> {
    let signs = [
        "isSnapshot",
        "isOfSnapshot",
        "isDump",
        "\"ASHD\"",
        "{\"sn",
        "=== \"snapshot\"",
        "=== \"dump\"",
        "endsWith(\".heapsnapshot\")",
        "`0x${",
        "`@${",
    ];
    let code = text
        .lines()
        .filter(|line| !line.trim_start().starts_with(['*', '/']));
    let code: Vec<&str> = code.collect();
    let is_in_code = |sign: &&str| code.iter().any(|line| line.contains(sign));
    signs.into_iter().filter(is_in_code).collect()
}

#[test]
fn in_javascript_one_file_knows_kinds_of_heaps() {
    let root = root();
    let mut found = Vec::new();
    for folder in [
        "js/report",
        "js/explorer",
        "js/served",
        "js/check",
        "js/heap_analyzer",
        "packages",
    ] {
        files(&root.join(folder), &["ts", "mts"], &mut found);
    }
    for entry in fs::read_dir(root.join("js")).unwrap() {
        let path = entry.unwrap().path();
        found.extend(
            path.extension()
                .is_some_and(|end| end == "ts")
                .then_some(path),
        );
    }
    assert!(found.len() > 60);
    let recogniser = root.join(RECOGNISER_IN_JAVASCRIPT);
    for file in found.iter().filter(|file| **file != recogniser) {
        let text = fs::read_to_string(file).unwrap();
        let kinds = kinds_in_javascript(&text);
        assert!(kinds.is_empty(), "{}: {kinds:?}", file.display());
    }
    assert!(!kinds_in_javascript(&fs::read_to_string(recogniser).unwrap()).is_empty());
}

//! Only sources and the recogniser know kinds of heaps: a dump of AssemblyScript, a heap snapshot of V8. What differs
//! between kinds is data of a heap, or a method of its source.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Ident, Item, LitStr, Macro};

use crate::circles::is_test;

/// The folders whose code asks no heap of which kind it is.
const WITHOUT_KINDS: [&str; 6] = [
    "crates/heap/src",
    "crates/questions/src",
    "crates/outputs/src",
    "crates/workers/src",
    "crates/engine/src",
    "src",
];

/// The recogniser and the three files that pass on to a source; and how much of an input is read at most.
const RECOGNISERS: [&str; 6] = [
    "crates/engine/src/joined_heap.rs",
    "crates/engine/src/lib.rs",
    "crates/engine/src/recognised.rs",
    "crates/engine/src/program.rs",
    "crates/engine/src/snapshot.rs",
    "src/files.rs",
];

/// Names of code that ask for a kind: of files, of forms of addresses, and of sources.
const KINDS: [&str; 8] = [
    "is_snapshot",
    "is_dump",
    "isSnapshot",
    "isDump",
    "FileKind",
    "assemblyscript",
    "AssemblyScript",
    "v8",
];

/// The extension of snapshots, and the first bytes of files.
const SIGNS: [&str; 2] = [".heapsnapshot", "ASHD"];

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

/// Collects what code asks for kinds, without its tests.
#[derive(Default)]
struct Finder(BTreeSet<String>);

impl<'ast> Visit<'ast> for Finder {
    fn visit_item(&mut self, item: &'ast Item) {
        let is_test = match item {
            Item::Mod(module) => is_test(&module.attrs),
            Item::Use(import) => is_test(&import.attrs),
            _ => false,
        };
        if !is_test {
            visit::visit_item(self, item);
        }
    }

    fn visit_ident(&mut self, ident: &'ast Ident) {
        let name = ident.to_string();
        if KINDS.contains(&name.as_str()) {
            self.0.insert(name);
        }
    }

    /// Documentation may name kinds.
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_lit_str(&mut self, literal: &'ast LitStr) {
        let text = literal.value();
        if SIGNS.contains(&text.as_str()) {
            self.0.insert(text);
        }
    }

    fn visit_macro(&mut self, code: &'ast Macro) {
        for token in code.tokens.clone() {
            if KINDS.contains(&token.to_string().as_str()) {
                self.0.insert(token.to_string());
            }
        }
    }
}

fn kinds_in_rust(text: &str) -> BTreeSet<String> {
    let mut finder = Finder::default();
    finder.visit_file(&syn::parse_file(text).unwrap());
    finder.0
}

#[test]
fn only_sources_and_the_recogniser_know_kinds_of_heaps() {
    let root = root();
    let mut found = Vec::new();
    for folder in WITHOUT_KINDS {
        files(&root.join(folder), &["rs"], &mut found);
    }
    assert!(found.len() > 100);
    let recognisers = RECOGNISERS.map(|file| root.join(file));
    found.retain(|file| !recognisers.contains(file));
    let kinds = found.iter().flat_map(|file| {
        let kinds = kinds_in_rust(&fs::read_to_string(file).unwrap());
        kinds
            .into_iter()
            .map(|kind| format!("{}: {kind}", file.display()))
    });
    assert_eq!(kinds.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn a_test_of_a_kind_is_found() {
    let found = kinds_in_rust(
        "/// An AssemblyScript heap.\nfn f(name: &str) -> bool { let is_dump = name.ends_with(\".heapsnapshot\"); is_dump }\n\
         #[cfg(test)] mod tests { use v8::open; }",
    );
    let expected = ["is_dump", ".heapsnapshot"].map(str::to_owned);
    assert_eq!(found, BTreeSet::from(expected));
}

/// In JavaScript, one function recognises a file.
const RECOGNISER_IN_JAVASCRIPT: &str = "js/served/file_kind.ts";

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

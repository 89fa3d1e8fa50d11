//! A type name has one meaning in all crates, and one in all of TypeScript. A reader of `Place` need not look up which one is
//! meant.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use syn::visit::{self, Visit};
use syn::{Item, ItemFn};

use crate::circles::is_test;
use crate::kinds::{files, root};

/// Names that several files define, and why.
const SHARED: [(&str, &str); 3] = [
    (
        "Program",
        "one meaning, once a source: what the module says of every heap; the engine's holds one of them",
    ),
    (
        "Request",
        "one meaning: the libraries of C differ in its type",
    ),
    (
        "Result",
        "the macro of N-API recognises functions that can fail by this name",
    ),
];

/// Names that several files of TypeScript define, and why.
const SHARED_IN_TYPESCRIPT: [(&str, &str); 4] = [
    (
        "AllocationSite",
        "one meaning: a line that allocates, in a profile and in an answer about a heap",
    ),
    ("Heap", "the public type, and the class that is one"),
    (
        "HeapAnalyzerError",
        "the public type, and the class that is one",
    ),
    ("PlaceTable", "the public type, and the class that is one"),
];

/// Collects the names of types, without those of tests, of function bodies and of traits.
#[derive(Default)]
struct Types(Vec<String>);

impl<'ast> Visit<'ast> for Types {
    fn visit_item(&mut self, item: &'ast Item) {
        let name = match item {
            Item::Mod(module) if is_test(&module.attrs) => return,
            Item::Struct(item) => &item.ident,
            Item::Enum(item) => &item.ident,
            Item::Trait(item) => &item.ident,
            Item::Type(item) => &item.ident,
            _ => return visit::visit_item(self, item),
        };
        self.0.push(name.to_string());
    }

    fn visit_item_fn(&mut self, _: &'ast ItemFn) {}
}

fn types_in(code: &str) -> Vec<String> {
    let mut types = Types::default();
    types.visit_file(&syn::parse_file(code).unwrap());
    types.0
}

/// The types that a file of TypeScript declares outside of functions, where lines are not indented.
/// Declarations that are merged count once.
fn typescript_types_in(code: &str) -> BTreeSet<String> {
    let declared = code.lines().filter_map(|line| {
        let line = ["export ", "declare ", "abstract "]
            .iter()
            .fold(line, |line, word| line.strip_prefix(word).unwrap_or(line));
        let rest = ["class ", "enum ", "interface ", "type "]
            .iter()
            .find_map(|word| line.strip_prefix(word))?;
        let end = rest.find(|next: char| !next.is_alphanumeric() && next != '_');
        let (name, after) = rest.split_at(end?);
        let begins = [" ", "<"].iter().any(|begin| after.starts_with(begin));
        (begins && name.starts_with(char::is_uppercase)).then(|| name.to_owned())
    });
    declared.collect()
}

/// The names that several definitions have, with their files.
fn repeated<Names: IntoIterator<Item = String>>(
    sources: &[(String, String)],
    types_in: impl Fn(&str) -> Names,
) -> BTreeMap<String, Vec<&str>> {
    let mut files: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (file, code) in sources {
        for name in types_in(code) {
            files.entry(name).or_default().push(file);
        }
    }
    files.retain(|_, files| files.len() > 1);
    files
}

/// Asserts that these names, and no others, have several definitions.
#[track_caller]
fn assert_shared(mut repeated: BTreeMap<String, Vec<&str>>, shared: &[(&str, &str)]) {
    for (name, reason) in shared {
        assert!(
            repeated.remove(*name).is_some(),
            "{name} is defined once: {reason}"
        );
    }
    assert_eq!(repeated, BTreeMap::new());
}

fn read(paths: &[PathBuf]) -> Vec<(String, String)> {
    let read = |path: &PathBuf| fs::read_to_string(path).unwrap();
    paths
        .iter()
        .map(|path| (path.display().to_string(), read(path)))
        .collect()
}

#[test]
fn a_type_name_has_one_meaning() {
    let root = root();
    let mut paths = Vec::new();
    files(&root.join("src"), &["rs"], &mut paths);
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        files(&entry.unwrap().path().join("src"), &["rs"], &mut paths);
    }
    assert!(paths.len() > 200);
    assert_shared(repeated(&read(&paths), types_in), &SHARED);
}

#[test]
fn a_type_name_of_typescript_has_one_meaning() {
    let root = root();
    let mut paths = vec!["index.d.ts", "heap.d.ts", "answers.d.ts", "codes.d.ts"]
        .into_iter()
        .map(|file| root.join(file))
        .collect();
    for folder in ["js", "packages/mcp/src"] {
        files(&root.join(folder), &["ts", "mts"], &mut paths);
    }
    assert!(paths.len() > 150);
    let sources = read(&paths);
    let repeated = repeated(&sources, typescript_types_in);
    assert_shared(repeated, &SHARED_IN_TYPESCRIPT);
}

#[test]
fn a_name_of_two_types_is_found() {
    let first = "struct Place; #[cfg(test)] mod tests { struct Scene; } fn f() { enum Row {} }";
    let second = "mod inner { pub enum Place {} } struct Scene; trait Row { type Place; }";
    let sources = [first, second].map(|code| (code.len().to_string(), code.to_owned()));
    let repeated = repeated(&sources, types_in);
    assert_eq!(repeated.keys().collect::<Vec<_>>(), ["Place"]);
    assert_eq!(repeated["Place"].len(), 2);
}

#[test]
fn a_name_of_two_types_of_typescript_is_found() {
    let first = "export interface Place<T> {\n  type: T;\n}\ntype Row = 1;\n  type Cell = 2;\n";
    let second = "export declare abstract class Place {}\nexport type { Row };\ntype Cell = 3;\n";
    let sources = [first, second].map(|code| (code.len().to_string(), code.to_owned()));
    let repeated = repeated(&sources, typescript_types_in);
    assert_eq!(repeated.keys().collect::<Vec<_>>(), ["Place"]);
}

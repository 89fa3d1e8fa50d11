//! A type name has one meaning in all crates: whoever reads `Place` needs not ask which one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Item, ItemFn};

use crate::circles::is_test;
use crate::kinds::{files, root};

/// Names that several files define, and why.
const SHARED: [(&str, &str); 2] = [
    (
        "Program",
        "one meaning, once a source: what the module says of every heap; the engine's holds one of them",
    ),
    (
        "Result",
        "the macro of N-API recognises functions that can fail by this name",
    ),
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

/// The names that several definitions have, with their files.
fn repeated(sources: &[(String, String)]) -> BTreeMap<String, Vec<&str>> {
    let mut files: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (file, code) in sources {
        for name in types_in(code) {
            files.entry(name).or_default().push(file);
        }
    }
    files.retain(|_, files| files.len() > 1);
    files
}

fn sources(root: &Path) -> Vec<(String, String)> {
    let mut paths = Vec::new();
    files(&root.join("src"), &["rs"], &mut paths);
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        files(&entry.unwrap().path().join("src"), &["rs"], &mut paths);
    }
    assert!(paths.len() > 200);
    let read = |path: &std::path::PathBuf| fs::read_to_string(path).unwrap();
    paths
        .iter()
        .map(|path| (path.display().to_string(), read(path)))
        .collect()
}

#[test]
fn a_type_name_has_one_meaning() {
    let sources = sources(&root());
    let mut repeated = repeated(&sources);
    for (name, reason) in SHARED {
        assert!(
            repeated.remove(name).is_some(),
            "{name} is defined once: {reason}"
        );
    }
    assert_eq!(repeated, BTreeMap::new());
}

#[test]
fn a_name_of_two_types_is_found() {
    let first = "struct Place; #[cfg(test)] mod tests { struct Scene; } fn f() { enum Row {} }";
    let second = "mod inner { pub enum Place {} } struct Scene; trait Row { type Place; }";
    let sources = [first, second].map(|code| (code.len().to_string(), code.to_owned()));
    let repeated = repeated(&sources);
    assert_eq!(repeated.keys().collect::<Vec<_>>(), ["Place"]);
    assert_eq!(repeated["Place"].len(), 2);
}

//! Files of a crate do not import each other in a circle.
//!
//! A file imports another if a path in it ends at an item of the other. Declarations (`mod`) and re-exports
//! (`pub use`) are no imports: a path through a re-export leads to the file that has the item. Unit tests
//! (`#[cfg(test)]`) may import anything.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree, Visibility};

use crate::crates::crate_roots;

/// The path of a module within its crate: `["graph", "edges"]`.
type ModulePath = Vec<String>;

/// A module with a file of its own.
struct Module {
    file: PathBuf,
    items: Vec<Item>,
    /// What a name of a `pub use` stands for, as a path from the crate's root.
    re_exports: HashMap<String, ModulePath>,
    /// The modules whose public names are all re-exported.
    globs: Vec<ModulePath>,
}

type Modules = BTreeMap<ModulePath, Module>;

pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let list = attribute
            .path()
            .is_ident("cfg")
            .then(|| attribute.meta.require_list());
        list.is_some_and(|list| list.is_ok_and(|list| list.tokens.to_string() == "test"))
    })
}

/// Reads a module and all modules that it declares.
fn read_module(file: PathBuf, folder: &Path, path: ModulePath, modules: &mut Modules) {
    let text = fs::read_to_string(&file).unwrap();
    let items = syn::parse_file(&text).unwrap().items;
    for item in &items {
        let Item::Mod(module) = item else { continue };
        if module.content.is_some() || is_test(&module.attrs) {
            continue;
        }
        let name = module.ident.to_string();
        let (flat, nested) = (folder.join(format!("{name}.rs")), folder.join(&name));
        let file = if flat.exists() {
            flat
        } else {
            nested.join("mod.rs")
        };
        let child = [path.clone(), vec![name]].concat();
        read_module(file, &nested, child, modules);
    }
    let module = Module {
        file,
        items,
        re_exports: HashMap::new(),
        globs: Vec::new(),
    };
    modules.insert(path, module);
}

/// A name or, with a star, all names of a module, as the leaf of a `use`.
enum Leaf {
    Name(String),
    All,
}

fn leaves(tree: &UseTree, before: &mut Vec<String>, found: &mut Vec<(Vec<String>, Leaf)>) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            leaves(&path.tree, before, found);
            before.pop();
        }
        UseTree::Group(group) => group
            .items
            .iter()
            .for_each(|tree| leaves(tree, before, found)),
        UseTree::Glob(_) => found.push((before.clone(), Leaf::All)),
        UseTree::Name(name) if name.ident == "self" => {
            let own = before.last().cloned().unwrap();
            found.push((before.clone(), Leaf::Name(own)));
        }
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            found.push((
                [before.clone(), vec![name.clone()]].concat(),
                Leaf::Name(name),
            ));
        }
        UseTree::Rename(rename) => {
            let full = [before.clone(), vec![rename.ident.to_string()]].concat();
            found.push((full, Leaf::Name(rename.rename.to_string())));
        }
    }
}

/// A path from the crate's root, if it leads into this crate.
fn from_root(modules: &Modules, at: &ModulePath, path: &[String]) -> Option<ModulePath> {
    let rest = |base: &[String], rest: &[String]| Some([base, rest].concat());
    match path.first()?.as_str() {
        "crate" => rest(&[], &path[1..]),
        "self" => from_root(modules, at, &path[1..]).or_else(|| rest(at, &path[1..])),
        "super" => {
            let ups = path
                .iter()
                .take_while(|segment| *segment == "super")
                .count();
            rest(&at[..at.len().checked_sub(ups)?], &path[ups..])
        }
        name => {
            let child = [at.clone(), vec![name.to_owned()]].concat();
            modules.contains_key(&child).then(|| [at, path].concat())
        }
    }
}

/// The module that has the item at the end of a path from the root.
fn home(modules: &Modules, path: &[String], depth: usize) -> Option<ModulePath> {
    let mut at = ModulePath::new();
    for (index, segment) in path.iter().enumerate() {
        let child = [at.clone(), vec![segment.clone()]].concat();
        if modules.contains_key(&child) {
            at = child;
            continue;
        }
        let module = &modules[&at];
        if depth < 8 {
            let rest = &path[index + 1..];
            if let Some(target) = module.re_exports.get(segment) {
                return home(modules, &[target, rest].concat(), depth + 1);
            }
            let in_globs = module.globs.iter().find_map(|target| {
                let home = home(modules, &[target, &path[index..]].concat(), depth + 1)?;
                declares(&modules[&home].items, segment).then_some(home)
            });
            if in_globs.is_some() {
                return in_globs;
            }
        }
        break;
    }
    Some(at)
}

fn declares(items: &[Item], name: &str) -> bool {
    items.iter().any(|item| match item {
        Item::Const(item) => item.ident == name,
        Item::Enum(item) => item.ident == name,
        Item::Fn(item) => item.sig.ident == name,
        Item::Static(item) => item.ident == name,
        Item::Struct(item) => item.ident == name,
        Item::Trait(item) => item.ident == name,
        Item::Type(item) => item.ident == name,
        _ => false,
    })
}

/// Collects the paths of one file, without its tests and its re-exports.
#[derive(Default)]
struct Paths {
    paths: Vec<Vec<String>>,
    imported: Vec<(Vec<String>, Leaf)>,
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Mod(module) if is_test(&module.attrs) => {}
            Item::Fn(function) if is_test(&function.attrs) => {}
            Item::Impl(block) if is_test(&block.attrs) => {}
            Item::Use(import) if is_test(&import.attrs) => {}
            Item::Use(import) if matches!(import.vis, Visibility::Inherited) => {
                leaves(&import.tree, &mut Vec::new(), &mut self.imported);
            }
            Item::Use(_) => {}
            _ => visit::visit_item(self, item),
        }
    }

    /// Who may use an item is no import: `pub(super)` leads to a module, not to an item of it.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = path.segments.iter();
        self.paths
            .push(segments.map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }
}

/// What a path stands for that begins with a name which the module itself re-exports: its own items use that name
/// like any import.
fn re_exported(modules: &Modules, at: &ModulePath, path: &[String]) -> Option<ModulePath> {
    let (first, rest) = path.split_first()?;
    let module = &modules[at];
    if let Some(target) = module.re_exports.get(first) {
        return Some([target, rest].concat());
    }
    module.globs.iter().find_map(|glob| {
        let target = [glob, path].concat();
        let home = home(modules, &target, 0)?;
        declares(&modules[&home].items, first).then_some(target)
    })
}

/// The files that a module imports from.
fn imports(modules: &Modules, at: &ModulePath) -> BTreeSet<ModulePath> {
    let mut paths = Paths::default();
    for item in &modules[at].items {
        paths.visit_item(item);
    }
    let mut modules_by_name = HashMap::new();
    let mut targets = Vec::new();
    for (path, leaf) in paths.imported {
        let Some(path) = from_root(modules, at, &path) else {
            continue;
        };
        match leaf {
            Leaf::Name(name) if modules.contains_key(&path) => {
                modules_by_name.insert(name, path);
            }
            _ => targets.push(path),
        }
    }
    for path in paths.paths {
        let named = path.first().and_then(|first| modules_by_name.get(first));
        let full = match named {
            Some(module) => Some([module, &path[1..]].concat()),
            None => from_root(modules, at, &path).or_else(|| re_exported(modules, at, &path)),
        };
        targets.extend(full);
    }
    let homes = targets.iter().filter_map(|path| home(modules, path, 0));
    homes.filter(|home| home != at).collect()
}

/// The circles of a graph: its strongly connected components of two and more nodes, by which nodes reach
/// each other.
fn circles(edges: &BTreeMap<ModulePath, BTreeSet<ModulePath>>) -> BTreeSet<Vec<ModulePath>> {
    let reach = |from: &ModulePath| {
        let mut reached = BTreeSet::new();
        let mut waiting = vec![from];
        while let Some(node) = waiting.pop() {
            waiting.extend(
                edges[node]
                    .iter()
                    .filter(|next| reached.insert((*next).clone())),
            );
        }
        reached
    };
    let reached: BTreeMap<_, _> = edges.keys().map(|node| (node, reach(node))).collect();
    let in_circle =
        |a: &ModulePath, b: &ModulePath| reached[a].contains(b) && reached[b].contains(a);
    let circle = |a: &ModulePath| edges.keys().filter(|b| in_circle(a, b)).cloned().collect();
    edges
        .keys()
        .map(circle)
        .filter(|circle: &Vec<_>| circle.len() > 1)
        .collect()
}

/// The circles among the files of the crate that begins with this file.
fn circles_of_crate(root: &Path) -> Vec<Vec<PathBuf>> {
    let mut modules = Modules::new();
    read_module(
        root.to_owned(),
        root.parent().unwrap(),
        Vec::new(),
        &mut modules,
    );
    for at in modules.keys().cloned().collect::<Vec<_>>() {
        let mut found = Vec::new();
        for item in &modules[&at].items {
            if let Item::Use(import) = item
                && !matches!(import.vis, Visibility::Inherited)
            {
                leaves(&import.tree, &mut Vec::new(), &mut found);
            }
        }
        for (path, leaf) in found {
            let Some(path) = from_root(&modules, &at, &path) else {
                continue;
            };
            let module = modules.get_mut(&at).unwrap();
            match leaf {
                Leaf::Name(name) => {
                    module.re_exports.insert(name, path);
                }
                Leaf::All => module.globs.push(path),
            }
        }
    }
    let edges = modules
        .keys()
        .map(|at| (at.clone(), imports(&modules, at)))
        .collect();
    let files =
        |circle: Vec<ModulePath>| circle.iter().map(|at| modules[at].file.clone()).collect();
    circles(&edges).into_iter().map(files).collect()
}

#[test]
fn no_files_of_a_crate_import_each_other_in_a_circle() {
    let circles: Vec<_> = crate_roots()
        .iter()
        .flat_map(|root| circles_of_crate(root))
        .collect();
    assert!(circles.is_empty(), "{circles:#?}");
}

/// Writes the files of a crate into a folder of their own, and finds its circles.
fn circles_in(name: &str, files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let folder = std::env::temp_dir().join(format!("house-{}-{name}", std::process::id()));
    for (path, text) in files {
        let file = folder.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let circles = circles_of_crate(&folder.join("lib.rs"));
    let names = |circle: Vec<PathBuf>| {
        let file = |file: PathBuf| file.strip_prefix(&folder).unwrap().display().to_string();
        circle.into_iter().map(file).collect()
    };
    let circles = circles.into_iter().map(names).collect();
    fs::remove_dir_all(&folder).unwrap();
    circles
}

#[test]
fn a_circle_through_a_re_export_is_found() {
    let found = circles_in(
        "re-export",
        &[
            ("lib.rs", "mod a;\nmod b;"),
            ("a/mod.rs", "mod inner;\npub use inner::Inner;"),
            ("a/inner.rs", "use crate::b;\npub struct Inner(b::Other);"),
            (
                "b.rs",
                "use crate::a::Inner;\npub struct Other(Box<Inner>);",
            ),
        ],
    );
    assert_eq!(found, [["a/inner.rs", "b.rs"]]);
}

#[test]
fn a_module_that_only_declares_and_re_exports_is_in_no_circle() {
    let found = circles_in(
        "declares",
        &[
            ("lib.rs", "mod a;\npub use a::One;"),
            (
                "a/mod.rs",
                "mod one;\nmod two;\npub use one::One;\npub use two::*;",
            ),
            ("a/one.rs", "use super::Two;\npub struct One(Two);"),
            (
                "a/two.rs",
                "pub struct Two;\n#[cfg(test)]\nmod tests { use crate::One; }",
            ),
        ],
    );
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn who_may_use_an_item_is_no_import() {
    let found = circles_in(
        "visibility",
        &[
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod one;\npub fn all() { one::one() }"),
            ("a/one.rs", "pub(super) fn one() {}"),
        ],
    );
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_module_that_uses_what_it_re_exports_imports_it() {
    let found = circles_in(
        "uses-re-export",
        &[
            (
                "lib.rs",
                "mod one;\nmod two;\npub use one::One;\npub use two::*;\npub const ZERO: u32 = 0;\n\
                 pub struct All { one: One, two: Two }",
            ),
            ("one.rs", "use super::ZERO;\npub struct One([u8; ZERO]);"),
            ("two.rs", "pub struct Two([u8; crate::ZERO]);"),
        ],
    );
    assert_eq!(found, [["lib.rs", "one.rs", "two.rs"]]);
}

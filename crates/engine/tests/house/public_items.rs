//! What every kind of heap shares names none of them: the public items of `base` and `heap` have no names of compilers,
//! runtimes, allocators and formats, and the texts of their errors and warnings name none.

use std::fs;

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemEnum, ItemFn, ItemImpl, ItemStruct, ItemTrait, Meta, Visibility};

use crate::circles::is_test;
use crate::kinds::{files, root};

const KINDS: [&str; 10] = [
    "v8",
    "assemblyscript",
    "dwarf",
    "warpo",
    "itcms",
    "dlmalloc",
    "emmalloc",
    "devtools",
    "hotspot",
    "zig",
];

/// The one error that lists what can be read: two sources say it of the same memory.
const KNOWN: [&str; 1] = ["AllocatorUnknown"];

fn kind_in(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    KINDS.into_iter().find(|kind| lower.contains(kind))
}

/// The names of public items, of their variants and fields, and the texts of errors.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn texts(&mut self, attributes: &[Attribute]) {
        for attribute in attributes.iter().filter(|one| one.path().is_ident("error")) {
            if let Meta::List(list) = &attribute.meta {
                self.0.push(list.tokens.to_string());
            }
        }
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast Item) {
        if !matches!(item, Item::Mod(module) if is_test(&module.attrs)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        if is_public(&item.vis) {
            self.0.push(item.ident.to_string());
            let public = item.fields.iter().filter(|field| is_public(&field.vis));
            self.0
                .extend(public.filter_map(|field| Some(field.ident.as_ref()?.to_string())));
        }
    }

    fn visit_item_enum(&mut self, item: &'ast ItemEnum) {
        if !is_public(&item.vis) {
            return;
        }
        self.0.push(item.ident.to_string());
        for variant in &item.variants {
            self.0.push(variant.ident.to_string());
            if !KNOWN.iter().any(|known| variant.ident == known) {
                self.texts(&variant.attrs);
            }
        }
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        self.0.push(item.ident.to_string());
        let methods = item.items.iter().filter_map(|one| match one {
            syn::TraitItem::Fn(method) => Some(method.sig.ident.to_string()),
            _ => None,
        });
        self.0.extend(methods);
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if is_public(&item.vis) {
            self.0.push(item.sig.ident.to_string());
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let public = item.items.iter().filter_map(|one| match one {
            syn::ImplItem::Fn(method) if is_public(&method.vis) => Some(&method.sig.ident),
            _ => None,
        });
        self.0.extend(public.map(ToString::to_string));
    }
}

fn names_in(code: &str) -> Vec<String> {
    let mut names = Names::default();
    names.visit_file(&syn::parse_file(code).unwrap());
    names.0
}

#[test]
fn the_public_items_of_what_all_heaps_share_name_no_kind_of_heap() {
    for crate_name in ["base", "heap"] {
        let mut paths = Vec::new();
        files(
            &root().join("crates").join(crate_name).join("src"),
            &["rs"],
            &mut paths,
        );
        let mut count = 0;
        for path in paths {
            let names = names_in(&fs::read_to_string(&path).unwrap());
            count += names.len();
            for name in names {
                let kind = kind_in(&name);
                assert!(kind.is_none(), "{}: {name}", path.display());
            }
        }
        assert!(count > 100, "{crate_name}: {count}");
    }
}

#[test]
fn a_public_item_or_a_text_that_names_a_kind_is_found() {
    let found = |code: &str| {
        names_in(code)
            .iter()
            .filter_map(|name| kind_in(name))
            .count()
    };
    assert_eq!(found("pub enum Warning { ItcmsTotal }"), 1);
    assert_eq!(
        found(r#"pub enum Warning { #[error("the DWARF is cut")] Cut }"#),
        1
    );
    assert_eq!(found("pub trait Source { fn is_v8(&self); }"), 1);
    assert_eq!(
        found("/// Of V8.\nstruct V8Label; pub struct Label { v8: u32 }"),
        0
    );
}

//! Texts of the engine state facts. It does not know how it was called, so no text names an option, a flag or a package:
//! the command line, the API and the servers add what to do, each in its own words (`js/advice.ts`).

use std::fs;

use syn::visit::{self, Visit};
use syn::{Attribute, Item, LitStr, Macro, Meta};

use crate::circles::is_test;
use crate::kinds::{files, root};

/// What is wrong in a text: an option like `--wasm`, a package, the API.
fn advice_in(text: &str) -> Option<&str> {
    let option = text.match_indices("--").find(|&(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + 2..].chars().next();
        let is_start = before.is_none_or(|before| !before.is_alphanumeric() && before != '-');
        is_start && after.is_some_and(|after| after.is_ascii_lowercase())
    });
    let surface = ["@warpo", "npm ", "npx ", "in the API"];
    let named = surface.into_iter().find_map(|sign| text.find(sign));
    option.map(|(at, _)| at).or(named).map(|at| &text[at..])
}

/// Collects texts with advice, without those of tests and of documentation.
#[derive(Default)]
struct Finder(Vec<String>);

impl Finder {
    fn check(&mut self, text: &str) {
        self.0.extend(advice_in(text).map(str::to_owned));
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_item(&mut self, item: &'ast Item) {
        let is_of_test = matches!(item, Item::Mod(module) if is_test(&module.attrs));
        if !is_of_test {
            visit::visit_item(self, item);
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        // What a surface says of an option is an attribute beside it.
        if let Meta::List(list) = &attribute.meta
            && !attribute.path().is_ident("schemars")
        {
            self.check(&list.tokens.to_string());
        }
    }

    fn visit_lit_str(&mut self, literal: &'ast LitStr) {
        self.check(&literal.value());
    }

    fn visit_macro(&mut self, code: &'ast Macro) {
        // A part of a schema, which is an attribute elsewhere.
        if code
            .path
            .segments
            .last()
            .is_some_and(|name| name.ident == "json_schema")
        {
            return;
        }
        self.check(&code.tokens.to_string());
    }
}

fn advice_in_rust(code: &str) -> Vec<String> {
    let mut finder = Finder::default();
    finder.visit_file(&syn::parse_file(code).unwrap());
    finder.0
}

#[test]
fn no_text_of_the_engine_names_an_option_or_a_package() {
    let root = root();
    let mut sources = Vec::new();
    files(&root.join("src"), &["rs"], &mut sources);
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        files(&entry.unwrap().path().join("src"), &["rs"], &mut sources);
    }
    assert!(sources.len() > 200);
    let mut found = Vec::new();
    for file in sources {
        for text in advice_in_rust(&fs::read_to_string(&file).unwrap()) {
            found.push(format!("{}: {text}", file.display()));
        }
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn advice_is_found_in_attributes_macros_and_constants() {
    let found = advice_in_rust(
        r#"/// Documentation may name --wasm.
        #[derive(thiserror::Error)]
        enum E { #[error("no module: pass it with --wasm", end = 1)] Missing }
        const TEXT: &str = "asc (--debug)";
        fn f() { let _ = format!("install {} of {}", "@warpo/heap-analyzer", 1); }
        #[cfg(test)] mod tests { const T: &str = "--before"; }
        const RULE: &str = "a--b -- and --- no option";"#,
    );
    let starts = ["--wasm", "--debug)", "@warpo/heap-analyzer"];
    assert_eq!(found.len(), starts.len(), "{found:?}");
    for (text, start) in found.iter().zip(starts) {
        assert!(text.starts_with(start), "{text}");
    }
}

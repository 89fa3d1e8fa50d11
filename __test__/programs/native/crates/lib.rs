// Keeps what a library makes in a variable, so that a dump has it: a script with its engine and variables, documents, and
// expressions.
use std::cell::RefCell;

#[cfg(feature = "rhai")]
mod kept {
    pub struct Kept { pub engine: rhai::Engine, pub ast: rhai::AST, pub scope: rhai::Scope<'static> }
    pub fn make() -> Kept {
        let engine = rhai::Engine::new_raw();
        let script = r#"
            fn make(n) { let list = []; for i in 0..n { list.push(#{ id: i, name: "entry", tags: [i, i + 1, "tag"] }); } list }
            let all = make(300); let total = 0;
            for item in all { total += item.id; }
            let table = #{}; for i in 0..200 { table["key" + i] = "value " + i; }
        "#;
        let mut engine = engine;
        engine.register_global_module(rhai::packages::Package::as_shared_module(&rhai::packages::StandardPackage::new()));
        // A build with assertions allows less.
        engine.set_max_expr_depths(64, 64);
        engine.set_max_call_levels(64);
        let ast = engine.compile(script).unwrap();
        let mut scope = rhai::Scope::new();
        engine.run_ast_with_scope(&mut scope, &ast).unwrap();
        Kept { engine, ast, scope }
    }
}
#[cfg(feature = "toml")]
mod kept {
    pub struct Kept { pub documents: Vec<toml_edit::DocumentMut> }
    pub fn make() -> Kept {
        let documents = (0..20).map(|n| {
            let mut text = String::new();
            for i in 0..30 { text += &format!("# section {i}\n[package{i}.sub]\nname = \"name {i} of {n}\"\nversion = \"1.{i}\"\nfeatures = [\"a\", \"b\", {{ x = {i} }}]\n[[bin]]\npath = \"src/{i}.rs\"\n"); }
            text.parse().unwrap()
        });
        Kept { documents: documents.collect() }
    }
}
#[cfg(feature = "regex")]
mod kept {
    pub struct Kept { pub all: Vec<regex::Regex>, pub set: regex::RegexSet, pub found: usize }
    pub fn make() -> Kept {
        let texts = [r"^(\d{4})-(\d{2})-(\d{2})$", r"[a-z]+@[a-z]+\.(com|org)", r"\bfoo(bar|baz)*\b", r"(?i)session\s+(\w+)"];
        let all: Vec<_> = texts.iter().map(|text| regex::Regex::new(text).unwrap()).collect();
        let set = regex::RegexSet::new(texts).unwrap();
        let found = all.iter().filter(|one| one.is_match("session foobar 2026-01-01 a@b.com")).count();
        Kept { all, set, found }
    }
}

thread_local! { static KEPT: RefCell<Option<kept::Kept>> = const { RefCell::new(None) }; }

#[no_mangle]
pub extern "C" fn run() { KEPT.with(|all| *all.borrow_mut() = Some(kept::make())); }

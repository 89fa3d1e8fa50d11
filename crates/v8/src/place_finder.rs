//! What paths and places call the objects that a program writes down without a class: the variables of a module or of a
//! function, its functions, and the modules of Node.
//!
//! A context refers to the description of its scope. A function refers to that description too, and to its script. So a
//! scope is known by its script, by its function, and by its variables. Lines are not part of a name: they are other ones
//! after each edit.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::places::{Places, storage_labels};
use super::raw::{EdgeKind, NodeKind, RawSnapshot};
use super::script_path::{last_parts, path_of_script};
use super::strings::text;
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use heap::{ENGINE_MODULE, LAST_MATCH, LOADED_MODULE, Location, MODULE};

const CONTEXT: &[u8] = b"system / Context";
const NATIVE_CONTEXT: &[u8] = b"system / NativeContext";
const SCOPE_INFO: &[u8] = b"system / ScopeInfo";
/// How V8 names what functions share, if the function has no name.
const SHARED: &[u8] = b"(shared function info)";
const SCRIPT: [&[u8]; 2] = [b"script_or_debug_info", b"script"];
const ENGINE_SCRIPT: &str = "node:";
const PACKAGES: &str = "/node_modules/";
/// The most variables in the name of a scope.
const MOST_VARIABLES: usize = 4;
/// Variables of one or two letters are from a minifier, or say nothing.
const SHORT_NAME: usize = 2;
/// File names that many modules have.
const COMMON: [&str; 4] = ["index", "main", "mod", "lib"];
/// How often a scope may be in another one.
const MOST_NESTED: usize = 64;
const LAST_MATCH_INFO: [&[u8]; 1] = [b"regexp_last_match_info"];

/// A scope as its description has it.
#[derive(Clone, Copy, Default)]
struct NamedScope {
    /// The number of the name of its script.
    script: Option<u32>,
    /// The number of the name of its function.
    function: Option<u32>,
}

/// Finds the names of places.
pub(super) fn find(raw: &RawSnapshot, step: &Step<'_>) -> Result<Places> {
    let mut finder = PlaceFinder {
        raw,
        scopes: HashMap::new(),
        closures: Vec::new(),
        contexts: Vec::new(),
        realms: Vec::new(),
        modules: Vec::new(),
        files: HashMap::new(),
    };
    finder.read(step)?;
    if finder.scopes.is_empty() {
        return Ok(Places::default());
    }
    finder.scripts_of_outer_scopes(step)?;
    finder.name_files();
    finder.places(step)
}

struct PlaceFinder<'r> {
    raw: &'r RawSnapshot,
    /// By node of a description.
    scopes: HashMap<u32, NamedScope>,
    /// Functions with the number of the name of their script, and that of their own.
    closures: Vec<(u32, u32, Option<u32>)>,
    /// Contexts with the nodes of their descriptions.
    contexts: Vec<(u32, u32)>,
    realms: Vec<u32>,
    /// Modules of Node with the number of the name of their file.
    modules: Vec<(u32, u32)>,
    /// By number of a script's name: the name that is shown, and whether the script is of the engine.
    files: HashMap<u32, (String, bool)>,
}

impl PlaceFinder<'_> {
    fn target(&self, node: u32, names: &[&[u8]]) -> Option<u32> {
        let mut edges = self.raw.edges(node);
        let edge = edges.find(|&edge| {
            self.raw.edge_kind(edge) == EdgeKind::Internal
                && names.contains(&self.raw.strings.bytes(self.raw.edge_labels[edge].number()))
        })?;
        Some(self.raw.edge_targets[edge])
    }

    fn read(&mut self, step: &Step<'_>) -> Result<()> {
        let raw = self.raw;
        // Descriptions of functions share a node for each function.
        let mut shared: HashMap<u32, Option<(u32, Option<u32>)>> = HashMap::new();
        for node in 0..raw.len() as u32 {
            if (node as usize).is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            match raw.kind(node) {
                NodeKind::Code => {
                    if let Some(scope) = self.target(node, &[b"name_or_scope_info"]) {
                        let found = self.shared(node);
                        if let Some((script, function)) = found
                            && raw.name(scope) == SCOPE_INFO
                        {
                            let known = self.scopes.entry(scope).or_default();
                            known.script = Some(script);
                            known.function = function;
                        }
                        shared.insert(node, found);
                    }
                }
                NodeKind::Closure => {
                    let Some(info) = self.target(node, &[b"shared"]) else {
                        continue;
                    };
                    let found = match shared.get(&info) {
                        Some(&found) => found,
                        None => *shared.entry(info).or_insert(self.shared(info)),
                    };
                    if let Some((script, function)) = found {
                        columns::push(&mut self.closures, (node, script, function))?;
                    }
                }
                NodeKind::Object if is_context(raw.name(node)) => {
                    if let Some(scope) = self.target(node, &[b"scope_info"]) {
                        columns::push(&mut self.contexts, (node, scope))?;
                    }
                }
                kind if !kind.is_string() && raw.name(node).starts_with(NATIVE_CONTEXT) => {
                    columns::push(&mut self.realms, node)?;
                }
                NodeKind::Object if raw.name(node) == b"Module" => {
                    if let Some(file) = self.file_of_module(node) {
                        columns::push(&mut self.modules, (node, file))?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The script and the name of a function, by what its functions share.
    fn shared(&self, node: u32) -> Option<(u32, Option<u32>)> {
        let raw = self.raw;
        let script = self.target(node, &SCRIPT)?;
        let name = raw.name(script);
        let is_script = raw.kind(script) == NodeKind::Code
            && !name.is_empty()
            && !name.starts_with(b"system / ")
            && !name.starts_with(b"(");
        let own = raw.name(node);
        let has_name = !own.is_empty() && own != SHARED;
        is_script.then(|| {
            let function = has_name.then_some(raw.names[node as usize]);
            (raw.names[script as usize], function)
        })
    }

    /// The file of a module of Node.
    fn file_of_module(&self, node: u32) -> Option<u32> {
        let raw = self.raw;
        let mut edges = raw.edges(node);
        let edge = edges.find(|&edge| {
            raw.edge_kind(edge) == EdgeKind::Property
                && raw.strings.bytes(raw.edge_labels[edge].number()) == b"filename"
        })?;
        let target = raw.edge_targets[edge];
        let is_text = raw.kind(target) == NodeKind::String;
        is_text.then_some(raw.names[target as usize])
    }

    /// The description of the scope in which a scope is.
    fn outer(&self, scope: u32) -> Option<u32> {
        let mut edges = self.raw.edges(scope);
        let edge = edges.find(|&edge| {
            let target = self.raw.edge_targets[edge];
            target != scope && self.raw.name(target) == SCOPE_INFO
        })?;
        Some(self.raw.edge_targets[edge])
    }

    /// A scope around a function is of the same script.
    fn scripts_of_outer_scopes(&mut self, step: &Step<'_>) -> Result<()> {
        let mut known: Vec<(u32, u32)> = self
            .scopes
            .iter()
            .filter_map(|(&scope, found)| Some((scope, found.script?)))
            .collect();
        known.sort_unstable();
        // A function that was not compiled has no description of its own scope, but one of the scope around it.
        for node in 0..self.raw.len() as u32 {
            if (node as usize).is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            if self.raw.kind(node) != NodeKind::Code {
                continue;
            }
            let outer = self.target(node, &[b"raw_outer_scope_info_or_feedback_metadata"]);
            if let Some(outer) = outer.filter(|&outer| self.raw.name(outer) == SCOPE_INFO)
                && let Some((script, _)) = self.shared(node)
            {
                self.scopes.entry(outer).or_default().script = Some(script);
                known.push((outer, script));
            }
        }
        for (mut scope, script) in known {
            for _ in 0..MOST_NESTED {
                let Some(outer) = self.outer(scope) else {
                    break;
                };
                let found = self.scopes.entry(outer).or_default();
                if found.script.is_some() {
                    break;
                }
                found.script = Some(script);
                scope = outer;
            }
        }
        Ok(())
    }

    /// Names scripts by their files, with as many folders as it takes to tell them apart.
    fn name_files(&mut self) {
        let scripts = self.closures.iter().map(|&(_, script, _)| script);
        let scripts = scripts.chain(self.scopes.values().filter_map(|scope| scope.script));
        let numbers: HashSet<u32> = scripts
            .chain(self.modules.iter().map(|&(_, file)| file))
            .collect();
        let mut by_path: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for number in numbers {
            let path = path_of_script(&self.raw.strings.text(number));
            by_path.entry(path).or_default().push(number);
        }
        let mut with_name: HashMap<&str, usize> = HashMap::new();
        for path in by_path.keys() {
            *with_name.entry(last_parts(path, 1)).or_default() += 1;
        }
        for (path, numbers) in &by_path {
            let is_engine = path.starts_with(ENGINE_SCRIPT);
            let name = if is_engine {
                path.as_str()
            } else if let Some((_, inside)) = path.rsplit_once(PACKAGES) {
                inside
            } else {
                let last = last_parts(path, 1);
                let stem = last.split('.').next().unwrap_or_default();
                let is_common = COMMON.contains(&stem);
                let is_one = with_name.get(last) == Some(&1);
                match (is_one, is_common) {
                    (true, false) => last,
                    (true, true) => last_parts(path, 2),
                    (false, _) => last_parts(path, 3),
                }
            };
            for &number in numbers {
                self.files.insert(number, (name.to_owned(), is_engine));
            }
        }
    }

    fn places(&self, step: &Step<'_>) -> Result<Places> {
        let raw = self.raw;
        let mut places = Places {
            names_of: columns::zeros(raw.len())?,
            storage: storage_labels(raw),
            ..Places::default()
        };
        let mut numbers = HashMap::new();
        self.contexts(&mut places, &mut numbers, step)?;
        for &(node, script, function) in &self.closures {
            let Some((file, is_engine)) = self.files.get(&script) else {
                continue;
            };
            if *is_engine {
                columns::push(&mut places.is_engine, node)?;
                continue;
            }
            let around = || {
                let context = self.target(node, &[b"context"])?;
                self.function_around(self.target(context, &[b"scope_info"])?)
            };
            let name = match (function, function.map_or_else(around, |_| None)) {
                (Some(function), _) => format!("function {} ({file})", raw.strings.text(function)),
                (None, Some(around)) => {
                    format!("function in {} ({file})", raw.strings.text(around))
                }
                (None, None) => format!("function ({file})"),
            };
            places.set(&mut numbers, node, name, self.location(node));
        }
        self.modules(&mut places, &mut numbers)?;
        for &realm in &self.realms {
            if let Some(node) = self.target(realm, &LAST_MATCH_INFO) {
                columns::push(&mut places.engine, (LAST_MATCH.to_owned(), node))?;
                places.set(&mut numbers, node, "match".to_owned(), None);
            }
        }
        columns::extend(&mut places.realms, &self.realms)?;
        Ok(places)
    }

    /// The objects of modules. Paths begin at those of files that were loaded once.
    fn modules(&self, places: &mut Places, numbers: &mut HashMap<String, u32>) -> Result<()> {
        let mut count: HashMap<&str, usize> = HashMap::new();
        let files = |script: u32| self.files.get(&script);
        for (file, _) in self.modules.iter().filter_map(|&(_, script)| files(script)) {
            *count.entry(file).or_default() += 1;
        }
        for &(node, script) in &self.modules {
            let Some((file, is_engine)) = files(script) else {
                continue;
            };
            places.set(numbers, node, format!("module {file}"), None);
            if !is_engine && count.get(file.as_str()) == Some(&1) {
                columns::push(&mut places.program, (LOADED_MODULE.to_owned(), node))?;
            }
        }
        Ok(())
    }

    fn location(&self, node: u32) -> Option<Location> {
        let number = self.raw.location_of.get(node as usize)?.checked_sub(1)?;
        self.raw.locations.get(number as usize).copied()
    }

    fn contexts(
        &self,
        places: &mut Places,
        numbers: &mut HashMap<String, u32>,
        step: &Step<'_>,
    ) -> Result<()> {
        let mut count: HashMap<u32, usize> = HashMap::new();
        for &(_, scope) in &self.contexts {
            *count.entry(scope).or_default() += 1;
        }
        // By file: scopes that have the variables of the whole module.
        let mut of_file: HashMap<&str, HashSet<u32>> = HashMap::new();
        let mut whole = Vec::new();
        for (nth, &(node, scope)) in self.contexts.iter().enumerate() {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            let Some((file, is_engine)) = self.file_of(scope) else {
                continue;
            };
            if is_engine {
                columns::push(&mut places.is_engine, node)?;
            }
            if self.is_whole(node, scope) {
                of_file.entry(file).or_default().insert(scope);
                columns::push(&mut whole, (node, scope))?;
                continue;
            }
            places.set(numbers, node, self.scope_name(scope, file), None);
        }
        for (node, scope) in whole {
            let Some((file, is_engine)) = self.file_of(scope) else {
                continue;
            };
            let scopes = &of_file[file];
            let mut name = file.to_owned();
            let mut is_once = scopes.iter().all(|scope| count.get(scope) == Some(&1));
            if scopes.len() > 1 {
                let own = self.scope_name(scope, file);
                let same = scopes
                    .iter()
                    .filter(|&&scope| self.scope_name(scope, file) == own);
                let same = same.count();
                is_once &= same == 1;
                if same < scopes.len() {
                    name = own;
                }
            }
            places.set(numbers, node, name, None);
            // Of a module that is there several times, something else says which one.
            if is_once {
                let (list, name) = if is_engine {
                    (&mut places.engine, ENGINE_MODULE)
                } else {
                    (&mut places.program, MODULE)
                };
                list.push((name.to_owned(), node));
            }
        }
        Ok(())
    }

    fn file_of(&self, scope: u32) -> Option<(&str, bool)> {
        let script = self.scopes.get(&scope)?.script?;
        let (file, is_engine) = self.files.get(&script)?;
        Some((file, *is_engine))
    }

    /// Whether a context has the variables of a whole module: no function with a name and no other scope is around it.
    fn is_whole(&self, node: u32, scope: u32) -> bool {
        let previous = self.target(node, &[b"previous"]);
        let is_outermost =
            previous.is_some_and(|previous| self.raw.name(previous).starts_with(NATIVE_CONTEXT));
        let function = self.scopes.get(&scope).and_then(|scope| scope.function);
        is_outermost && function.is_none()
    }

    /// The name of a scope within a module: its function, and its variables.
    fn scope_name(&self, scope: u32, file: &str) -> String {
        let of = match self.function_around(scope) {
            Some(function) => format!("{} ", self.raw.strings.text(function)),
            None => String::new(),
        };
        match self.variables(scope).as_str() {
            "" => format!("scope {of}({file})"),
            variables => format!("scope {of}{{{variables}}} ({file})"),
        }
    }

    /// The number of the name of the innermost function with a name in which a scope is.
    fn function_around(&self, mut scope: u32) -> Option<u32> {
        for _ in 0..MOST_NESTED {
            let function = self.scopes.get(&scope).and_then(|scope| scope.function);
            if function.is_some() {
                return function;
            }
            scope = self.outer(scope)?;
        }
        None
    }

    fn variables(&self, scope: u32) -> String {
        let raw = self.raw;
        let own = self.scopes.get(&scope).and_then(|scope| scope.function);
        let mut names = Vec::new();
        for edge in raw.edges(scope) {
            let target = raw.edge_targets[edge];
            let is_variable = raw.edge_kind(edge) == EdgeKind::Hidden
                && raw.kind(target) == NodeKind::String
                && Some(raw.names[target as usize]) != own;
            let name = text(raw.name(target));
            if is_variable && name.len() > SHORT_NAME && !name.starts_with('.') {
                names.push(name.into_owned());
            }
        }
        let rest = names.len() > MOST_VARIABLES;
        names.truncate(MOST_VARIABLES);
        names.join(", ") + if rest { ", …" } else { "" }
    }
}

fn is_context(name: &[u8]) -> bool {
    let rest = name.strip_prefix(CONTEXT);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b" / "))
}

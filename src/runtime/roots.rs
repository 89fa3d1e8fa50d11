//! Where the collector starts: managed globals, the shadow stack, pinned objects.

use std::collections::BTreeSet;

use super::classes::Classes;
use super::collector::global_value;
use super::evidence::Evidence;
use crate::collector_code::VisitedGlobal;
use crate::debug_info::{GlobalVariable, TypeRef};
use crate::dump::Dump;
use crate::module::{Global, Module};
use crate::units::{Address, GlobalIndex};

/// Why an object is a root. If there are several reasons, the first of this order counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RootKind {
    /// A global variable or a static field refers to it.
    Global,
    /// A function that was running refers to it.
    Stack,
    /// It was pinned (`__pin`), usually by the host.
    Pinned,
}

/// A global variable that may hold a reference.
#[derive(Clone, Debug)]
pub struct GlobalRoot {
    /// The variable's name, or what there is instead.
    pub name: String,
    /// What it held; `None` if that cannot be known.
    pub value: Option<Address>,
    /// How sure it is that this is a reference.
    pub certainty: Certainty,
}

/// How sure it is that a global holds a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// The collector's code visits it.
    Visited,
    /// The debug information declares it.
    Declared,
    /// It may hold anything.
    Possible,
}

/// The globals that the collector starts from.
#[derive(Clone, Debug, Default)]
pub struct GlobalRoots {
    /// Each of them; an object may be named more than once.
    pub roots: Vec<GlobalRoot>,
    /// Globals that the collector visits but the debug information does not have, or the other way
    /// round. Both are followed: too much rather than too little.
    pub disputed: Vec<String>,
    /// Nothing tells the roots: these are all globals, and any static object may be a root too,
    /// because globals that never change may have become constants in the code.
    pub are_guessed: bool,
}

impl GlobalRoots {
    /// Finds the globals that may hold references: those that the collector's code visits, or else
    /// those that the debug information declares, or else all; and both if the two disagree.
    pub fn find(
        evidence: &Evidence,
        classes: &Classes<'_>,
        module: &Module<'_>,
        dump: &Dump<'_>,
    ) -> Self {
        let visited = evidence.code.as_ref().map(|code| code.roots());
        let declared: Vec<_> = evidence
            .debug_info
            .globals
            .iter()
            .filter(|variable| classes.is_reference(variable.type_ref))
            .collect();
        match visited {
            Some(visited) => {
                let disputed = match evidence.has_debug_info && can_locate(&declared, module) {
                    true => disputed_globals(visited, &declared, module),
                    false => Vec::new(),
                };
                let visited = visited
                    .iter()
                    .map(|&visited| visited_root(visited, module, dump));
                let mut roots: Vec<_> = visited.collect();
                if !disputed.is_empty() {
                    roots.extend(
                        declared
                            .iter()
                            .map(|variable| declared_root(variable, module, dump)),
                    );
                }
                Self {
                    roots,
                    disputed,
                    are_guessed: false,
                }
            }
            None if evidence.has_debug_info => Self {
                roots: declared
                    .iter()
                    .map(|variable| declared_root(variable, module, dump))
                    .collect(),
                ..Self::default()
            },
            None => Self {
                roots: all_globals(module, dump),
                are_guessed: true,
                ..Self::default()
            },
        }
    }
}

fn all_globals(module: &Module<'_>, dump: &Dump<'_>) -> Vec<GlobalRoot> {
    let globals = module.globals.iter().filter(|global| global.is_i32);
    let roots = globals.map(|global| GlobalRoot {
        name: global_name(global),
        value: global_value(global, dump).map(Address),
        certainty: Certainty::Possible,
    });
    roots.collect()
}

fn visited_root(visited: VisitedGlobal, module: &Module<'_>, dump: &Dump<'_>) -> GlobalRoot {
    let (name, value) = match visited {
        VisitedGlobal::Global(index) => match module.globals.get(index) {
            Some(global) => (global_name(global), global_value(global, dump)),
            None => (format!("#{index}"), None),
        },
        VisitedGlobal::Constant(address) => (format!("(constant {address})"), Some(address.0)),
    };
    GlobalRoot {
        name,
        value: value.map(Address),
        certainty: Certainty::Visited,
    }
}

fn declared_root(variable: &GlobalVariable, module: &Module<'_>, dump: &Dump<'_>) -> GlobalRoot {
    let value = match locate(variable, module) {
        Some(global) => global_value(global, dump),
        // Optimisation removed the global because nothing assigns it.
        None => variable.initial,
    };
    GlobalRoot {
        name: variable.name.clone(),
        value: value.map(Address),
        certainty: match variable.type_ref {
            TypeRef::Class(_) => Certainty::Declared,
            TypeRef::Base { .. } | TypeRef::Unresolved => Certainty::Possible,
        },
    }
}

/// Mutable globals that only one side has. Constants are left out: which of them the compiler kept
/// as globals is a matter of optimisation, not of the program.
fn disputed_globals(
    visited: &BTreeSet<VisitedGlobal>,
    declared: &[&GlobalVariable],
    module: &Module<'_>,
) -> Vec<String> {
    let visited: BTreeSet<GlobalIndex> = visited
        .iter()
        .filter_map(|visited| match visited {
            VisitedGlobal::Global(index) => Some(*index),
            VisitedGlobal::Constant(_) => None,
        })
        .collect();
    let declared: BTreeSet<GlobalIndex> = declared
        .iter()
        .filter(|variable| matches!(variable.type_ref, TypeRef::Class(_)))
        .filter_map(|variable| Some(locate(variable, module)?.index))
        .collect();
    let globals = visited
        .symmetric_difference(&declared)
        .filter_map(|&index| module.globals.get(index));
    globals
        .filter(|global| global.mutable)
        .map(global_name)
        .collect()
}

/// Whether variables can be told apart from those that optimisation removed: by their locations, or
/// by the names of the globals that are left.
fn can_locate(declared: &[&GlobalVariable], module: &Module<'_>) -> bool {
    module.globals.iter().any(|global| global.name.is_some())
        || declared.iter().all(|variable| variable.location.is_some())
}

fn locate<'m, 'a>(variable: &GlobalVariable, module: &'m Module<'a>) -> Option<&'m Global<'a>> {
    match variable.location {
        Some(index) => module.globals.get(index),
        None => module.globals.named(&variable.name),
    }
    .filter(|global| global.is_i32)
}

fn global_name(global: &Global<'_>) -> String {
    global
        .name
        .map_or_else(|| format!("#{}", global.index), str::to_owned)
}

/// The words of the shadow stack, from its top up to the heap base.
pub fn stack_words<'a>(dump: &Dump<'a>) -> impl Iterator<Item = u32> + 'a {
    let length = dump.heap_base.0.saturating_sub(dump.stack_pointer.0);
    let words = dump.memory.words_at(dump.stack_pointer, length / 4);
    words.into_iter().flatten()
}

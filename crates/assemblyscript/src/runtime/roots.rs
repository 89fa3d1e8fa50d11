//! The roots of the collector: managed globals, the shadow stack, pinned objects.

use std::collections::{BTreeSet, HashMap};

use super::classes::Classes;
use super::collector::global_value;
use super::declared_types::DeclaredType;
use super::evidence::DumpEvidence;
use base::units::{Address, GlobalIndex};
use dumps::Dump;
use runtime_code::collector_code::VisitedGlobal;
use wasm::debug_info::{GlobalVariable, Producer, TypeRef};
use wasm::module::{Global, Module};

/// A global variable that may hold a reference.
#[derive(Clone, Debug)]
pub struct GlobalRoot {
    /// The variable's name, or a replacement for it.
    pub name: String,
    /// Its value; `None` if it is not known.
    pub value: Option<Address>,
    /// The evidence that this is a reference.
    pub certainty: Certainty,
}

/// The evidence that a global holds a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// The collector's code visits it.
    Visited,
    /// The debug information declares it.
    Declared,
    /// It may hold anything.
    Possible,
    /// The debug information does not declare it, and there is no second source: it may hold anything.
    Undeclared,
}

/// The globals from which the collector starts.
#[derive(Clone, Debug, Default)]
pub struct GlobalRoots {
    /// The globals; several may refer to the same object.
    pub roots: Vec<GlobalRoot>,
    /// Globals that the collector visits but the debug information does not have, or the other way round.
    /// Both are followed, so that no live object is missed.
    pub disputed: Vec<String>,
    /// Whether static objects may be additional roots.
    pub static_roots: StaticRoots,
    /// What variables refer to, as far as their types are classes.
    pub declared: Vec<DeclaredGlobal>,
}

/// The value of a variable whose declared type is a class.
#[derive(Clone, Debug)]
pub struct DeclaredGlobal {
    /// What it refers to.
    pub value: Address,
    /// The name of the class, as `names_of_bases` has it.
    pub class_name: String,
}

/// Whether static objects may be roots because their addresses are constants in the code. In optimised
/// builds, globals that never change become constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StaticRoots {
    /// All roots are known.
    #[default]
    Known,
    /// The debug information may leave out constants.
    Incomplete,
    /// The roots are not known. The globals are all globals that may hold an object.
    Unknown,
}

impl GlobalRoots {
    /// Finds the globals that may hold references: those that the collector's code visits, otherwise those
    /// that the debug information declares, otherwise all; if the two sources disagree, those of both.
    pub fn find(
        evidence: &DumpEvidence<'_>,
        classes: &Classes<'_>,
        module: &Module<'_>,
        dump: &Dump<'_>,
    ) -> Self {
        Self {
            declared: declared_globals(evidence, classes, module, dump),
            ..Self::find_roots(evidence, classes, module, dump)
        }
    }

    fn find_roots(
        evidence: &DumpEvidence<'_>,
        classes: &Classes<'_>,
        module: &Module<'_>,
        dump: &Dump<'_>,
    ) -> Self {
        let visited = evidence.code.as_deref().map(|code| code.roots());
        let declared: Vec<_> = evidence
            .debug_info
            .globals
            .iter()
            .filter(|variable| classes.is_root(variable.type_ref))
            .collect();
        match visited {
            Some(visited) => {
                let disputed = if evidence.has_debug_info {
                    disputed_globals(visited, &declared, module)
                } else {
                    Vec::new()
                };
                let mut by_initial = HashMap::new();
                for variable in &declared {
                    if let Some(initial) = variable.initial {
                        by_initial.entry(initial).or_insert(*variable);
                    }
                }
                let visited = visited
                    .iter()
                    .map(|&visited| visited_root(visited, &by_initial, module, dump));
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
                    static_roots: StaticRoots::Known,
                    ..Self::default()
                }
            }
            None if evidence.has_debug_info => Self {
                roots: declared
                    .iter()
                    .filter(|variable| {
                        locate(variable, module).is_some()
                            || !classes.is_pointer_free(variable.type_ref)
                    })
                    .map(|variable| declared_root(variable, module, dump))
                    .chain(undeclared_roots(&evidence.debug_info.globals, module, dump))
                    .collect(),
                static_roots: if lists_all_roots(evidence, module) {
                    StaticRoots::Known
                } else {
                    StaticRoots::Incomplete
                },
                ..Self::default()
            },
            None => Self {
                roots: all_globals(module, dump),
                static_roots: StaticRoots::Unknown,
                ..Self::default()
            },
        }
    }
}

/// Whether the debug information has all roots. This is the case unless the build is optimised. Constants of
/// the standard library are among the first that an optimiser removes.
fn lists_all_roots(evidence: &DumpEvidence<'_>, module: &Module<'_>) -> bool {
    let mut names = module.globals.iter().filter_map(|global| global.name);
    evidence.debug_info.producer == Producer::Transform
        || names.any(|name| {
            name.starts_with("~lib/native/") || name.starts_with("~lib/shared/runtime/")
        })
}

/// The variables whose values are addresses, and whose declared types are classes of which all names are known.
fn declared_globals(
    evidence: &DumpEvidence<'_>,
    classes: &Classes<'_>,
    module: &Module<'_>,
    dump: &Dump<'_>,
) -> Vec<DeclaredGlobal> {
    let variables = evidence.debug_info.globals.iter();
    let declared = variables.filter_map(|variable| {
        let DeclaredType::Class(class_name) = classes.declared(variable.type_ref) else {
            return None;
        };
        let value = declared_root(variable, module, dump).value?;
        (value.0 != 0).then(|| DeclaredGlobal {
            value,
            class_name: class_name.to_owned(),
        })
    });
    declared.collect()
}

/// The globals that the debug information does not declare at all, and that are not the runtime's own by their names.
fn undeclared_roots(
    declared: &[GlobalVariable],
    module: &Module<'_>,
    dump: &Dump<'_>,
) -> Vec<GlobalRoot> {
    let located = declared
        .iter()
        .filter_map(|variable| locate(variable, module));
    let located: BTreeSet<GlobalIndex> = located.map(|global| global.index).collect();
    let globals = module.globals.iter().filter(|global| global.is_i32);
    let others = globals.filter(|global| {
        let is_of_runtime = global.name.is_some_and(|name| name.starts_with("~lib/rt/"));
        !is_of_runtime && !located.contains(&global.index)
    });
    let roots = others.map(|global| GlobalRoot {
        name: global_name(global),
        value: global_value(global, dump).map(Address),
        certainty: Certainty::Undeclared,
    });
    roots.collect()
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

fn visited_root(
    visited: VisitedGlobal,
    by_initial: &HashMap<u32, &GlobalVariable>,
    module: &Module<'_>,
    dump: &Dump<'_>,
) -> GlobalRoot {
    let (name, value) = match visited {
        VisitedGlobal::Global(index) => match module.globals.get(index) {
            Some(global) => (global_name(global), global_value(global, dump)),
            None => (format!("#{index}"), None),
        },
        VisitedGlobal::Constant(address) => {
            let variable = by_initial.get(&address.0);
            let name = variable
                .map(|variable| variable.name.clone())
                .unwrap_or_else(|| format!("(constant {address})"));
            (name, Some(address.0))
        }
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

/// Mutable globals that only one source has. Constants are left out, because the optimiser decides which of
/// them are globals.
fn disputed_globals(
    visited: &BTreeSet<VisitedGlobal>,
    declared: &[&GlobalVariable],
    module: &Module<'_>,
) -> Vec<String> {
    let constants: BTreeSet<u32> = visited
        .iter()
        .filter_map(|visited| match visited {
            VisitedGlobal::Global(_) => None,
            VisitedGlobal::Constant(address) => Some(address.0),
        })
        .collect();
    let visited: BTreeSet<GlobalIndex> = visited
        .iter()
        .filter_map(|visited| match visited {
            VisitedGlobal::Global(index) => Some(*index),
            VisitedGlobal::Constant(_) => None,
        })
        .collect();
    let are_located = declared.iter().all(|variable| variable.location.is_some());
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
        // A variable that is never assigned may be a constant in the code, although its global still exists.
        .filter(|global| {
            !global
                .initial
                .is_some_and(|initial| constants.contains(&initial))
        })
        // Otherwise variables are found by name, so a name is needed.
        .filter(|global| are_located || global.name.is_some())
        .map(global_name)
        .collect()
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

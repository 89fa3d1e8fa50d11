//! Where the collector starts: managed globals, the shadow stack, pinned objects.

use super::classes::Classes;
use super::collector::global_value;
use crate::debug_info::{DebugInfo, GlobalVariable, TypeRef};
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
pub struct GlobalRoot<'a> {
    /// The variable's name.
    pub name: &'a str,
    /// The wasm global, if there still is one.
    pub index: Option<GlobalIndex>,
    /// What it held; `None` if that cannot be known.
    pub value: Option<Address>,
    /// Whether anything but an object or null would be wrong.
    pub is_certain: bool,
}

/// Every global variable that the debug information declares as a possible reference.
pub fn global_roots<'a>(
    debug_info: &'a DebugInfo,
    classes: &Classes<'_>,
    module: &Module<'_>,
    dump: &Dump<'_>,
) -> Vec<GlobalRoot<'a>> {
    let references = debug_info
        .globals
        .iter()
        .filter(|variable| classes.is_reference(variable.type_ref));
    references
        .map(|variable| {
            let global = locate(variable, module);
            let value = match global {
                Some(global) => global_value(global, dump),
                // Optimisation removed the global because nothing assigns it.
                None => variable.initial,
            };
            GlobalRoot {
                name: &variable.name,
                index: global.map(|global| global.index),
                value: value.map(Address),
                is_certain: matches!(variable.type_ref, TypeRef::Class(_)),
            }
        })
        .collect()
}

fn locate<'m, 'a>(variable: &GlobalVariable, module: &'m Module<'a>) -> Option<&'m Global<'a>> {
    match variable.location {
        Some(index) => module.globals.get(index),
        None => module.globals.named(&variable.name),
    }
    .filter(|global| global.is_i32)
}

/// The words of the shadow stack, from its top up to the heap base.
pub fn stack_words<'a>(dump: &Dump<'a>) -> impl Iterator<Item = u32> + 'a {
    let length = dump.heap_base.0.saturating_sub(dump.stack_pointer.0);
    let words = dump.memory.words_at(dump.stack_pointer, length / 4);
    words.into_iter().flatten()
}

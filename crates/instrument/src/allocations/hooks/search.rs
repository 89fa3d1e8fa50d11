//! Functions of a module by name and type.

use std::collections::BTreeMap;

use wasmparser::ValType;

use super::super::types::Types;
use super::hook::{Hook, HookKind};
use wasm::module::Module;

/// Functions by name, with their types.
pub(super) struct FunctionsByName<'s, 'm> {
    pub(super) module: &'s Module<'m>,
    pub(super) types: &'s Types,
    named: BTreeMap<&'m str, Vec<u32>>,
}

impl<'s, 'm> FunctionsByName<'s, 'm> {
    pub(super) fn new(module: &'s Module<'m>, types: &'s Types) -> Self {
        let mut named: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (function, _) in module.functions.defined() {
            if let Some(name) = module.functions.name(function) {
                named.entry(name).or_default().push(function);
            }
        }
        // A name of the program's own is better than that of an export.
        for (name, function) in module.functions.exports() {
            if module.functions.body(function).is_some() && !named.contains_key(name) {
                named.insert(name, vec![function]);
            }
        }
        Self {
            module,
            types,
            named,
        }
    }

    pub(super) fn names_ending(&self, end: &str) -> impl Iterator<Item = &'m str> {
        self.named
            .keys()
            .copied()
            .filter(move |name| name.ends_with(end))
    }

    pub(super) fn names_starting(&self, start: &str) -> impl Iterator<Item = &'m str> {
        self.named
            .keys()
            .copied()
            .filter(move |name| name.starts_with(start))
    }

    /// Functions with this name and as many i32 parameters and results.
    pub(super) fn functions(&self, name: &str, parameters: usize, results: usize) -> Vec<u32> {
        let fits = |function: &&u32| {
            let ty = self.types.of(self.module, **function);
            ty.is_some_and(|ty| {
                let all_i32 = |types: &[ValType]| types.iter().all(|&ty| ty == ValType::I32);
                (ty.params().len(), ty.results().len()) == (parameters, results)
                    && all_i32(ty.params())
                    && all_i32(ty.results())
            })
        };
        let found = self.named.get(name).into_iter().flatten();
        found.filter(fits).copied().collect()
    }

    /// Adds functions with this name and as many i32 parameters and results.
    pub(super) fn add(
        &self,
        list: &mut Vec<Hook>,
        name: &'static str,
        (parameters, results): (usize, usize),
        kind: HookKind,
    ) {
        for function in self.functions(name, parameters, results) {
            list.push(Hook {
                function,
                name,
                kind,
            });
        }
    }
}

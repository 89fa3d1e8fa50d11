//! The functions of a module: signatures, names, exports and bodies. Bodies are kept as bytes and decoded
//! only when they are needed.

use super::unreadable::unreadable;
use std::collections::HashMap;

use wasmparser::{CompositeInnerType, FunctionBody, NameMap, TypeSectionReader};

use base::control::Control;
use base::error::Result;

/// The number of parameters and results of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// The number of parameters.
    pub parameters: u32,
    /// The number of results.
    pub results: u32,
}

/// The host of a Go program in JavaScript; until Go 1.20, it was called `go`.
const GO_HOSTS: [&str; 2] = ["gojs", "go"];

/// The module and the name of an imported function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Import<'a> {
    module: &'a str,
    name: &'a str,
}

/// All functions of a module, imported ones first.
#[derive(Debug, Default)]
pub struct Functions<'a> {
    /// Type index → signature; `None` for types that are not functions.
    types: Vec<Option<Signature>>,
    /// Function index → type index.
    type_of: Vec<u32>,
    imports: Vec<Import<'a>>,
    bodies: Vec<FunctionBody<'a>>,
    code_size: u64,
    names: HashMap<u32, &'a str>,
    exports: HashMap<&'a str, u32>,
    start: Option<u32>,
}

impl<'a> Functions<'a> {
    /// The signature of a type.
    pub fn signature_of_type(&self, type_index: u32) -> Option<Signature> {
        *self.types.get(type_index as usize)?
    }

    /// The signature of a function.
    pub fn signature(&self, function: u32) -> Option<Signature> {
        self.signature_of_type(*self.type_of.get(function as usize)?)
    }

    /// The body of a function; `None` for imported ones.
    pub fn body(&self, function: u32) -> Option<&FunctionBody<'a>> {
        self.bodies
            .get(function.checked_sub(self.imported())? as usize)
    }

    /// All functions that have a body, with their indexes.
    pub fn defined(&self) -> impl Iterator<Item = (u32, &FunctionBody<'a>)> {
        (self.imported()..).zip(&self.bodies)
    }

    /// The number of imported functions, which have the first indexes.
    pub fn imported(&self) -> u32 {
        self.imports.len() as u32
    }

    /// The names of the imported functions.
    pub fn imports(&self) -> impl Iterator<Item = &'a str> {
        self.imports.iter().map(|import| import.name)
    }

    /// The index of a function's type.
    pub fn type_index(&self, function: u32) -> Option<u32> {
        self.type_of.get(function as usize).copied()
    }

    /// The exported functions by name, in no particular order.
    pub fn exports(&self) -> impl Iterator<Item = (&'a str, u32)> {
        self.exports
            .iter()
            .map(|(&name, &function)| (name, function))
    }

    /// The bytes of all bodies.
    pub fn code_size(&self) -> u64 {
        self.code_size
    }

    /// The name of a function in the `name` section.
    pub fn name(&self, function: u32) -> Option<&'a str> {
        self.names.get(&function).copied()
    }

    /// Whether there are any names.
    pub fn are_named(&self) -> bool {
        !self.names.is_empty()
    }

    /// The function with this name; if there are several, the first.
    pub fn named(&self, name: &str) -> Option<u32> {
        let named = self.names.iter().filter(|entry| *entry.1 == name);
        named.map(|(&function, _)| function).min()
    }

    /// The language whose own allocator is among the defined functions, by the name of one or by what the host gives it:
    /// its heap is not read.
    pub fn foreign_allocator(&self) -> Option<&'static str> {
        // Both languages have this host; only Go passes its arguments on a stack that the host asks for.
        let is_go_host = |import: &Import<'_>| {
            GO_HOSTS.contains(&import.module) && import.name.starts_with("runtime.")
        };
        if self.imports.iter().any(is_go_host) {
            let is_go = self.exported("getsp").is_some();
            return Some(if is_go { "Go" } else { "TinyGo" });
        }
        let mut names = self
            .defined()
            .filter_map(|(function, _)| self.name(function));
        names.find_map(|name| match name {
            "runtime.mallocgc" => Some("Go"),
            "runtime.alloc" | "(runtime.gcBlock).findHead" => Some("TinyGo"),
            _ => None,
        })
    }

    /// The function that is exported under this name.
    pub fn exported(&self, name: &str) -> Option<u32> {
        self.exports.get(name).copied()
    }

    /// The function that runs at instantiation.
    pub fn start(&self) -> Option<u32> {
        self.start
    }

    pub(super) fn set_start(&mut self, function: u32) {
        self.start = Some(function);
    }

    pub(super) fn add_export(&mut self, name: &'a str, function: u32) {
        self.exports.insert(name, function);
    }

    pub(super) fn read_types(
        &mut self,
        section: TypeSectionReader<'a>,
        control: &Control,
    ) -> Result<()> {
        for group in section {
            control.count(1)?;
            for ty in group.map_err(unreadable)?.into_types() {
                self.types.push(match &ty.composite_type.inner {
                    CompositeInnerType::Func(function) => Some(Signature {
                        parameters: function.params().len() as u32,
                        results: function.results().len() as u32,
                    }),
                    _ => None,
                });
            }
        }
        Ok(())
    }

    pub(super) fn add_imported(&mut self, module: &'a str, name: &'a str, type_index: u32) {
        self.type_of.push(type_index);
        self.imports.push(Import { module, name });
    }

    pub(super) fn add_defined(&mut self, type_index: u32) {
        self.type_of.push(type_index);
    }

    pub(super) fn add_body(&mut self, body: FunctionBody<'a>) {
        self.code_size += body.as_bytes().len() as u64;
        self.bodies.push(body);
    }

    pub(super) fn read_names(&mut self, map: NameMap<'a>, control: &Control) -> Result<()> {
        for naming in map {
            control.count(1)?;
            let naming = naming.map_err(unreadable)?;
            self.names.insert(naming.index, naming.name);
        }
        Ok(())
    }
}

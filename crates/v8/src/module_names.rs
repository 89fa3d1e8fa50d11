//! Names that a module of WasmGC gives to its types, fields and globals, put in place of V8's numbers.
//!
//! V8 writes `$Player (wasm)` and `$score` if the module that runs has a `name` section. If it was stripped, types are
//! `$canon3 (wasm)`, by a number that holds for all modules of the process, and fields are `$field0`. The instance says
//! which type is which: it refers to V8's map of each type in the order of the module, and each object refers to its
//! map.

use std::collections::HashMap;

use super::SnapshotError;
use super::raw::{EdgeKind, NodeKind, RawSnapshot};
use base::control::{CHECK_INTERVAL, Control};
use base::error::Result;
use heap::{NameKind, WideLabel};

/// What a module calls its types and globals, all without the `$` of the text format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleNames {
    /// By index of the type, of all types of the module.
    pub types: Vec<TypeNames>,
    /// The globals that the instance keeps, in the order of V8's buffer for values of reference types.
    pub globals: Vec<Option<String>>,
}

/// What a module calls a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeNames {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The names of its fields, as far as they have one, by number.
    pub fields: HashMap<u32, String>,
}

const INSTANCE: &[u8] = b"system / WasmTrustedInstanceData";
const MAPS: &[u8] = b"managed_object_maps";
const GLOBALS: &[u8] = b"tagged_globals_buffer";
const MAP: &[u8] = b"map";
const OBJECT: &[u8] = b" (wasm)";
const FIELD: &[u8] = b"$field";

/// The most names that are added.
const MOST_ADDED: usize = 1 << 20;

impl RawSnapshot {
    /// Puts the names of a module in place of those that V8 made of numbers.
    ///
    /// # Errors
    /// [`SnapshotError::OtherModule`] if no instance has as many types as the module, [`Error::OutOfMemory`],
    /// [`Error::Aborted`].
    pub(super) fn name_by_module(&mut self, names: &ModuleNames, control: &Control) -> Result<()> {
        let mut naming = Naming {
            raw: self,
            names,
            added: HashMap::new(),
        };
        let types = naming.instances(control)?;
        if types.is_empty() {
            return Err(SnapshotError::OtherModule.into());
        }
        naming.objects(&types, control)
    }
}

struct Naming<'n> {
    raw: &'n mut RawSnapshot,
    names: &'n ModuleNames,
    /// The numbers of names that were added.
    added: HashMap<String, u32>,
}

impl Naming<'_> {
    /// The type of each map of all instances of the module. Names their globals.
    fn instances(&mut self, control: &Control) -> Result<HashMap<u32, usize>> {
        let mut types = HashMap::new();
        for node in 0..self.raw.len() as u32 {
            if (node as usize).is_multiple_of(CHECK_INTERVAL) {
                control.check()?;
            }
            // Node writes instances as hidden objects, Chromium as native ones.
            if self.raw.kind(node).is_string() || self.raw.name(node) != INSTANCE {
                continue;
            }
            let Some(maps) = self
                .child(node, MAPS)
                .filter(|&maps| self.is_of_types(maps))
            else {
                continue;
            };
            for edge in self.raw.edges(maps) {
                if let Some(nth) = self.index(edge) {
                    types.entry(self.raw.edge_targets[edge]).or_insert(nth);
                }
            }
            if let Some(globals) = self.child(node, GLOBALS) {
                self.globals(globals)?;
            }
        }
        Ok(types)
    }

    /// Whether an array of V8 has an element for each type of the module. Compressed pointers have four bytes.
    fn is_of_types(&self, maps: u32) -> bool {
        let count = self.names.types.len() as u64;
        let size = self.raw.sizes.get(maps);
        let is_size = [4, 8].iter().any(|pointer| size == pointer * (count + 2));
        let mut indexes = self.raw.edges(maps).filter_map(|edge| self.index(edge));
        is_size && indexes.all(|nth| (nth as u64) < count)
    }

    fn globals(&mut self, buffer: u32) -> Result<()> {
        for edge in self.raw.edges(buffer) {
            let nth = self.index(edge);
            let name = nth.and_then(|nth| self.names.globals.get(nth)?.as_ref());
            if let Some(number) = self.number(name.map(|name| format!("${name}")))? {
                self.raw.edge_labels[edge] = WideLabel::named(NameKind::Internal, number);
            }
        }
        Ok(())
    }

    /// Names the objects with these maps, and their fields.
    fn objects(&mut self, types: &HashMap<u32, usize>, control: &Control) -> Result<()> {
        for node in 0..self.raw.len() as u32 {
            if (node as usize).is_multiple_of(CHECK_INTERVAL) {
                control.check()?;
            }
            if self.raw.kind(node) != NodeKind::Object || !self.raw.name(node).ends_with(OBJECT) {
                continue;
            }
            let nth = self.child(node, MAP).and_then(|map| types.get(&map));
            let Some(ty) = nth.and_then(|&nth| self.names.types.get(nth)) else {
                continue;
            };
            let name = ty.name.as_ref().map(|name| format!("${name} (wasm)"));
            if let Some(number) = self.number(name)? {
                self.raw.names[node as usize] = number;
            }
            for edge in self.raw.edges(node) {
                if self.raw.edge_kind(edge) != EdgeKind::Property {
                    continue;
                }
                let name = self.raw.strings.bytes(self.raw.edge_labels[edge].number());
                let field = name.strip_prefix(FIELD).and_then(number_of);
                let name = field.and_then(|field| ty.fields.get(&field));
                if let Some(number) = self.number(name.map(|name| format!("${name}")))? {
                    self.raw.edge_labels[edge] = EdgeKind::Property.label(number);
                }
            }
        }
        Ok(())
    }

    /// The number of a name, which is added if it is new; `None` without a name, and after the most.
    fn number(&mut self, name: Option<String>) -> Result<Option<u32>> {
        let Some(name) = name else {
            return Ok(None);
        };
        if let Some(&number) = self.added.get(&name) {
            return Ok(Some(number));
        }
        if self.added.len() >= MOST_ADDED {
            return Ok(None);
        }
        let number = self.raw.strings.add(name.as_bytes())?;
        self.added.insert(name, number);
        Ok(Some(number))
    }

    /// The target of an internal edge.
    fn child(&self, node: u32, name: &[u8]) -> Option<u32> {
        let mut edges = self.raw.edges(node);
        let edge = edges.find(|&edge| self.internal_name(edge) == Some(name))?;
        Some(self.raw.edge_targets[edge])
    }

    /// The number that V8 names an element of its own arrays by.
    fn index(&self, edge: usize) -> Option<usize> {
        let index = self.internal_name(edge).and_then(number_of)?;
        Some(index as usize)
    }

    fn internal_name(&self, edge: usize) -> Option<&[u8]> {
        let is_internal = self.raw.edge_kind(edge) == EdgeKind::Internal;
        is_internal.then(|| self.raw.strings.bytes(self.raw.edge_labels[edge].number()))
    }
}

fn number_of(digits: &[u8]) -> Option<u32> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
    text.parse().ok()
}

//! The globals of a module: which are mutable i32 (their values are in the dump), their names, and their
//! initial values.

use super::unreadable::unreadable;
use std::collections::HashMap;

use wasmparser::{GlobalType, NameMap, Operator, ValType};

use base::control::Control;
use base::error::Result;
use base::units::GlobalIndex;

/// The name of the global in which the allocator keeps the address of its root: 0 before the first allocation,
/// and then the heap base, rounded up.
pub const TLSF_ROOT: &str = "~lib/rt/tlsf/ROOT";

/// One global.
#[derive(Clone, Debug)]
pub struct Global<'a> {
    /// Its index.
    pub index: GlobalIndex,
    /// Whether its type is i32; addresses always are.
    pub is_i32: bool,
    /// Whether the program can change it.
    pub mutable: bool,
    /// Its name in the `name` section.
    pub name: Option<&'a str>,
    /// Its initial value, if it is an i32 that is known from the module alone.
    pub initial: Option<u32>,
    /// The bits of its value, whatever its type, if the program cannot change it and the module alone says it.
    pub constant: Option<u64>,
    /// Its position among the mutable i32 globals, which is the position of its value in a dump.
    pub dump_position: Option<u32>,
}

/// All globals of a module, in index order.
#[derive(Debug, Default)]
pub struct Globals<'a> {
    all: Vec<Global<'a>>,
    mutable_i32: u32,
    mutable_i64: u32,
    exports: HashMap<&'a str, GlobalIndex>,
    /// The first global of each name.
    names: HashMap<&'a str, GlobalIndex>,
}

impl<'a> Globals<'a> {
    /// The number of values in a complete dump: the number of mutable i32 globals.
    pub fn mutable_i32_count(&self) -> u32 {
        self.mutable_i32
    }

    /// The number of mutable i64 globals, which may hold addresses too, but are in no dump.
    pub fn mutable_i64_count(&self) -> u32 {
        self.mutable_i64
    }

    /// The value that an instruction pushes, if it is always the same i32: unoptimised code reads `__data_end` from its
    /// global.
    pub fn constant(&self, operator: &Operator<'_>) -> Option<u32> {
        match operator {
            Operator::I32Const { value } => Some(*value as u32),
            Operator::GlobalGet { global_index } => {
                let global = self.get(GlobalIndex(*global_index))?;
                global.initial.filter(|_| !global.mutable)
            }
            _ => None,
        }
    }

    /// The global with this index.
    pub fn get(&self, index: GlobalIndex) -> Option<&Global<'a>> {
        self.all.get(index.0 as usize)
    }

    /// The global with this name in the `name` section.
    pub fn named(&self, name: &str) -> Option<&Global<'a>> {
        // A damaged name section may rename a global later.
        let global = self.get(*self.names.get(name)?)?;
        (global.name == Some(name)).then_some(global)
    }

    /// The global that is exported under this name.
    pub fn exported(&self, name: &str) -> Option<&Global<'a>> {
        self.get(*self.exports.get(name)?)
    }

    /// All globals in index order.
    pub fn iter(&self) -> std::slice::Iter<'_, Global<'a>> {
        self.all.iter()
    }

    /// Adds a global that the host makes, with its value if that is known.
    pub(super) fn add_imported(&mut self, ty: GlobalType, value: Option<u32>) {
        self.add(ty, value, None);
    }

    pub(super) fn add_defined(&mut self, global: &wasmparser::Global<'a>) {
        let initial = self.evaluate(&global.init_expr);
        let wide = self.single(&global.init_expr);
        self.add(global.ty, initial, wide);
    }

    pub(super) fn add_export(&mut self, name: &'a str, index: u32) {
        self.exports.insert(name, GlobalIndex(index));
    }

    pub(super) fn read_names(&mut self, map: NameMap<'a>, control: &Control) -> Result<()> {
        for naming in map {
            control.count(1)?;
            let naming = naming.map_err(unreadable)?;
            if let Some(global) = self.all.get_mut(naming.index as usize) {
                global.name = Some(naming.name);
                let first = self.names.entry(naming.name).or_insert(global.index);
                *first = global.index.min(*first);
            }
        }
        Ok(())
    }

    /// Adds a global with its initial value as an i32, and the bits of it if one instruction makes it.
    fn add(&mut self, ty: GlobalType, initial: Option<u32>, single: Option<u64>) {
        let is_i32 = ty.content_type == ValType::I32;
        let in_dump = is_i32 && ty.mutable;
        self.all.push(Global {
            index: GlobalIndex(self.all.len() as u32),
            is_i32,
            mutable: ty.mutable,
            name: None,
            initial: initial.filter(|_| is_i32),
            constant: if is_i32 {
                initial.map(u64::from)
            } else {
                single
            }
            .filter(|_| !ty.mutable),
            dump_position: in_dump.then_some(self.mutable_i32),
        });
        self.mutable_i32 += u32::from(in_dump);
        self.mutable_i64 += u32::from(ty.mutable && ty.content_type == ValType::I64);
    }

    /// The bits of the number that one instruction makes.
    fn single(&self, init: &wasmparser::ConstExpr<'a>) -> Option<u64> {
        let mut operators = init.get_operators_reader().into_iter();
        let value = match operators.next()?.ok()? {
            Operator::I64Const { value } => value as u64,
            Operator::F32Const { value } => value.bits().into(),
            Operator::F64Const { value } => value.bits(),
            Operator::GlobalGet { global_index } => self.all.get(global_index as usize)?.constant?,
            _ => return None,
        };
        matches!(operators.next(), Some(Ok(Operator::End))).then_some(value)
    }

    /// The value of a constant expression over i32, if the module alone determines it (the host sets the
    /// values of imported globals).
    pub(super) fn evaluate(&self, init: &wasmparser::ConstExpr<'a>) -> Option<u32> {
        let mut stack: Vec<u32> = Vec::new();
        for operator in init.get_operators_reader() {
            let value = match operator.ok()? {
                Operator::I32Const { value } => value as u32,
                Operator::GlobalGet { global_index } => {
                    self.all
                        .get(global_index as usize)
                        .filter(|global| !global.mutable)?
                        .initial?
                }
                Operator::I32Add => {
                    let right = stack.pop()?;
                    stack.pop()?.wrapping_add(right)
                }
                Operator::I32Sub => {
                    let right = stack.pop()?;
                    stack.pop()?.wrapping_sub(right)
                }
                Operator::I32Mul => {
                    let right = stack.pop()?;
                    stack.pop()?.wrapping_mul(right)
                }
                Operator::End => break,
                _ => return None,
            };
            stack.push(value);
        }
        stack.pop()
    }
}

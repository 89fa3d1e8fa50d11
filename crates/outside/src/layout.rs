//! How engines keep the globals of an instance, and which values a place must have to be them.

use instrument::{Boundary, DumpGlobals};
use wasmparser::{ConstExpr, Operator, Parser, Payload, TypeRef, ValType};

use base::error::Result;
use wasm::module::unreadable;

/// Which engine's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// V8: one after another, each at a multiple of its size. References are elsewhere.
    BySize,
    /// wasmtime: 16 bytes each, of which the rest is zero.
    Slots,
}

/// A global of the module, as it lies in the process.
#[derive(Clone, Copy, Debug)]
struct Lying {
    ty: ValType,
    /// Whether it is imported and can change: its value is elsewhere.
    is_elsewhere: bool,
    is_imported: bool,
    is_mutable: bool,
    /// Its bits, or its first bits if it can change, if the module says them.
    value: Option<u64>,
}

/// What a module says of its globals.
#[derive(Debug)]
pub struct GlobalLayout {
    all: Vec<Lying>,
    /// Which are in a dump, and where the boundaries are.
    dump: DumpGlobals,
}

/// The values of a dump's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderValues {
    /// `__data_end`, `__heap_base`, `__stack_pointer`.
    pub boundaries: [u32; 3],
    /// The mutable i32 globals.
    pub globals: Vec<u32>,
}

/// What says that a place is that of the globals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlaceEvidence {
    /// Its address is where V8 keeps it in an instance.
    ByPlace,
    /// Only the values.
    ByValues,
}

/// Values above this do not occur by chance as often as small ones.
const TELLING: u64 = 4096;
/// How many telling values a place must have.
const ENOUGH: usize = 3;

impl GlobalLayout {
    /// Reads a module.
    ///
    /// # Errors
    /// As [`DumpGlobals::find`].
    pub fn of(wasm: &[u8]) -> Result<Self> {
        let dump = DumpGlobals::find(wasm)?;
        let mut all: Vec<Lying> = Vec::new();
        for payload in Parser::new(0).parse_all(wasm) {
            match payload.map_err(unreadable)? {
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        if let TypeRef::Global(ty) = import.map_err(unreadable)?.ty {
                            all.push(Lying {
                                ty: ty.content_type,
                                is_elsewhere: ty.mutable,
                                is_imported: true,
                                is_mutable: ty.mutable,
                                value: None,
                            });
                        }
                    }
                }
                Payload::GlobalSection(section) => {
                    for global in section {
                        let global = global.map_err(unreadable)?;
                        all.push(Lying {
                            ty: global.ty.content_type,
                            is_elsewhere: false,
                            is_imported: false,
                            is_mutable: global.ty.mutable,
                            value: constant(&global.init_expr, &all),
                        });
                    }
                }
                Payload::CodeSectionStart { .. } => break,
                _ => {}
            }
        }
        Ok(Self { all, dump })
    }

    /// How many bytes the globals have, and where each lies in them.
    fn places(&self, packing: Packing) -> (usize, Vec<Option<usize>>) {
        let mut end = 0_usize;
        let mut next = |size: usize| {
            let at = end.next_multiple_of(size);
            end = at + size;
            Some(at)
        };
        let places = self
            .all
            .iter()
            .map(|global| match (packing, size_of(global.ty)) {
                _ if global.is_elsewhere => None,
                (Packing::BySize, size) => size.and_then(&mut next),
                (Packing::Slots, _) if global.is_imported => None,
                (Packing::Slots, _) => next(16),
            })
            .collect();
        (end, places)
    }

    /// How many bytes the globals have.
    pub fn size(&self, packing: Packing) -> usize {
        self.places(packing).0
    }

    /// Reads the values at a place, if it can be the place of the globals: every constant has its value, the stack
    /// pointer is between its bounds, and enough of the values are telling.
    pub fn read(
        &self,
        packing: Packing,
        bytes: &[u8],
        memory_size: u64,
        evidence: PlaceEvidence,
    ) -> Option<HeaderValues> {
        let (size, places) = self.places(packing);
        if size == 0 || bytes.len() < size {
            return None;
        }
        let mut telling = 0;
        let mut words = vec![None; self.all.len()];
        for (nth, (global, place)) in self.all.iter().zip(places).enumerate() {
            let Some(at) = place else { continue };
            let width = size_of(global.ty).unwrap_or(8).min(8);
            let mut value = [0; 8];
            value[..width].copy_from_slice(&bytes[at..at + width]);
            let value = u64::from_le_bytes(value);
            if packing == Packing::Slots && width == 4 && bytes[at + 4..at + 16] != [0; 12] {
                return None;
            }
            words[nth] = Some(value);
            let is_constant = !global.is_mutable && global.value.is_some();
            if is_constant && global.value != Some(value) {
                return None;
            }
            let is_address = global.ty == ValType::I32 && value < memory_size;
            if value > TELLING && (is_constant || is_address && value.is_multiple_of(4)) {
                telling += 1;
            }
        }
        let values = self.header(&words)?;
        let is_known = self.is_stack_pointer_possible(&values)? || self.has_constants();
        let enough = match evidence {
            PlaceEvidence::ByPlace => 1,
            PlaceEvidence::ByValues => ENOUGH,
        };
        (is_known && telling >= enough).then_some(values)
    }

    fn header(&self, words: &[Option<u64>]) -> Option<HeaderValues> {
        let word = |nth: u32| Some(words.get(nth as usize).copied()?? as u32);
        let mut boundaries = [0; 3];
        for (value, boundary) in boundaries.iter_mut().zip(self.dump.boundaries) {
            *value = match boundary {
                Boundary::Global(index) => word(index.0)?,
                Boundary::Folded(constant) => constant,
            };
        }
        let globals = self.dump.values.iter().map(|index| word(index.0));
        Some(HeaderValues {
            boundaries,
            globals: globals.collect::<Option<_>>()?,
        })
    }

    /// Whether the stack pointer is between its bounds, if it is in a global; `None` if it is outside of them.
    fn is_stack_pointer_possible(&self, values: &HeaderValues) -> Option<bool> {
        let [data_end, heap_base, stack_pointer] = values.boundaries;
        let [.., Boundary::Global(index)] = self.dump.boundaries else {
            return Some(false);
        };
        let top = if heap_base == 0 {
            self.all.get(index.0 as usize)?.value? as u32
        } else {
            heap_base
        };
        // Compilers of C keep it aligned to 16, and AssemblyScript to 4.
        let alignment = if heap_base == 0 { 16 } else { 4 };
        let is_inside = stack_pointer > 0
            && stack_pointer.is_multiple_of(alignment)
            && (data_end..=top).contains(&stack_pointer);
        is_inside.then_some(true)
    }

    fn has_constants(&self) -> bool {
        let is_telling = |global: &&Lying| {
            !global.is_mutable && global.value.is_some_and(|value| value > TELLING)
        };
        self.all.iter().filter(is_telling).count() >= ENOUGH
    }
}

/// The bytes of a value; none of a reference.
fn size_of(ty: ValType) -> Option<usize> {
    match ty {
        ValType::I32 | ValType::F32 => Some(4),
        ValType::I64 | ValType::F64 => Some(8),
        ValType::V128 => Some(16),
        ValType::Ref(_) => None,
    }
}

/// The bits of an initial value, if the module says them.
fn constant(expression: &ConstExpr<'_>, before: &[Lying]) -> Option<u64> {
    let mut operators = expression.get_operators_reader();
    let value = match operators.read().ok()? {
        Operator::I32Const { value } => u64::from(value as u32),
        Operator::I64Const { value } => value as u64,
        Operator::F32Const { value } => u64::from(value.bits()),
        Operator::F64Const { value } => value.bits(),
        Operator::GlobalGet { global_index } => {
            let global = before.get(global_index as usize)?;
            global.value.filter(|_| !global.is_mutable)?
        }
        _ => return None,
    };
    matches!(operators.read().ok()?, Operator::End).then_some(value)
}

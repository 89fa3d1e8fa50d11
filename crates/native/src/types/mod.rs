//! The types of blocks: from the debug information of the module, and from what blocks say of themselves.
//!
//! `dwarf` reads types and variables into a `table`. `spread` goes from the variables along typed pointers, by the
//! `plan` of each type, through `containers`, and `fit` says what takes a block. `rtti` knows objects of C++ by
//! themselves. What questions need of types afterwards is in a `layout`.

mod container_buffer;
mod container_kind;
mod container_use;
mod containers;
mod dwarf;
mod dynamic;
mod fit;
mod layout;
mod names;
mod plan;
mod rtti;
mod seen_places;
mod slices;
mod split;
mod spread;
mod table;
mod variants;

use std::collections::HashMap;
use std::ops::Range;

use crate::warning::NativeWarning;
use base::columns;
use base::control::Control;
use base::error::{Error, Result};
use base::warning::Warning;
use dumps::Memory;
use heap::{EdgeLabel, TypeEvidence};
use wasm::module::Module;

use crate::allocator::UsedBlocks;
use crate::block_index::BlockIndex;
pub(crate) use container_use::ContainerUse;
use layout::Layouts;
pub(crate) use layout::{ClassLayout, FieldHolds};
use names::Namer;
use rtti::{Constants, DynamicClasses};
use spread::Spread;
pub(crate) use table::NumberKind;
use table::{PiecePlace, TypeId, TypeKind, TypeTable};

/// The types and variables of a module.
#[derive(Debug, Default)]
pub(crate) struct Typing<'a> {
    types: TypeTable<'a>,
    /// Why there are none, if they cannot be read.
    damage: Option<String>,
}

/// How much the debug information of a module describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeSummary {
    /// The number of types.
    pub types: u64,
    /// The number of variables with an address.
    pub variables: u64,
    /// The bytes of the names of all types.
    pub name_bytes: u64,
}

/// The types of the blocks of a dump.
#[derive(Debug, Default)]
pub(crate) struct BlockClasses {
    /// By block: the number of its class, if its type is known.
    pub(crate) class_of: Vec<Option<u32>>,
    pub(crate) classes: Vec<ClassLayout>,
    /// The bytes before the first element, in blocks where there are such.
    pub(crate) bases: HashMap<u32, u32>,
    /// The buffers of containers.
    pub(crate) uses: Vec<ContainerUse>,
}

/// A variable with a fixed address, or a part of one, and what it consists of.
struct RootVariable {
    range: Range<u32>,
    name: String,
    type_id: TypeId,
    /// From the start of the variable to the part.
    offset: u32,
}

/// The names of the words of static data.
pub(crate) struct RootNames<'t, 'a> {
    /// By address.
    variables: Vec<RootVariable>,
    layouts: Layouts<'t, 'a>,
}

impl<'a> Typing<'a> {
    /// Reads the debug information of a module. If it is damaged, there are no types.
    ///
    /// # Errors
    /// [`Error::Aborted`], [`Error::OutOfMemory`].
    pub(crate) fn read(module: &Module<'a>, control: &Control) -> Result<Self> {
        match dwarf::read(module, control) {
            Ok(mut types) => {
                let base = module.relocation.map_or(0, |found| found.memory_base);
                for variable in &mut types.variables {
                    variable.address = variable.address.saturating_add(base);
                }
                Ok(Self {
                    types,
                    damage: None,
                })
            }
            Err(error @ (Error::Aborted | Error::OutOfMemory { .. })) => Err(error),
            Err(error) => Ok(Self {
                types: TypeTable::default(),
                damage: Some(error.to_string()),
            }),
        }
    }

    /// The number of types and variables, and what they are called.
    pub(crate) fn summary(&self) -> TypeSummary {
        let mut namer = Namer::new(&self.types);
        let types = (0..self.types.all.len() as u32).map(TypeId);
        TypeSummary {
            types: self.types.all.len() as u64,
            variables: (self.types.variables.len() + self.types.split.len()) as u64,
            name_bytes: types.map(|id| namer.name(id).len() as u64).sum(),
        }
    }

    /// The address of the only variable of a type with this name.
    pub(crate) fn variable_of(&self, type_name: &str) -> Option<u32> {
        let types = &self.types;
        let mut found = types
            .variables
            .iter()
            .filter(|variable| types.get(types.resolved(variable.type_id)).name == type_name);
        let only = found.next()?;
        let is_only = found.all(|other| other.address == only.address);
        is_only.then_some(only.address)
    }

    /// The names of static data.
    pub(crate) fn root_names(&self) -> RootNames<'_, 'a> {
        let namer = Namer::new(&self.types);
        let variables = self.types.variables.iter().filter_map(|variable| {
            let size = self.types.size(variable.type_id);
            let end = variable.address.checked_add(size)?;
            (size > 0 && !variable.name.is_empty()).then(|| RootVariable {
                range: variable.address..end,
                name: namer.variable(variable.name, variable.scope),
                type_id: variable.type_id,
                offset: 0,
            })
        });
        let mut variables: Vec<RootVariable> = variables.collect();
        for variable in &self.types.split {
            let size = self.types.size(variable.type_id);
            for piece in &variable.pieces {
                let PiecePlace::At(address) = piece.place else {
                    continue;
                };
                let length = piece.size.min(size.saturating_sub(piece.offset));
                if let Some(end) = address.checked_add(length)
                    && length > 0
                    && !variable.name.is_empty()
                {
                    variables.push(RootVariable {
                        range: address..end,
                        name: namer.variable(variable.name, variable.scope),
                        type_id: variable.type_id,
                        offset: piece.offset,
                    });
                }
            }
        }
        variables.sort_by_key(|variable| variable.range.start);
        RootNames {
            variables,
            layouts: Layouts::new(&self.types),
        }
    }

    /// Finds the types of blocks. `statics` are the addresses of variables.
    ///
    /// # Errors
    /// [`Error::Aborted`], [`Error::OutOfMemory`].
    pub(crate) fn find(
        &self,
        (module, memory): (&Module<'_>, Memory<'_>),
        (walk, index): (&UsedBlocks, &BlockIndex<'_>),
        statics: &Range<u32>,
        warnings: &mut Vec<Warning>,
        control: &Control,
    ) -> Result<BlockClasses> {
        if let Some(message) = &self.damage {
            warnings.push(
                NativeWarning::TypesUnreadable {
                    message: message.clone(),
                }
                .into(),
            );
        }
        let mut spread = Spread::new(&self.types, memory, (walk, index), control)?;
        let constants = Constants::new(module);
        let dynamic = spread.find_dynamic_classes(&constants, &walk.addresses)?;
        spread.run(statics)?;
        if spread.conflicts > 0 {
            warnings.push(
                NativeWarning::TypeConflict {
                    count: spread.conflicts,
                }
                .into(),
            );
        }
        let guessed = spread.blocks.iter().flatten();
        let guessed = guessed.filter(|found| found.evidence == TypeEvidence::Fit);
        let guessed = guessed.count() as u64;
        if guessed > 0 {
            warnings.push(NativeWarning::TypeGuessed { count: guessed }.into());
        }
        self.classes(spread, &dynamic)
    }

    /// Groups the types of blocks by their names.
    fn classes(&self, spread: Spread<'_, 'a>, dynamic: &DynamicClasses) -> Result<BlockClasses> {
        let Spread {
            blocks,
            uses,
            mut namer,
            ..
        } = spread;
        let mut layouts = Layouts::new(&self.types);
        let mut found = BlockClasses {
            class_of: columns::with_capacity(blocks.len())?,
            uses,
            ..BlockClasses::default()
        };
        let mut by_name: HashMap<String, u32> = HashMap::new();
        // By type, whether it is an array and whether it is a guess.
        let mut by_type: Vec<Option<u32>> = vec![None; self.types.all.len() * 4];
        for (nth, block) in (0..).zip(&blocks) {
            // The block itself knows better than what refers to it as to a base class.
            let class = dynamic.undescribed.get(&nth);
            if let Some(&class) = class {
                let name = namer.simple(&dynamic.all[class].name);
                let class = found.undescribed(&name, &mut by_name);
                found.class_of.push(Some(class));
                continue;
            }
            let Some(block) = block else {
                found.class_of.push(None);
                continue;
            };
            if block.base > 0 {
                found.bases.insert(nth, block.base);
            }
            let is_guess = block.evidence == TypeEvidence::Fit;
            let key = block.type_id.0 as usize * 4;
            let key = key + usize::from(block.is_array) * 2 + usize::from(is_guess);
            let class = match by_type.get(key) {
                Some(&Some(class)) => class,
                _ => {
                    let brackets = if block.is_array { "[]" } else { "" };
                    let mark = if is_guess { "?" } else { "" };
                    let name = format!("{}{brackets}{mark}", namer.name(block.type_id));
                    let next = found.classes.len() as u32;
                    let class = *by_name.entry(name.clone()).or_insert(next);
                    if class == next {
                        let kind = self.types.get(block.type_id).kind;
                        let is_container = block.evidence == TypeEvidence::Container;
                        let is_byte = self.types.size(block.type_id) == 1 && is_container;
                        let is_character = kind == TypeKind::Number(NumberKind::Character)
                            || is_byte && kind == TypeKind::Number(NumberKind::Unsigned);
                        found.classes.push(ClassLayout {
                            name,
                            evidence: block.evidence,
                            is_array: block.is_array,
                            size: self.types.size(block.type_id),
                            fields: layouts.fields(block.type_id, &mut namer),
                            is_text: is_character && block.is_array,
                        });
                    }
                    if let Some(known) = by_type.get_mut(key) {
                        *known = Some(class);
                    }
                    class
                }
            };
            let layout = &mut found.classes[class as usize];
            layout.evidence = layout.evidence.max(block.evidence);
            found.class_of.push(Some(class));
        }
        Ok(found)
    }
}

impl BlockClasses {
    /// The class of this name of C++ that the debug information does not describe.
    fn undescribed(&mut self, name: &str, by_name: &mut HashMap<String, u32>) -> u32 {
        let next = self.classes.len() as u32;
        let class = *by_name.entry(name.to_owned()).or_insert(next);
        if class == next {
            self.classes.push(ClassLayout {
                name: name.to_owned(),
                evidence: TypeEvidence::Dynamic,
                is_array: false,
                size: 0,
                fields: Vec::new(),
                is_text: false,
            });
        }
        class
    }

    /// The label of a reference: its field, or the offset of its word if no field is there.
    pub(crate) fn label(&self, block: usize, word: u32) -> EdgeLabel {
        let class = self.class_of.get(block).copied().flatten();
        let layout = class.and_then(|class| self.classes.get(class as usize));
        let field = layout
            .zip(word.checked_mul(4))
            .and_then(|(layout, offset)| {
                let base = self.bases.get(&(block as u32)).copied().unwrap_or(0);
                Self::field_of(layout, base, offset)
            });
        match field {
            Some((field, _)) => EdgeLabel::field(field),
            None => EdgeLabel::word(word as usize),
        }
    }

    /// Where a word of a block lies: the number of its field, and of its element.
    pub(crate) fn field_of(layout: &ClassLayout, base: u32, offset: u32) -> Option<(usize, u32)> {
        let offset = offset.checked_sub(base)?;
        let (index, inside) = if layout.is_array && layout.size > 0 {
            (offset / layout.size, offset % layout.size)
        } else {
            (0, offset)
        };
        Some((layout.field_at(inside)?, index))
    }
}

impl RootNames<'_, '_> {
    /// The name of the variable in which a word of static data lies, with the path to it.
    pub(crate) fn name(&self, address: u32) -> Option<String> {
        let after = self
            .variables
            .partition_point(|variable| variable.range.start <= address);
        let variable = self.variables.get(after.checked_sub(1)?)?;
        if !variable.range.contains(&address) {
            return None;
        }
        let offset = variable.offset + (address - variable.range.start);
        let path = self.layouts.path(variable.type_id, offset);
        Some(format!("{}{path}", variable.name))
    }
}

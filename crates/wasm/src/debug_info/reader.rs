//! DWARF to [`DebugInfo`]: one pass over the entries of every unit, then types are resolved by
//! their offsets.
//!
//! It accepts any form that gimli reads, several units, and a list of children without its end. Functions
//! and their locals are skipped.

use std::collections::HashMap;
use std::sync::Arc;

use gimli::{AttributeValue, DwTag, EndianSlice, LittleEndian, Operation};

use super::{Class, DebugInfo, DeclaredField, GlobalVariable, Number, Producer, TypeRef};
use crate::ModuleError;
use crate::module::Module;
use base::control::Control;
use base::error::{Error, Result};
use base::units::{ClassId, GlobalIndex};

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type DebugEntry<'a> = gimli::DebuggingInformationEntry<Slice<'a>>;

/// The offset of a type's entry in `debug_info`, or none if the reference has no such form.
type TypeOffset = Option<usize>;

impl DebugInfo {
    /// Reads the debug sections of a module; `None` if it has none.
    ///
    /// # Errors
    /// [`ModuleError::DebugInfo`] with the offset in `debug_info` if gimli cannot read them;
    /// [`Error::Aborted`].
    pub fn read(module: &Module<'_>, control: &Control) -> Result<Option<Self>> {
        if module.debug_section(".debug_info").is_empty() {
            return Ok(None);
        }
        let dwarf = gimli::Dwarf::load(|id| {
            Ok::<_, gimli::Error>(EndianSlice::new(
                module.debug_section(id.name()),
                LittleEndian,
            ))
        })
        .map_err(at(0))?;

        let mut budget = DebugInfoBudget::of(module);
        let mut tables = Abbreviations::default();
        let mut collected = Collected::default();
        let mut headers = dwarf.units();
        let mut unit_offset = 0;
        while let Some(header) = headers.next().map_err(at(unit_offset))? {
            control.check()?;
            unit_offset = header.debug_info_offset().map_or(0, |offset| offset.0);
            let table = tables.read(&dwarf, header.debug_abbrev_offset(), &mut budget);
            // The header of the line table is read with every unit.
            budget
                .read_table(module.debug_section(".debug_line").len())
                .map_err(at(unit_offset))?;
            let unit = gimli::Unit::new_with_abbreviations(
                &dwarf,
                header,
                table.map_err(at(unit_offset))?,
            )
            .map_err(at(unit_offset))?;
            let mut entries = unit.entries();
            loop {
                control.count(1)?;
                let offset = unit_offset + entries.next_offset().0;
                let Some(entry) = entries.next_dfs().map_err(at(offset))? else {
                    break;
                };
                budget.spend(entry.attrs().len()).map_err(at(offset))?;
                let reader = EntryReader {
                    dwarf: &dwarf,
                    unit: &unit,
                    unit_offset,
                    entry,
                };
                collected
                    .add(offset_of(unit_offset, entry), &reader, &mut budget)
                    .map_err(at(offset))?;
            }
        }
        Ok(Some(collected.resolve()))
    }
}

fn offset_of(unit_offset: usize, entry: &DebugEntry<'_>) -> usize {
    unit_offset + entry.offset().0
}

fn at<E: std::fmt::Display>(offset: usize) -> impl Fn(E) -> Error {
    move |error| {
        Error::from(ModuleError::DebugInfo {
            offset: offset as u64,
            message: error.to_string(),
        })
    }
}

/// The remaining budget of a reader. In DWARF, a few bytes can describe a large amount of data: many units
/// can share a table of abbreviations, many entries can share a name, and an attribute can take no bytes. The
/// output of compilers is far below these limits.
struct DebugInfoBudget {
    /// Bytes of names, and attributes.
    steps: usize,
    /// Bytes of tables. Only one table is kept at a time.
    tables: usize,
    /// Classes, fields, base types and variables, which are kept.
    kept: usize,
}

/// Why reading stops.
enum ReadFailure {
    Gimli(gimli::Error),
    LimitExceeded,
}

impl From<gimli::Error> for ReadFailure {
    fn from(error: gimli::Error) -> Self {
        Self::Gimli(error)
    }
}

impl std::fmt::Display for ReadFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Gimli(error) => error.fmt(f),
            Self::LimitExceeded => f.write_str(
                "found much more in it than its size explains, expected what a compiler writes",
            ),
        }
    }
}

impl DebugInfoBudget {
    const STEPS_PER_BYTE: usize = 64;
    const MORE_STEPS: usize = 16 << 20;
    const TABLES: usize = 16 << 20;
    const KEPT: usize = 2 << 20;

    fn of(module: &Module<'_>) -> Self {
        let sections = [
            ".debug_info",
            ".debug_abbrev",
            ".debug_str",
            ".debug_line_str",
        ];
        let bytes: usize = sections
            .iter()
            .map(|name| module.debug_section(name).len())
            .sum();
        Self {
            steps: bytes * Self::STEPS_PER_BYTE + Self::MORE_STEPS,
            tables: Self::TABLES,
            kept: Self::KEPT,
        }
    }

    fn spend(&mut self, steps: usize) -> Result<(), ReadFailure> {
        self.steps = self
            .steps
            .checked_sub(steps)
            .ok_or(ReadFailure::LimitExceeded)?;
        Ok(())
    }

    fn read_table(&mut self, bytes: usize) -> Result<(), ReadFailure> {
        self.tables = self
            .tables
            .checked_sub(bytes)
            .ok_or(ReadFailure::LimitExceeded)?;
        Ok(())
    }

    fn keep(&mut self) -> Result<(), ReadFailure> {
        self.kept = self.kept.checked_sub(1).ok_or(ReadFailure::LimitExceeded)?;
        Ok(())
    }
}

/// The table of abbreviations that was read last: units usually share one.
#[derive(Default)]
struct Abbreviations(Option<(gimli::DebugAbbrevOffset, Arc<gimli::Abbreviations>)>);

impl Abbreviations {
    fn read(
        &mut self,
        dwarf: &gimli::Dwarf<Slice<'_>>,
        offset: gimli::DebugAbbrevOffset,
        budget: &mut DebugInfoBudget,
    ) -> Result<Arc<gimli::Abbreviations>, ReadFailure> {
        if let Some((known, table)) = &self.0
            && *known == offset
        {
            return Ok(Arc::clone(table));
        }
        // Its length is known only after reading it. It may extend to the end of the section.
        let section = gimli::Section::reader(&dwarf.debug_abbrev).len();
        budget.read_table(section.saturating_sub(offset.0))?;
        let table = Arc::new(dwarf.debug_abbrev.abbreviations(offset)?);
        self.0 = Some((offset, Arc::clone(&table)));
        Ok(table)
    }
}

/// Everything found so far, with types still as offsets.
#[derive(Default)]
struct Collected {
    types: HashMap<usize, TypeRef>,
    classes: Vec<RawClass>,
    globals: Vec<(GlobalVariable, TypeOffset)>,
    producer: Producer,
    /// Whether any variable has a location.
    has_locations: bool,
    /// Indexes of the classes whose children are being read, with their depths.
    open: Vec<(isize, usize)>,
}

struct RawClass {
    name: String,
    id: Option<ClassId>,
    base: Option<TypeOffset>,
    members: Vec<(DeclaredField, TypeOffset)>,
    type_arguments: Vec<TypeOffset>,
}

impl Collected {
    fn add(
        &mut self,
        offset: usize,
        entry: &EntryReader<'_, '_>,
        budget: &mut DebugInfoBudget,
    ) -> Result<(), ReadFailure> {
        let depth = entry.entry.depth();
        while self
            .open
            .last()
            .is_some_and(|&(open_depth, _)| open_depth >= depth)
        {
            self.open.pop();
        }
        // Only direct children describe a class: a local of a method does not.
        let parent = match self.open.last() {
            Some(&(open_depth, class)) if open_depth + 1 == depth => self.classes.get_mut(class),
            _ => None,
        };
        match (entry.entry.tag(), parent) {
            (gimli::DW_TAG_compile_unit, _) => {
                // The string may be in a section that is missing, which affects nothing else.
                let name = entry.string(gimli::DW_AT_producer, budget);
                let producer = Producer::named(&name.unwrap_or_default());
                self.producer = self.producer.max(producer);
            }
            (gimli::DW_TAG_base_type, _) => {
                budget.keep()?;
                let number = Number::named(&entry.name(budget)?);
                self.types.insert(offset, TypeRef::Base { number });
            }
            (tag, _) if is_class(tag) => {
                budget.keep()?;
                let index = self.classes.len();
                self.types.insert(offset, TypeRef::Class(index as u32));
                self.open.push((depth, index));
                self.classes.push(RawClass {
                    name: entry.name(budget)?,
                    id: entry.unsigned(gimli::DW_AT_signature).map(ClassId),
                    base: None,
                    members: Vec::new(),
                    type_arguments: Vec::new(),
                });
            }
            (gimli::DW_TAG_inheritance, Some(class)) => class.base = Some(entry.type_offset()),
            (gimli::DW_TAG_template_type_parameter, Some(class)) => {
                budget.keep()?;
                class.type_arguments.push(entry.type_offset());
            }
            (gimli::DW_TAG_member, Some(class)) => {
                budget.keep()?;
                if let Some(offset) = entry.unsigned(gimli::DW_AT_data_member_location) {
                    let member = DeclaredField {
                        name: entry.name(budget)?,
                        offset,
                        type_ref: TypeRef::Unresolved,
                    };
                    class.members.push((member, entry.type_offset()));
                }
            }
            (gimli::DW_TAG_variable, _) if depth == 1 => {
                budget.keep()?;
                self.has_locations |= entry.entry.attr(gimli::DW_AT_location).is_some();
                let variable = GlobalVariable {
                    name: entry.name(budget)?,
                    type_ref: TypeRef::Unresolved,
                    location: entry.location()?,
                    initial: entry.unsigned(gimli::DW_AT_const_value),
                };
                self.globals.push((variable, entry.type_offset()));
            }
            _ => {}
        }
        Ok(())
    }

    fn resolve(self) -> DebugInfo {
        let Self {
            types,
            classes,
            globals,
            producer,
            has_locations,
            ..
        } = self;
        let resolve = |offset: TypeOffset| {
            offset
                .and_then(|offset| types.get(&offset).copied())
                .unwrap_or(TypeRef::Unresolved)
        };
        DebugInfo {
            producer: producer.max(Producer::Other),
            describes_inheritance: classes.iter().any(|class| class.base.is_some())
                || has_locations,
            classes: classes
                .into_iter()
                .map(|class| Class {
                    name: class.name,
                    id: class.id,
                    base: class.base.map(resolve),
                    members: class
                        .members
                        .into_iter()
                        .map(|(member, offset)| DeclaredField {
                            type_ref: resolve(offset),
                            ..member
                        })
                        .collect(),
                    type_arguments: class.type_arguments.into_iter().map(resolve).collect(),
                })
                .collect(),
            globals: globals
                .into_iter()
                .map(|(variable, offset)| GlobalVariable {
                    type_ref: resolve(offset),
                    ..variable
                })
                .collect(),
        }
    }
}

/// One entry, and the context for reading its attributes.
struct EntryReader<'r, 'a> {
    dwarf: &'r gimli::Dwarf<Slice<'a>>,
    unit: &'r gimli::Unit<Slice<'a>>,
    unit_offset: usize,
    entry: &'r DebugEntry<'a>,
}

impl EntryReader<'_, '_> {
    fn name(&self, budget: &mut DebugInfoBudget) -> Result<String, ReadFailure> {
        self.string(gimli::DW_AT_name, budget)
    }

    fn string(
        &self,
        attribute: gimli::DwAt,
        budget: &mut DebugInfoBudget,
    ) -> Result<String, ReadFailure> {
        let Some(value) = self.entry.attr_value(attribute) else {
            return Ok(String::new());
        };
        let name = self.dwarf.attr_string(self.unit, value)?;
        budget.spend(name.len())?;
        let text = name.to_string_lossy();
        // A byte that is not UTF-8 is replaced by three bytes.
        budget.spend(text.len().saturating_sub(name.len()))?;
        Ok(text.into_owned())
    }

    fn unsigned(&self, attribute: gimli::DwAt) -> Option<u32> {
        u32::try_from(self.entry.attr(attribute)?.udata_value()?).ok()
    }

    fn type_offset(&self) -> TypeOffset {
        match self.entry.attr_value(gimli::DW_AT_type)? {
            AttributeValue::UnitRef(offset) => self.unit_offset.checked_add(offset.0),
            AttributeValue::DebugInfoRef(offset) => Some(offset.0),
            _ => None,
        }
    }

    /// WARPO writes the global index as a plain constant; standard DWARF for wasm uses the
    /// operation `DW_OP_WASM_location`.
    fn location(&self) -> gimli::Result<Option<GlobalIndex>> {
        let Some(attribute) = self.entry.attr(gimli::DW_AT_location) else {
            return Ok(None);
        };
        if let AttributeValue::Exprloc(expression) = attribute.value() {
            let first = expression.operations(self.unit.encoding()).next()?;
            return Ok(match first {
                Some(Operation::WasmGlobal { index }) => Some(GlobalIndex(index)),
                _ => None,
            });
        }
        let constant = attribute
            .udata_value()
            .or(attribute.offset_value().map(|at| at as u64));
        Ok(constant
            .and_then(|index| u32::try_from(index).ok())
            .map(GlobalIndex))
    }
}

fn is_class(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_class_type | gimli::DW_TAG_structure_type | gimli::DW_TAG_interface_type
    )
}

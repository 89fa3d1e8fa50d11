//! One pass over the entries of every unit; then references between entries are resolved by their offsets.

use gimli::{DwTag, EndianSlice, LittleEndian};

use super::super::table::{
    DescribedType, MemberKind, NameScope, NumberKind, SplitVariable, TypeArgument, TypeId,
    TypeKind, TypeMember, TypeTable, Variable, VariablePiece,
};
use super::budget::{AbbreviationTables, DwarfBudget, DwarfFailure, DwarfSlice};
use super::entry::{EntryOffset, NO_ENTRY, TypeEntry};
use super::open::{Around, OpenEntries};
use base::control::Control;
use base::error::{Error, Result};
use std::collections::HashMap;
use wasm::ModuleError;
use wasm::module::Module;

/// Reads the debug sections of a module; no types if it has none.
///
/// # Errors
/// [`ModuleError::DebugInfo`] with the offset in `debug_info` if gimli cannot read them, or if there is much more in
/// them than their size explains; [`Error::Aborted`].
pub(in super::super) fn read<'a>(module: &Module<'a>, control: &Control) -> Result<TypeTable<'a>> {
    if module.debug_section(".debug_info").is_empty() {
        return Ok(TypeTable::default());
    }
    let load = |id: gimli::SectionId| -> std::result::Result<_, gimli::Error> {
        Ok(EndianSlice::new(
            module.debug_section(id.name()),
            LittleEndian,
        ))
    };
    let dwarf = gimli::Dwarf::load(load).map_err(at(0))?;
    let sections = [
        ".debug_info",
        ".debug_abbrev",
        ".debug_str",
        ".debug_line_str",
    ];
    let bytes = sections.map(|name| module.debug_section(name).len() as u64);
    let mut reader = TypeReader {
        budget: DwarfBudget::of_bytes(bytes.iter().sum()),
        ..TypeReader::new()
    };
    let mut tables = AbbreviationTables::default();
    let mut headers = dwarf.units();
    let mut unit_offset = 0;
    while let Some(header) = headers.next().map_err(at(unit_offset))? {
        unit_offset = header.debug_info_offset().map_or(0, |offset| offset.0);
        let table = tables.read(&dwarf, header.debug_abbrev_offset(), &mut reader.budget);
        let unit = unit_of(header, table.map_err(at(unit_offset))?).map_err(at(unit_offset))?;
        reader.read_unit(&dwarf, &unit, unit_offset, control)?;
    }
    Ok(reader.finish().indexed())
}

fn at<E: std::fmt::Display>(offset: usize) -> impl Fn(E) -> Error {
    move |error| {
        Error::from(ModuleError::DebugInfo {
            offset: offset as u64,
            message: error.to_string(),
        })
    }
}

/// The unit with what its first entry says of other sections. The table of lines is not read.
fn unit_of(
    header: gimli::UnitHeader<DwarfSlice<'_>>,
    abbreviations: std::sync::Arc<gimli::Abbreviations>,
) -> gimli::Result<gimli::Unit<DwarfSlice<'_>>> {
    let file = gimli::DwarfFileType::Main;
    let encoding = header.encoding();
    let mut unit = gimli::Unit {
        abbreviations,
        name: None,
        comp_dir: None,
        low_pc: 0,
        str_offsets_base: gimli::DebugStrOffsetsBase::default_for_encoding_and_file(encoding, file),
        addr_base: gimli::DebugAddrBase(0),
        loclists_base: gimli::DebugLocListsBase::default_for_encoding_and_file(encoding, file),
        rnglists_base: gimli::DebugRngListsBase::default_for_encoding_and_file(encoding, file),
        line_program: None,
        dwo_id: None,
        header,
    };
    let mut entries = unit.header.entries(&unit.abbreviations);
    let root = entries.next_dfs()?.ok_or(gimli::Error::MissingUnitDie)?;
    let base = root.attr_value(gimli::DW_AT_str_offsets_base);
    if let Some(gimli::AttributeValue::DebugStrOffsetsBase(base)) = base {
        unit.str_offsets_base = base;
    }
    let base = root.attr_value(gimli::DW_AT_addr_base);
    if let Some(gimli::AttributeValue::DebugAddrBase(base)) = base {
        unit.addr_base = base;
    }
    Ok(unit)
}

/// A variable as its entry describes it: what it does not say is in the entry that it specifies.
struct RawVariable<'a> {
    name: &'a str,
    scope: u32,
    address: Option<u32>,
    /// If it has no address.
    pieces: Vec<VariablePiece<'a>>,
    type_offset: EntryOffset,
    specifies: EntryOffset,
}

/// Everything found so far. What refers to types has offsets of entries in place of their positions.
struct TypeReader<'a> {
    types: TypeTable<'a>,
    /// The entry of each type, ascending.
    entries: Vec<EntryOffset>,
    /// The entries of all members, to find discriminants.
    member_entries: Vec<EntryOffset>,
    /// By entry: those at an address, and those that others may specify.
    variables: Vec<(EntryOffset, RawVariable<'a>)>,
    discriminants: Vec<EntryOffset>,
    open: OpenEntries,
    budget: DwarfBudget,
}

impl<'a> TypeReader<'a> {
    fn new() -> Self {
        Self {
            types: TypeTable {
                scopes: vec![NameScope {
                    name: "",
                    parent: 0,
                }],
                ..TypeTable::default()
            },
            entries: Vec::new(),
            member_entries: Vec::new(),
            variables: Vec::new(),
            discriminants: Vec::new(),
            open: OpenEntries::default(),
            budget: DwarfBudget::of_bytes(0),
        }
    }

    fn read_unit(
        &mut self,
        dwarf: &gimli::Dwarf<DwarfSlice<'a>>,
        unit: &gimli::Unit<DwarfSlice<'a>>,
        unit_offset: usize,
        control: &Control,
    ) -> Result<()> {
        self.open.clear();
        let mut entries = unit.entries();
        loop {
            control.count(1)?;
            let offset = unit_offset + entries.next_offset().0;
            let Some(entry) = entries.next_dfs().map_err(at(offset))? else {
                return Ok(());
            };
            let reader = TypeEntry {
                dwarf,
                unit,
                unit_offset,
                entry,
            };
            self.budget
                .spend(entry.attrs().len())
                .and_then(|()| self.add(&reader))
                .map_err(at(offset))?;
        }
    }

    fn add(&mut self, entry: &TypeEntry<'_, 'a>) -> std::result::Result<(), DwarfFailure> {
        let depth = entry.entry.depth();
        self.open.close(depth);
        match entry.entry.tag() {
            gimli::DW_TAG_namespace | gimli::DW_TAG_subprogram | gimli::DW_TAG_module => {
                let name = entry.name(&mut self.budget)?;
                let scope = self.add_scope(name)?;
                self.open.push(depth, Around::Scope, scope);
                Ok(())
            }
            gimli::DW_TAG_member | gimli::DW_TAG_inheritance => self.add_member(entry),
            gimli::DW_TAG_variant_part => {
                if let Some(Around::Type(owner)) = self.open.parent(depth) {
                    let discriminant = entry.reference(gimli::DW_AT_discr);
                    let around = Around::VariantPart(owner);
                    self.discriminants.push(discriminant);
                    self.open.push(depth, around, self.open.scope());
                }
                Ok(())
            }
            gimli::DW_TAG_variant => {
                if let Some(Around::VariantPart(owner)) = self.open.parent(depth) {
                    let value = entry.unsigned(gimli::DW_AT_discr_value);
                    self.open
                        .push(depth, Around::Variant(owner, value), self.open.scope());
                }
                Ok(())
            }
            gimli::DW_TAG_template_type_parameter => self.add_argument(entry),
            gimli::DW_TAG_subrange_type => {
                self.add_count(entry);
                Ok(())
            }
            gimli::DW_TAG_variable => self.add_variable(entry),
            tag => self.add_type(entry, tag),
        }
    }

    fn add_scope(&mut self, name: &'a str) -> std::result::Result<u32, DwarfFailure> {
        self.budget.keep()?;
        let parent = self.open.scope();
        self.types.scopes.push(NameScope { name, parent });
        Ok(self.types.scopes.len() as u32 - 1)
    }

    fn add_type(
        &mut self,
        entry: &TypeEntry<'_, 'a>,
        tag: DwTag,
    ) -> std::result::Result<(), DwarfFailure> {
        let Some(kind) = kind_of(entry, tag) else {
            return Ok(());
        };
        self.budget.keep()?;
        let name = entry.name(&mut self.budget)?;
        let scope = self.open.scope();
        let mut target = entry.reference(gimli::DW_AT_type);
        if kind == TypeKind::Struct {
            target = entry.reference(gimli::DW_AT_containing_type);
        }
        let is_declared = entry.is_set(gimli::DW_AT_declaration);
        let size = entry.small(gimli::DW_AT_byte_size).filter(|_| !is_declared);
        let size = size.unwrap_or(if kind == TypeKind::Pointer { 4 } else { 0 });
        let id = TypeId(self.types.all.len() as u32);
        self.types.all.push(DescribedType {
            name,
            scope,
            kind,
            size,
            target: Some(TypeId(target)),
            count: None,
        });
        self.entries.push(entry.offset());
        if entry.entry.has_children() {
            let is_scope = matches!(kind, TypeKind::Struct | TypeKind::Union);
            let inner = if is_scope {
                self.add_scope(name)?
            } else {
                scope
            };
            self.open.push(entry.entry.depth(), Around::Type(id), inner);
        }
        Ok(())
    }

    fn add_member(&mut self, entry: &TypeEntry<'_, 'a>) -> std::result::Result<(), DwarfFailure> {
        let (owner, kind) = match self.open.parent(entry.entry.depth()) {
            Some(Around::Type(owner)) => (owner, MemberKind::Field),
            Some(Around::VariantPart(owner)) => (owner, MemberKind::Discriminant),
            Some(Around::Variant(owner, value)) => (owner, MemberKind::Variant(value)),
            _ => return Ok(()),
        };
        // A static member is a declaration of a variable.
        let is_static = entry.is_set(gimli::DW_AT_declaration);
        if is_static {
            return self.add_variable(entry);
        }
        let has_bits = [
            gimli::DW_AT_bit_size,
            gimli::DW_AT_data_bit_offset,
            gimli::DW_AT_bit_offset,
        ];
        let is_base = entry.entry.tag() == gimli::DW_TAG_inheritance;
        let kind = match kind {
            MemberKind::Field if is_base => MemberKind::Base,
            MemberKind::Field if has_bits.iter().any(|&has| entry.entry.has_attr(has)) => {
                MemberKind::Bits
            }
            kind => kind,
        };
        let Some(offset) = entry.member_offset() else {
            return Ok(());
        };
        self.budget.keep()?;
        self.types.members.push(TypeMember {
            owner,
            kind,
            name: entry.name(&mut self.budget)?,
            offset,
            type_id: TypeId(entry.reference(gimli::DW_AT_type)),
        });
        self.member_entries.push(entry.offset());
        Ok(())
    }

    fn add_argument(&mut self, entry: &TypeEntry<'_, 'a>) -> std::result::Result<(), DwarfFailure> {
        let Some(Around::Type(owner)) = self.open.parent(entry.entry.depth()) else {
            return Ok(());
        };
        self.budget.keep()?;
        self.types.arguments.push(TypeArgument {
            owner,
            name: entry.name(&mut self.budget)?,
            type_id: TypeId(entry.reference(gimli::DW_AT_type)),
        });
        Ok(())
    }

    /// The number of elements of the array around the entry.
    fn add_count(&mut self, entry: &TypeEntry<'_, 'a>) {
        let Some(Around::Type(owner)) = self.open.parent(entry.entry.depth()) else {
            return;
        };
        let bound = entry.small(gimli::DW_AT_upper_bound);
        let bound = bound.and_then(|last| last.checked_add(1));
        let count = entry.small(gimli::DW_AT_count).or(bound);
        if let Some(array) = self.types.all.get_mut(owner.0 as usize) {
            // Of several dimensions, the elements of all.
            let others = array.count.unwrap_or(1);
            array.count = count.and_then(|count| count.checked_mul(others));
        }
    }

    fn add_variable(&mut self, entry: &TypeEntry<'_, 'a>) -> std::result::Result<(), DwarfFailure> {
        let address = entry.address();
        let is_declared = entry.is_set(gimli::DW_AT_declaration);
        let pieces = match address {
            Some(_) => Vec::new(),
            None => entry.pieces(&mut self.budget)?,
        };
        if address.is_none() && pieces.is_empty() && !is_declared {
            return Ok(());
        }
        self.budget.keep()?;
        let specifies = [gimli::DW_AT_specification, gimli::DW_AT_abstract_origin];
        let specifies = specifies.map(|attribute| entry.reference(attribute));
        let variable = RawVariable {
            name: entry.name(&mut self.budget)?,
            scope: self.open.scope(),
            address,
            pieces,
            type_offset: entry.reference(gimli::DW_AT_type),
            specifies: specifies[0].min(specifies[1]),
        };
        self.variables.push((entry.offset(), variable));
        Ok(())
    }

    /// Replaces offsets of entries by positions.
    fn finish(self) -> TypeTable<'a> {
        let Self {
            mut types,
            entries,
            member_entries,
            variables,
            discriminants,
            ..
        } = self;
        let position = |TypeId(offset): TypeId| {
            let found = entries.binary_search(&offset).ok();
            found.map(|nth| TypeId(nth as u32))
        };
        // A type that is not described has no size.
        let unknown = TypeId(types.all.len() as u32);
        for found in &mut types.all {
            found.target = found.target.and_then(position);
        }
        for member in &mut types.members {
            member.type_id = position(member.type_id).unwrap_or(unknown);
        }
        for discriminant in discriminants {
            // rustc puts it into the variant part, clang beside it.
            if let Ok(nth) = member_entries.binary_search(&discriminant) {
                types.members[nth].kind = MemberKind::Discriminant;
            }
        }
        for argument in &mut types.arguments {
            argument.type_id = position(argument.type_id).unwrap_or(unknown);
        }
        let by_entry: HashMap<EntryOffset, &RawVariable<'_>> =
            variables.iter().map(|(entry, raw)| (*entry, raw)).collect();
        for (_, raw) in &variables {
            if raw.address.is_none() && raw.pieces.is_empty() {
                continue;
            }
            let declared = by_entry.get(&raw.specifies).copied().unwrap_or(raw);
            let named = if raw.name.is_empty() { declared } else { raw };
            let typed = if raw.type_offset == NO_ENTRY {
                declared
            } else {
                raw
            };
            let Some(type_id) = position(TypeId(typed.type_offset)) else {
                continue;
            };
            let (name, scope) = (named.name, named.scope);
            match raw.address {
                Some(address) => types.variables.push(Variable {
                    name,
                    scope,
                    address,
                    type_id,
                }),
                None => types.split.push(SplitVariable {
                    name,
                    scope,
                    type_id,
                    pieces: raw.pieces.clone(),
                }),
            }
        }
        types
    }
}

/// What the entry describes, if it is a type.
fn kind_of(entry: &TypeEntry<'_, '_>, tag: DwTag) -> Option<TypeKind> {
    Some(match tag {
        gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => TypeKind::Struct,
        gimli::DW_TAG_union_type => TypeKind::Union,
        gimli::DW_TAG_array_type => TypeKind::Array,
        gimli::DW_TAG_pointer_type
        | gimli::DW_TAG_reference_type
        | gimli::DW_TAG_rvalue_reference_type => TypeKind::Pointer,
        gimli::DW_TAG_typedef
        | gimli::DW_TAG_const_type
        | gimli::DW_TAG_volatile_type
        | gimli::DW_TAG_restrict_type
        | gimli::DW_TAG_atomic_type => TypeKind::Alias,
        gimli::DW_TAG_enumeration_type => TypeKind::Number(NumberKind::Unsigned),
        gimli::DW_TAG_base_type => {
            let encoding = entry.unsigned(gimli::DW_AT_encoding).unwrap_or(0);
            TypeKind::Number(match gimli::DwAte(encoding as u8) {
                gimli::DW_ATE_boolean => NumberKind::Bool,
                gimli::DW_ATE_float => NumberKind::Float,
                gimli::DW_ATE_signed => NumberKind::Signed,
                gimli::DW_ATE_signed_char | gimli::DW_ATE_unsigned_char | gimli::DW_ATE_UTF
                    if entry.small(gimli::DW_AT_byte_size) == Some(1) =>
                {
                    NumberKind::Character
                }
                _ => NumberKind::Unsigned,
            })
        }
        gimli::DW_TAG_subroutine_type | gimli::DW_TAG_unspecified_type => TypeKind::Other,
        _ => return None,
    })
}

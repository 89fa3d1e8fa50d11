//! Writes debug information in the same form as the WARPO compiler: class layouts and global variables as
//! DWARF 4, in one unit, for 32-bit memories.
//!
//! It is used by the transform for the AssemblyScript compiler, which passes the compiler's class table as
//! JSON, and by tests that define classes of their own.
//!
//! It writes everything that an analysis uses: base types with a name and without a size; classes with
//! their own members, base classes and type arguments; and variables. References are unit-local, so
//! classes can refer to each other in any order.
//!
//! ```
//! use wasm::debug_info::writer::{
//!     ClassDescription, DebugInfoDescription, FieldDescription, GlobalDescription, TypeReference,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // class Node { next: Node | null; weight: f64 }   let head: Node | null = null
//! let node = ClassDescription {
//!     name: "assembly/index/Node".into(),
//!     runtime_id: Some(5),
//!     fields: vec![
//!         FieldDescription { name: "next".into(), offset: 0, of: TypeReference::Class(0) },
//!         FieldDescription { name: "weight".into(), offset: 8, of: TypeReference::Base("f64".into()) },
//!     ],
//!     ..ClassDescription::default()
//! };
//! let head = GlobalDescription {
//!     name: "assembly/index/head".into(),
//!     of: TypeReference::Class(0),
//!     global_index: None,
//!     constant_value: None,
//! };
//! let sections = DebugInfoDescription {
//!     producer: "an example".into(),
//!     classes: vec![node],
//!     globals: vec![head],
//! }
//! .encode()?;
//!
//! let dwarf = gimli::read::DwarfSections::load(|id| -> Result<&[u8], gimli::Error> {
//!     Ok(match id {
//!         gimli::SectionId::DebugInfo => &sections.debug_info,
//!         gimli::SectionId::DebugAbbrev => &sections.debug_abbrev,
//!         gimli::SectionId::DebugStr => &sections.debug_str,
//!         _ => &[],
//!     })
//! })?;
//! let dwarf = dwarf.borrow(|bytes| gimli::EndianSlice::new(bytes, gimli::LittleEndian));
//! let header = dwarf.units().next()?.ok_or("a unit")?;
//! let unit = dwarf.unit(header)?;
//! let mut entries = unit.entries();
//! let mut tags = Vec::new();
//! while let Some(entry) = entries.next_dfs()? {
//!     tags.push(entry.tag());
//! }
//! assert_eq!(
//!     tags,
//!     [
//!         gimli::DW_TAG_compile_unit,
//!         gimli::DW_TAG_base_type,
//!         gimli::DW_TAG_class_type,
//!         gimli::DW_TAG_member,
//!         gimli::DW_TAG_member,
//!         gimli::DW_TAG_variable,
//!     ]
//! );
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeMap;

use gimli::constants::{
    DW_AT_const_value, DW_AT_data_member_location, DW_AT_location, DW_AT_name, DW_AT_producer,
    DW_AT_signature, DW_AT_type, DW_TAG_base_type, DW_TAG_class_type, DW_TAG_inheritance,
    DW_TAG_member, DW_TAG_template_type_parameter, DW_TAG_variable,
};
use gimli::write::{AttributeValue, DwarfUnit, EndianVec, Sections, UnitEntryId};
use gimli::{Encoding, Format, LittleEndian, SectionId};

pub use super::description::{
    ClassDescription, DebugInfoDescription, DebugSections, FieldDescription, GlobalDescription,
    TypeReference, WriteError,
};

impl DebugInfoDescription {
    /// The description as the contents of debug sections.
    pub fn encode(&self) -> Result<DebugSections, WriteError> {
        let mut unit = UnitWriter::new(self)?;
        for (position, class) in self.classes.iter().enumerate() {
            unit.write_class(position, class)?;
        }
        for global in &self.globals {
            unit.write_global(global)?;
        }
        unit.finish()
    }
}

/// The unit under construction.
struct UnitWriter {
    dwarf: DwarfUnit,
    /// The entry of each class. Made before anything refers to one, because classes refer to
    /// later classes.
    classes: Vec<UnitEntryId>,
    base_types: BTreeMap<String, UnitEntryId>,
}

impl UnitWriter {
    fn new(description: &DebugInfoDescription) -> Result<Self, WriteError> {
        let mut dwarf = DwarfUnit::new(Encoding {
            format: Format::Dwarf32,
            version: 4,
            address_size: 4,
        });
        let root = dwarf.unit.root();
        let producer = dwarf.strings.add(without_zero(&description.producer)?);
        dwarf
            .unit
            .get_mut(root)
            .set(DW_AT_producer, AttributeValue::StringRef(producer));
        let mut writer = Self {
            dwarf,
            classes: Vec::with_capacity(description.classes.len()),
            base_types: BTreeMap::new(),
        };
        for name in base_type_names(description) {
            if !writer.base_types.contains_key(name) {
                let entry = writer.add_named(root, DW_TAG_base_type, name)?;
                writer.base_types.insert(name.to_owned(), entry);
            }
        }
        for class in &description.classes {
            let entry = writer.add_named(root, DW_TAG_class_type, &class.name)?;
            writer.classes.push(entry);
        }
        Ok(writer)
    }

    fn write_class(&mut self, position: usize, class: &ClassDescription) -> Result<(), WriteError> {
        let entry = self.class_entry(position, &class.name)?;
        if let Some(id) = class.runtime_id {
            self.set(entry, DW_AT_signature, AttributeValue::Data4(id));
        }
        if let Some(base) = class.base {
            let base = self.class_entry(base, &class.name)?;
            let inheritance = self.dwarf.unit.add(entry, DW_TAG_inheritance);
            self.set(inheritance, DW_AT_type, AttributeValue::UnitRef(base));
        }
        for argument in &class.type_arguments {
            let parameter = self.dwarf.unit.add(entry, DW_TAG_template_type_parameter);
            self.set_type(parameter, argument, &class.name)?;
        }
        for field in &class.fields {
            let member = self.add_named(entry, DW_TAG_member, &field.name)?;
            self.set_type(member, &field.of, &class.name)?;
            let offset = AttributeValue::Data4(field.offset);
            self.set(member, DW_AT_data_member_location, offset);
        }
        Ok(())
    }

    fn write_global(&mut self, global: &GlobalDescription) -> Result<(), WriteError> {
        let root = self.dwarf.unit.root();
        let variable = self.add_named(root, DW_TAG_variable, &global.name)?;
        self.set_type(variable, &global.of, &global.name)?;
        if let Some(index) = global.global_index {
            self.set(variable, DW_AT_location, AttributeValue::Data4(index));
        }
        if let Some(value) = global.constant_value {
            self.set(variable, DW_AT_const_value, AttributeValue::Data4(value));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<DebugSections, WriteError> {
        let mut sections = Sections::new(EndianVec::new(LittleEndian));
        self.dwarf.write(&mut sections)?;
        let take = |id| -> Vec<u8> {
            sections
                .get(id)
                .map(|section| section.slice().to_vec())
                .unwrap_or_default()
        };
        Ok(DebugSections {
            debug_info: take(SectionId::DebugInfo),
            debug_abbrev: take(SectionId::DebugAbbrev),
            debug_str: take(SectionId::DebugStr),
        })
    }

    fn add_named(
        &mut self,
        parent: UnitEntryId,
        tag: gimli::DwTag,
        name: &str,
    ) -> Result<UnitEntryId, WriteError> {
        let entry = self.dwarf.unit.add(parent, tag);
        let name = AttributeValue::String(without_zero(name)?.to_vec());
        self.set(entry, DW_AT_name, name);
        Ok(entry)
    }

    fn set(&mut self, entry: UnitEntryId, attribute: gimli::DwAt, value: AttributeValue) {
        self.dwarf.unit.get_mut(entry).set(attribute, value);
    }

    fn set_type(
        &mut self,
        entry: UnitEntryId,
        reference: &TypeReference,
        user: &str,
    ) -> Result<(), WriteError> {
        let target = match reference {
            TypeReference::Class(position) => Some(self.class_entry(*position, user)?),
            TypeReference::Base(name) => self.base_types.get(name).copied(),
            TypeReference::NeverCompiled => None,
        };
        if let Some(target) = target {
            self.set(entry, DW_AT_type, AttributeValue::UnitRef(target));
        }
        Ok(())
    }

    fn class_entry(&self, position: usize, user: &str) -> Result<UnitEntryId, WriteError> {
        self.classes
            .get(position)
            .copied()
            .ok_or_else(|| WriteError::UnknownClass {
                user: user.to_owned(),
                class: position,
                count: self.classes.len(),
            })
    }
}

/// The names of all base types in use, in no particular order and with repetitions.
fn base_type_names(description: &DebugInfoDescription) -> impl Iterator<Item = &str> {
    let in_classes = description.classes.iter().flat_map(|class| {
        let fields = class.fields.iter().map(|field| &field.of);
        fields.chain(&class.type_arguments)
    });
    let in_globals = description.globals.iter().map(|global| &global.of);
    in_classes
        .chain(in_globals)
        .filter_map(|reference| match reference {
            TypeReference::Base(name) => Some(name.as_str()),
            TypeReference::Class(_) | TypeReference::NeverCompiled => None,
        })
}

/// The bytes of a name. gimli panics at a zero byte, so it is refused here.
fn without_zero(name: &str) -> Result<&[u8], WriteError> {
    if name.as_bytes().contains(&0) {
        return Err(WriteError::ZeroInName {
            name: name.to_owned(),
        });
    }
    Ok(name.as_bytes())
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn described(json: &str) -> DebugInfoDescription {
        DebugInfoDescription::from_json(json).expect("a description")
    }

    /// Every entry as `depth tag attribute=value …`, references as the name of their target.
    fn listing(sections: &DebugSections) -> Vec<String> {
        let dwarf = gimli::read::DwarfSections::load(|id| -> Result<&[u8], gimli::Error> {
            Ok(match id {
                SectionId::DebugInfo => &sections.debug_info,
                SectionId::DebugAbbrev => &sections.debug_abbrev,
                SectionId::DebugStr => &sections.debug_str,
                _ => &[],
            })
        })
        .expect("sections")
        .borrow(|bytes| gimli::EndianSlice::new(bytes, LittleEndian));
        let header = dwarf.units().next().expect("units").expect("a unit");
        assert_eq!(header.version(), 4);
        assert_eq!(header.address_size(), 4);
        let unit = dwarf.unit(header).expect("unit");
        let text = |value| {
            let string = dwarf.attr_string(&unit, value).expect("a string");
            string.to_string().expect("UTF-8").to_owned()
        };
        let mut lines = Vec::new();
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs().expect("an entry") {
            let mut line = format!("{} {}", entry.depth(), entry.tag());
            for attribute in entry.attrs() {
                let value = match attribute.value() {
                    gimli::AttributeValue::UnitRef(offset) => {
                        let target = unit.entry(offset).expect("a target");
                        let name = target.attr_value(DW_AT_name).expect("a name");
                        format!("-> {}", text(name))
                    }
                    value @ (gimli::AttributeValue::String(_)
                    | gimli::AttributeValue::DebugStrRef(_)) => text(value),
                    // gimli takes any four-byte location for an offset into a section.
                    gimli::AttributeValue::LocationListsRef(index) => index.0.to_string(),
                    other => other.udata_value().expect("a number").to_string(),
                };
                line += &format!(" {}({})={value}", attribute.name(), attribute.form());
            }
            lines.push(line.replace("DW_", ""));
        }
        lines
    }

    #[test]
    fn everything_described_can_be_read_back() {
        let sections = described(
            r#"{
              "producer": "test",
              "classes": [
                {"name": "a/List<a/Größe>", "runtimeId": 7, "base": 1, "typeArguments": [{"class": 2}, {"base": "u8"}],
                 "fields": [{"name": "first", "offset": 4, "of": {"class": 2}}, {"name": "gone", "offset": 8, "of": "neverCompiled"}]},
                {"name": "a/Base", "runtimeId": 0},
                {"name": "a/Größe"}
              ],
              "globals": [
                {"name": "a/list", "of": {"class": 0}, "globalIndex": 3},
                {"name": "a/fixed", "of": {"class": 0}, "constantValue": 64}
              ]
            }"#,
        )
        .encode()
        .expect("sections");
        assert_eq!(
            listing(&sections),
            [
                "0 TAG_compile_unit AT_producer(FORM_strp)=test",
                "1 TAG_base_type AT_name(FORM_string)=u8",
                "1 TAG_class_type AT_name(FORM_string)=a/List<a/Größe> AT_signature(FORM_data4)=7",
                "2 TAG_inheritance AT_type(FORM_ref4)=-> a/Base",
                "2 TAG_template_type_parameter AT_type(FORM_ref4)=-> a/Größe",
                "2 TAG_template_type_parameter AT_type(FORM_ref4)=-> u8",
                "2 TAG_member AT_name(FORM_string)=first AT_type(FORM_ref4)=-> a/Größe AT_data_member_location(FORM_data4)=4",
                "2 TAG_member AT_name(FORM_string)=gone AT_data_member_location(FORM_data4)=8",
                "1 TAG_class_type AT_name(FORM_string)=a/Base AT_signature(FORM_data4)=0",
                "1 TAG_class_type AT_name(FORM_string)=a/Größe",
                "1 TAG_variable AT_name(FORM_string)=a/list AT_type(FORM_ref4)=-> a/List<a/Größe> AT_location(FORM_data4)=3",
                "1 TAG_variable AT_name(FORM_string)=a/fixed AT_type(FORM_ref4)=-> a/List<a/Größe> AT_const_value(FORM_data4)=64",
            ]
        );
    }

    #[test]
    fn a_reference_past_the_last_class_is_an_error_that_names_its_user() {
        for json in [
            r#"{"producer":"t","classes":[{"name":"a/A","base":1}],"globals":[]}"#,
            r#"{"producer":"t","classes":[{"name":"a/A","typeArguments":[{"class":1}]}],"globals":[]}"#,
            r#"{"producer":"t","classes":[{"name":"a/B"}],"globals":[{"name":"a/A","of":{"class":1}}]}"#,
        ] {
            let error = described(json).encode().expect_err("an error");
            assert_eq!(
                error.to_string(),
                "a/A refers to class 1, but only 1 classes are described (0 to 1, exclusive)"
            );
        }
    }

    #[test]
    fn a_zero_in_a_name_is_an_error_and_not_a_panic() {
        let error = described(r#"{"producer":"t","classes":[{"name":"a\u0000b"}],"globals":[]}"#)
            .encode()
            .expect_err("an error");
        assert_eq!(
            error.to_string(),
            r#"the name "a\0b" has a zero character, which ends a string in DWARF"#
        );
    }

    #[test]
    fn a_misspelt_field_is_an_error() {
        let error =
            DebugInfoDescription::from_json(r#"{"producer":"t","klasses":[],"globals":[]}"#)
                .expect_err("an error");
        assert!(error.to_string().contains("klasses"), "{error}");
    }
}

//! The names of types, fields and globals of WasmGC, from the `name` section of a module.

use std::collections::HashMap;

use wasmparser::{
    CompositeInnerType, GlobalType, IndirectNameMap, KnownCustom, Name, NameMap, Parser, Payload,
    TypeRef, ValType,
};

use crate::module::unreadable;
use base::control::Control;
use base::error::Result;

/// A type of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GcType<'a> {
    /// Its name, if it has one.
    pub name: Option<&'a str>,
    /// The names of its fields, as far as they have one, by number.
    pub fields: HashMap<u32, &'a str>,
}

/// What a module calls its types, and the globals whose values V8 keeps in the instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GcNames<'a> {
    /// All types, those of functions included, by index.
    pub types: Vec<GcType<'a>>,
    /// The names of globals of reference types, in their order, without imported ones that can change: those are
    /// not in the instance.
    pub globals: Vec<Option<&'a str>>,
    /// Whether a type is a struct or an array.
    pub has_objects: bool,
}

impl<'a> GcNames<'a> {
    /// Reads the names of a module.
    ///
    /// # Errors
    /// [`ModuleError::Unreadable`](crate::ModuleError::Unreadable) if the module cannot be read,
    /// [`Error::Aborted`](base::Error::Aborted).
    pub fn read(wasm: &'a [u8], control: &Control) -> Result<Self> {
        let mut names = Self::default();
        // By position in `globals`: the index of the global.
        let mut kept = Vec::new();
        let mut globals = 0;
        let mut add_global = |ty: GlobalType, is_imported: bool| {
            let is_elsewhere = is_imported && ty.mutable;
            if matches!(ty.content_type, ValType::Ref(_)) && !is_elsewhere {
                kept.push(globals);
            }
            globals += 1;
        };
        let mut global_names = HashMap::new();
        for payload in Parser::new(0).parse_all(wasm) {
            control.count(1)?;
            match payload.map_err(unreadable)? {
                Payload::TypeSection(section) => names.read_types(section, control)?,
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        control.count(1)?;
                        if let TypeRef::Global(ty) = import.map_err(unreadable)?.ty {
                            add_global(ty, true);
                        }
                    }
                }
                Payload::GlobalSection(section) => {
                    for global in section {
                        control.count(1)?;
                        add_global(global.map_err(unreadable)?.ty, false);
                    }
                }
                Payload::CustomSection(section) => {
                    let KnownCustom::Name(section) = section.as_known() else {
                        continue;
                    };
                    for subsection in section {
                        match subsection.map_err(unreadable)? {
                            Name::Type(map) => names.name_types(map, control)?,
                            Name::Field(map) => names.name_fields(map, control)?,
                            Name::Global(map) => global_names = read_names(map, control)?,
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        let name = |index: &u32| global_names.get(index).copied();
        names.globals = kept.iter().map(name).collect();
        Ok(names)
    }

    fn read_types(
        &mut self,
        section: wasmparser::TypeSectionReader<'a>,
        control: &Control,
    ) -> Result<()> {
        for group in section {
            for ty in group.map_err(unreadable)?.into_types() {
                control.count(1)?;
                self.has_objects |= matches!(
                    ty.composite_type.inner,
                    CompositeInnerType::Struct(_) | CompositeInnerType::Array(_)
                );
                self.types.push(GcType::default());
            }
        }
        Ok(())
    }

    fn name_types(&mut self, map: NameMap<'a>, control: &Control) -> Result<()> {
        for (index, name) in read_names(map, control)? {
            if let Some(ty) = self.types.get_mut(index as usize) {
                ty.name = Some(name);
            }
        }
        Ok(())
    }

    fn name_fields(&mut self, map: IndirectNameMap<'a>, control: &Control) -> Result<()> {
        for naming in map.names {
            let naming = naming.map_err(unreadable)?;
            let fields = read_names(naming.names, control)?;
            if let Some(ty) = self.types.get_mut(naming.index as usize) {
                ty.fields = fields;
            }
        }
        Ok(())
    }
}

fn read_names<'a>(map: NameMap<'a>, control: &Control) -> Result<HashMap<u32, &'a str>> {
    let mut names = HashMap::new();
    // Not in order: Binaryen writes fields as they come.
    for naming in map.names {
        control.count(1)?;
        let naming = naming.map_err(unreadable)?;
        names.insert(naming.index, naming.name);
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::GcNames;
    use base::control::Control;

    /// What Binaryen makes of types `$Player`, `$Players` and `$Round`, and a global `$rounds`.
    const GAME: &[u8] = b"\x00\x61\x73\x6d\x01\x00\x00\x00\x01\x18\x04\x5f\x02\x7f\x01\x63\x00\x01\x5e\x63\x00\x01\x5f\x02\
        \x64\x01\x00\x63\x02\x00\x60\x01\x7f\x00\x03\x02\x01\x03\x06\x07\x01\x63\x02\x01\xd0\x71\x0b\x07\
        \x08\x01\x04\x70\x6c\x61\x79\x00\x00\x0a\x38\x01\x36\x02\x01\x7f\x01\x64\x01\x20\x00\xfb\x07\x01\
        \x21\x02\x03\x40\x20\x02\x20\x01\x20\x01\xd0\x71\xfb\x00\x00\xfb\x0e\x01\x20\x01\x41\x01\x6a\x21\
        \x01\x20\x01\x20\x00\x49\x0d\x00\x0b\x20\x02\x23\x00\xfb\x00\x02\x24\x00\x0b\x00\x6f\x04\x6e\x61\
        \x6d\x65\x02\x18\x01\x00\x03\x00\x05\x63\x6f\x75\x6e\x74\x01\x03\x6e\x74\x68\x02\x07\x70\x6c\x61\
        \x79\x65\x72\x73\x04\x19\x03\x00\x06\x50\x6c\x61\x79\x65\x72\x01\x07\x50\x6c\x61\x79\x65\x72\x73\
        \x02\x05\x52\x6f\x75\x6e\x64\x07\x09\x01\x00\x06\x72\x6f\x75\x6e\x64\x73\x0a\x28\x02\x00\x02\x01\
        \x08\x70\x72\x65\x76\x69\x6f\x75\x73\x00\x05\x73\x63\x6f\x72\x65\x02\x02\x01\x07\x65\x61\x72\x6c\
        \x69\x65\x72\x00\x07\x70\x6c\x61\x79\x65\x72\x73";

    #[test]
    fn types_fields_and_globals_have_their_names() -> Result<(), base::Error> {
        let names = GcNames::read(GAME, &Control::default())?;
        let types: Vec<_> = names.types.iter().map(|ty| ty.name).collect();
        assert_eq!(
            types,
            [Some("Player"), Some("Players"), Some("Round"), None]
        );
        assert_eq!(names.types[0].fields[&1], "previous");
        assert_eq!(names.types[2].fields[&0], "players");
        assert_eq!(names.globals, [Some("rounds")]);
        assert!(names.has_objects);
        Ok(())
    }

    #[test]
    fn a_module_without_types_has_no_names() -> Result<(), base::Error> {
        let names = GcNames::read(b"\0asm\x01\0\0\0", &Control::default())?;
        assert_eq!(names, GcNames::default());
        assert!(GcNames::read(b"\0asm", &Control::default()).is_err());
        Ok(())
    }
}

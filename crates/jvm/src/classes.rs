//! The classes: their names, fields through all superclasses, and the numbers of names.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::HprofError;
use crate::bytes::{IdSize, JavaType, RecordCursor};
use crate::heap_records::{ClassRecord, class_at};
use crate::outline::Outline;
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;

/// The most superclasses of a class. The JVM has none, but no program comes near.
const MOST_SUPERCLASSES: usize = 1 << 8;

/// A field of a class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JavaField {
    /// The number of its name.
    pub(crate) name: u32,
    pub(crate) java_type: JavaType,
}

/// A static field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Static {
    pub(crate) name: u32,
    pub(crate) java_type: JavaType,
    /// Where its value is in the file.
    pub(crate) at: u64,
}

/// A class that has a record.
#[derive(Clone, Debug)]
pub(crate) struct JavaClass {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) superclass: Option<u32>,
    pub(crate) super_id: u64,
    pub(crate) loader: u64,
    pub(crate) signers: u64,
    pub(crate) domain: u64,
    pub(crate) constants: Vec<u64>,
    pub(crate) statics: Vec<Static>,
    /// Its own.
    pub(crate) fields: Vec<JavaField>,
}

impl JavaClass {
    /// Whether its loader does not keep it alive, as that of a lambda: then its instances do.
    pub(crate) fn is_hidden(&self) -> bool {
        self.name.contains("/0x")
    }
}

/// Names with their numbers.
#[derive(Debug, Default)]
pub(crate) struct Names {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    pub(crate) fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("?", String::as_str)
    }

    pub(crate) fn memory_size(&self) -> u64 {
        let bytes: usize = self.texts.iter().map(String::len).sum();
        (2 * (bytes + self.texts.len() * size_of::<String>())) as u64
    }
}

/// All classes, ascending by id.
#[derive(Debug)]
pub(crate) struct JavaClasses {
    pub(crate) all: Vec<JavaClass>,
    pub(crate) names: Names,
    /// Names of classes that were loaded, by id: those without a record too.
    loaded: HashMap<u64, String>,
}

/// A field of an object with its place in the record of the object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedField {
    pub(crate) field: JavaField,
    /// Of the value, from the start of the contents.
    pub(crate) offset: u32,
    /// The class that declares it.
    pub(crate) class: u32,
}

impl JavaClasses {
    /// Reads the records of classes at these offsets.
    ///
    /// # Errors
    /// [`HprofError`], [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub(crate) fn read(
        file: &[u8],
        outline: &Outline,
        offsets: &[u64],
        step: &Step<'_>,
    ) -> Result<Self> {
        let mut records = columns::with_capacity(offsets.len())?;
        for (nth, &offset) in offsets.iter().enumerate() {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            let mut cursor = RecordCursor::new(file, offset as usize, outline.ids);
            let record = class_at(&mut cursor)
                .ok_or_else(|| HprofError::at(offset, "the record of a class cannot be read"))?;
            step.control().count(1 + record.statics.len() as u64)?;
            records.push(record);
        }
        records.sort_by_key(|record| record.id);
        records.dedup_by_key(|record| record.id);
        let loaded = outline.loaded.iter().filter_map(|class| {
            let name = outline.name(file, class.name)?;
            Some((class.id, java_name(&name)))
        });
        let mut classes = Self {
            all: columns::with_capacity(records.len())?,
            names: Names::default(),
            loaded: loaded.collect(),
        };
        for record in records {
            let class = classes.class(file, outline, record);
            classes.all.push(class);
        }
        classes.link()?;
        Ok(classes)
    }

    fn class(&mut self, file: &[u8], outline: &Outline, record: ClassRecord) -> JavaClass {
        let names = &mut self.names;
        let mut number = |id| {
            let name = outline.name(file, id);
            names.number(&name.unwrap_or(Cow::Borrowed("?")))
        };
        let statics = record.statics.iter().map(|value| Static {
            name: number(value.name),
            java_type: value.java_type,
            at: value.at,
        });
        let statics = statics.collect();
        let fields = record.fields.iter().map(|&(name, java_type)| JavaField {
            name: number(name),
            java_type,
        });
        JavaClass {
            id: record.id,
            statics,
            fields: fields.collect(),
            name: self.name_of_id(record.id),
            superclass: None,
            super_id: record.superclass,
            loader: record.loader,
            signers: record.signers,
            domain: record.domain,
            constants: record.constants,
        }
    }

    /// The name of a class by its id.
    pub(crate) fn name_of_id(&self, id: u64) -> String {
        let unknown = || format!("(unknown class {id:#x})");
        self.loaded.get(&id).cloned().unwrap_or_else(unknown)
    }

    /// Finds superclasses.
    fn link(&mut self) -> Result<()> {
        for nth in 0..self.all.len() {
            let superclass = self.of_id(self.all[nth].super_id);
            self.all[nth].superclass = superclass;
        }
        for nth in 0..self.all.len() as u32 {
            if self.hierarchy(nth).nth(MOST_SUPERCLASSES).is_some() {
                let id = self.all[nth as usize].id;
                let message =
                    format!("the superclasses of the class {id:#x} have no end, or are too many");
                return Err(HprofError::at(0, message).into());
            }
        }
        Ok(())
    }

    /// The number of a class by its id.
    #[inline]
    pub(crate) fn of_id(&self, id: u64) -> Option<u32> {
        let found = self.all.binary_search_by_key(&id, |class| class.id);
        found.ok().map(|nth| nth as u32)
    }

    /// A class and its superclasses.
    pub(crate) fn hierarchy(&self, class: u32) -> impl Iterator<Item = u32> + '_ {
        let next = |&class: &u32| self.all[class as usize].superclass;
        std::iter::successors(Some(class), next)
    }

    /// Whether a class is one with this name, or a subclass.
    pub(crate) fn is_a(&self, class: u32, name: &str) -> bool {
        self.hierarchy(class)
            .any(|class| self.all[class as usize].name == name)
    }

    /// The fields of the objects of a class in the order of their records, which have `length` bytes; `None` if that is
    /// not their length.
    pub(crate) fn placed_fields(
        &self,
        class: u32,
        length: u32,
        ids: IdSize,
    ) -> Option<Vec<PlacedField>> {
        let mut placed = Vec::new();
        let mut offset = 0usize;
        for class in self.hierarchy(class) {
            for &field in &self.all[class as usize].fields {
                placed.push(PlacedField {
                    field,
                    offset: offset as u32,
                    class,
                });
                offset += field.java_type.bytes(ids);
                if offset > length as usize {
                    return None;
                }
            }
        }
        (offset == length as usize).then_some(placed)
    }
}

/// The name of a class as Java's source has it: `java.lang.String[]` for `[Ljava/lang/String;`.
pub(crate) fn java_name(name: &str) -> String {
    let element = name.trim_start_matches('[');
    let dimensions = name.len() - element.len();
    if dimensions == 0 {
        // The address of a hidden class comes after this.
        return name.replace('/', ".").replace("+0x", "/0x");
    }
    let known = match element {
        "Z" => "boolean",
        "C" => "char",
        "F" => "float",
        "D" => "double",
        "B" => "byte",
        "S" => "short",
        "I" => "int",
        "J" => "long",
        _ => element
            .strip_prefix('L')
            .and_then(|class| class.strip_suffix(';'))
            .unwrap_or(element),
    };
    format!("{}{}", known.replace('/', "."), "[]".repeat(dimensions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_the_names_of_the_source() {
        assert_eq!(java_name("java/util/Map$Entry"), "java.util.Map$Entry");
        assert_eq!(java_name("[[Ljava/lang/String;"), "java.lang.String[][]");
        assert_eq!(java_name("[I"), "int[]");
        assert_eq!(java_name("a/B$$Lambda$1+0x0007"), "a.B$$Lambda$1/0x0007");
        assert_eq!(java_name("java.lang.String[]"), "java.lang.String[]");
    }
}

//! What is kept of a dump for questions: classes, names, and where the records of objects are.

use crate::bytes::{IdSize, JavaType};
use crate::classes::{JavaClasses, PlacedField};
use crate::contents::RecordOffsets;
use crate::edges::WeakEdge;
use base::units::ObjectIndex;
use heap::Heap;

/// What the objects of a class slot are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JavaSlotKind {
    /// Instances of a class with a record.
    Instances(u32),
    /// Arrays of references.
    References,
    /// Arrays of values.
    Values(JavaType),
    /// Objects of `java.lang.Class`, some of which are instances of the class with this number: those of `int` and others.
    Classes(Option<u32>),
    /// Instances of a class without a record.
    Unknown,
}

/// Where a string has its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StringLayout {
    /// Its class.
    pub(crate) class: u32,
    /// Offsets in its record.
    pub(crate) value: u32,
    /// Which encoding the value has, since Java 9.
    pub(crate) coder: Option<u32>,
    /// The part of the value that it uses, before Java 7.
    pub(crate) part: Option<StringPart>,
}

/// Offsets of the fields that say which part of a value a string uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StringPart {
    pub(crate) offset: u32,
    pub(crate) count: u32,
}

/// All that questions read beside the heap.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) ids: IdSize,
    pub(crate) classes: JavaClasses,
    /// By class: the fields of its instances. Empty for classes without instances.
    pub(crate) placed: Vec<Vec<PlacedField>>,
    /// By class slot of the heap.
    pub(crate) slots: Vec<JavaSlotKind>,
    pub(crate) offsets: RecordOffsets,
    /// The objects of classes, ascending, with the numbers of the classes.
    pub(crate) class_objects: Vec<(ObjectIndex, u32)>,
    /// By class: whether the JVM never unloads it.
    pub(crate) is_permanent: Vec<bool>,
    /// Ascending by target.
    pub(crate) weak: Vec<WeakEdge>,
    pub(crate) string: Option<StringLayout>,
    /// Classes whose contents are known, by class.
    pub(crate) containers: Vec<Option<crate::container_layout::JavaContainer>>,
    /// The length of the file.
    pub(crate) length: u64,
}

impl Model {
    /// The fields of a class with its superclasses, by name; of two with one name, that of the subclass.
    pub(crate) fn field(&self, class: u32, name: &str) -> Option<PlacedField> {
        let name = self.classes.names.find(name)?;
        let mut fields = self.placed[class as usize].iter();
        fields.find(|placed| placed.field.name == name).copied()
    }

    pub(crate) fn kind(&self, heap: &Heap, object: ObjectIndex) -> JavaSlotKind {
        let slot = heap.objects.class_slots[object.at()];
        self.slots
            .get(slot as usize)
            .copied()
            .unwrap_or(JavaSlotKind::Unknown)
    }

    /// The class whose object this is.
    pub(crate) fn class_of_object(&self, object: ObjectIndex) -> Option<u32> {
        let found = self
            .class_objects
            .binary_search_by_key(&object, |&(object, _)| object);
        found.ok().map(|nth| self.class_objects[nth].1)
    }

    pub(crate) fn find_string(
        classes: &JavaClasses,
        placed: &[Vec<PlacedField>],
    ) -> Option<StringLayout> {
        let mut numbered = (0u32..).zip(&classes.all);
        let (class, _) = numbered.find(|(_, class)| class.name == "java.lang.String")?;
        let fields = &placed[class as usize];
        let offset = |name: &str, java_type| {
            let number = classes.names.find(name)?;
            let mut fields = fields.iter();
            let field = fields
                .find(|placed| placed.field.name == number && placed.field.java_type == java_type);
            field.map(|placed| placed.offset)
        };
        let part = offset("offset", JavaType::Int).zip(offset("count", JavaType::Int));
        Some(StringLayout {
            class,
            value: offset("value", JavaType::Object)?,
            coder: offset("coder", JavaType::Byte),
            part: part.map(|(offset, count)| StringPart { offset, count }),
        })
    }

    pub(crate) fn memory_size(&self) -> u64 {
        let placed: usize = self.placed.iter().map(Vec::len).sum();
        let weak = self.weak.len() * size_of::<WeakEdge>();
        let classes = self.classes.all.len() * size_of::<crate::classes::JavaClass>();
        self.offsets.memory_size()
            + self.classes.names.memory_size()
            + (placed * size_of::<PlacedField>() + weak + classes) as u64
    }
}

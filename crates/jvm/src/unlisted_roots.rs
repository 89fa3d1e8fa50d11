//! Roots that a JVM has, but that it does not list in a dump: classes of its own loader, and threads without Java frames.

use rayon::prelude::*;

use crate::bytes::{IdSize, JavaType, RecordCursor};
use crate::classes::{JavaClasses, PlacedField};
use crate::heap_records::object_at;
use crate::id_index::IdIndex;
use crate::roots::NamedRoot;
use crate::scan::{HprofReading, ObjectPlace};
use base::units::ObjectIndex;
use heap::RootKind;

/// What they are found in.
pub(crate) struct Unlisted<'a> {
    pub(crate) reading: HprofReading<'a>,
    pub(crate) classes: &'a JavaClasses,
    pub(crate) placed: &'a [Vec<PlacedField>],
    pub(crate) objects: &'a [ObjectPlace],
    pub(crate) index: &'a IdIndex<'a>,
    /// By object: its class slot.
    pub(crate) slots: &'a [u32],
}

impl Unlisted<'_> {
    pub(crate) fn roots(&self) -> Vec<NamedRoot> {
        let root = |kind, name: &str, object| (kind, name.to_owned(), object);
        let classes = self.own_classes();
        let classes = classes.map(|object| root(RootKind::Global, "system class", object));
        let threads = self.running_threads();
        let threads = threads
            .into_iter()
            .map(|object| root(RootKind::System, "thread of the virtual machine", object));
        classes.chain(threads).collect()
    }

    /// Classes without a loader: a JVM never unloads them.
    fn own_classes(&self) -> impl Iterator<Item = ObjectIndex> {
        let classes = self.classes.all.iter();
        let own = classes.filter(|class| class.loader == 0 && !class.is_hidden());
        own.filter_map(|class| self.index.get(class.id))
    }

    /// Threads that have a thread of the system: they were started, and have not ended.
    fn running_threads(&self) -> Vec<ObjectIndex> {
        let handles: Vec<Option<u32>> = (0..self.classes.all.len() as u32)
            .map(|class| self.handle(class))
            .collect();
        if handles.iter().all(Option::is_none) {
            return Vec::new();
        }
        let objects = (0..self.objects.len()).into_par_iter();
        let running = objects.filter(|&nth| {
            let handle = handles.get(self.slots[nth] as usize).copied().flatten();
            handle.is_some_and(|offset| self.is_set(nth, offset))
        });
        running.map(|nth| ObjectIndex(nth as u32)).collect()
    }

    /// Where threads of a class have the address of their thread of the system.
    fn handle(&self, class: u32) -> Option<u32> {
        if self.placed[class as usize].is_empty() || !self.classes.is_a(class, "java.lang.Thread") {
            return None;
        }
        let name = self.classes.names.find("eetop")?;
        let mut fields = self.placed[class as usize].iter();
        let field = fields
            .find(|placed| placed.field.name == name && placed.field.java_type == JavaType::Long);
        field.map(|placed| placed.offset)
    }

    /// Whether a number of 64 bits in the record of an object is not 0.
    fn is_set(&self, nth: usize, offset: u32) -> bool {
        let at = self.objects[nth].at as usize;
        let mut cursor = RecordCursor::new(self.reading.file, at, self.reading.ids);
        let number = object_at(&mut cursor)
            .and_then(|_| cursor.take(offset as usize))
            .and_then(|_| cursor.take(8));
        number.is_some_and(|bytes| IdSize::Eight.read(bytes) != 0)
    }
}

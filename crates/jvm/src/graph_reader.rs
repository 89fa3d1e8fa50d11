//! Reads the references and the roots.

use std::collections::HashSet;

use crate::bytes::{JavaType, RecordCursor};
use crate::class_parts::{FileInput, JavaClassParts};
use crate::contents::FileReader;
use crate::edges::{FoundEdges, HprofEdgeReader, plan};
use crate::heap_records::{ObjectRecord, RootReason, object_at};
use crate::id_index::IdIndex;
use crate::model::Model;
use crate::outline::Outline;
use crate::roots::{NamedRoot, RootReader};
use crate::scan::{FoundRecords, HprofReading, ObjectPlace};
use crate::unlisted_roots::Unlisted;
use crate::values::text_of_record;
use base::control::Step;
use base::error::Result;
use base::units::ObjectIndex;

/// Loaders whose classes live as long as the JVM.
const PERMANENT_LOADERS: [&str; 5] = [
    "jdk.internal.loader.ClassLoaders$AppClassLoader",
    "jdk.internal.loader.ClassLoaders$PlatformClassLoader",
    "jdk.internal.loader.ClassLoaders$BootClassLoader",
    "sun.misc.Launcher$AppClassLoader",
    "sun.misc.Launcher$ExtClassLoader",
];

/// Reads the references and the roots.
pub(crate) struct GraphReader<'a> {
    pub(crate) input: FileInput<'a>,
    pub(crate) outline: &'a Outline,
    pub(crate) reading: HprofReading<'a>,
    pub(crate) parts: &'a JavaClassParts,
    pub(crate) objects: &'a [ObjectPlace],
    pub(crate) index: &'a IdIndex<'a>,
    pub(crate) slots: &'a [u32],
}

impl GraphReader<'_> {
    /// The objects of classes, ascending.
    pub(crate) fn class_objects(&self) -> Vec<(ObjectIndex, u32)> {
        let numbered = (0..).zip(&self.parts.classes.all);
        let found = numbered.filter_map(|(nth, class)| Some((self.index.get(class.id)?, nth)));
        found.collect()
    }

    /// By class: whether the JVM never unloads it.
    pub(crate) fn permanent_classes(&self, found: &FoundRecords) -> Vec<bool> {
        let classes = &self.parts.classes;
        let mut is_permanent: Vec<bool> = classes
            .all
            .iter()
            .map(|class| {
                class.loader == 0 && !class.is_hidden() || self.is_permanent_loader(class.loader)
            })
            .collect();
        for root in &found.roots {
            if root.reason == RootReason::StickyClass
                && let Some(class) = classes.of_id(root.id)
            {
                is_permanent[class as usize] = true;
            }
        }
        is_permanent
    }

    fn is_permanent_loader(&self, loader: u64) -> bool {
        let Some(object) = self.index.get(loader) else {
            return false;
        };
        let at = self.objects[object.at()].at;
        let mut cursor = RecordCursor::new(self.input.bytes, at as usize, self.reading.ids);
        let Some(ObjectRecord::Instance { class, .. }) = object_at(&mut cursor) else {
            return false;
        };
        let class = self.parts.classes.of_id(class);
        let class = class.map(|class| &self.parts.classes.all[class as usize]);
        class.is_some_and(|class| PERMANENT_LOADERS.contains(&class.name.as_str()))
    }

    pub(crate) fn edges(&self, is_permanent: &[bool], step: &Step<'_>) -> Result<FoundEdges> {
        let JavaClassParts {
            classes,
            placed,
            own,
        } = self.parts;
        let numbered = (0..).zip(placed);
        let plans: Vec<_> = numbered
            .map(|(class, fields)| plan(classes, class, fields, *own))
            .collect();
        let targets = classes.all.iter().zip(is_permanent);
        let targets = targets.map(|(class, &is_permanent)| {
            if is_permanent {
                None
            } else {
                self.index.get(class.id)
            }
        });
        HprofEdgeReader {
            reading: self.reading,
            classes,
            objects: self.objects,
            index: self.index,
            plans: &plans,
            class_targets: &targets.collect::<Vec<_>>(),
            loaded: &self.loaded_classes(),
            own: *own,
            with_labels: self.input.for_questions,
        }
        .read(step)
    }

    /// Loaders, ascending, with the objects of the classes that they keep alive.
    fn loaded_classes(&self) -> Vec<(ObjectIndex, ObjectIndex)> {
        let classes = self.parts.classes.all.iter();
        let kept = classes.filter(|class| class.loader != 0 && !class.is_hidden());
        let pairs = kept
            .filter_map(|class| Some((self.index.get(class.loader)?, self.index.get(class.id)?)));
        let mut pairs: Vec<_> = pairs.collect();
        pairs.sort_unstable();
        pairs
    }

    pub(crate) fn roots(&self, found: &FoundRecords, step: &Step<'_>) -> Result<Vec<NamedRoot>> {
        let string = Model::find_string(&self.parts.classes, &self.parts.placed);
        let thread_name = |object: ObjectIndex| {
            let Some(string) = string else {
                return Ok(None);
            };
            let mut file = FileReader::of_bytes(self.input.bytes, self.reading.ids);
            let Some(name) = self.field_of(object, "name", &mut file)? else {
                return Ok(None);
            };
            let place = |id| Some(self.objects[self.index.get(id)?.at()].at);
            text_of_record(&mut file, self.reading.ids, string, name, &place)
        };
        let mut named = RootReader {
            reading: self.reading,
            outline: self.outline,
            index: self.index,
            thread_name: &thread_name,
        }
        .named(&found.roots, step)?;
        let unlisted = Unlisted {
            reading: self.reading,
            classes: &self.parts.classes,
            placed: &self.parts.placed,
            objects: self.objects,
            index: self.index,
            slots: self.slots,
        };
        named.extend(self.not_yet(unlisted.roots(), &named));
        Ok(named)
    }

    /// Those of these roots whose objects are no roots yet.
    fn not_yet(&self, roots: Vec<NamedRoot>, known: &[NamedRoot]) -> Vec<NamedRoot> {
        let known: HashSet<ObjectIndex> = known.iter().map(|&(_, _, object)| object).collect();
        let new = roots.into_iter();
        new.filter(|(_, _, object)| !known.contains(object))
            .collect()
    }

    /// The record of the object to which a field refers.
    fn field_of(
        &self,
        object: ObjectIndex,
        name: &str,
        file: &mut FileReader<'_>,
    ) -> Result<Option<u64>> {
        let found = file.record(self.objects[object.at()].at)?;
        let ObjectRecord::Instance { class, .. } = found.record else {
            return Ok(None);
        };
        let classes = &self.parts.classes;
        let (Some(class), Some(name)) = (classes.of_id(class), classes.names.find(name)) else {
            return Ok(None);
        };
        let mut fields = self.parts.placed[class as usize].iter();
        let field = fields
            .find(|placed| placed.field.name == name && placed.field.java_type == JavaType::Object);
        let Some(field) = field else { return Ok(None) };
        let at = found.contents + u64::from(field.offset);
        let bytes = file.bytes(at, self.reading.ids.bytes())?;
        let target = self.index.get(self.reading.ids.read(bytes));
        Ok(target.map(|target| self.objects[target.at()].at))
    }
}

//! The references between objects, in the order of the objects.

use std::ops::Range;

use rayon::prelude::*;

use crate::HprofError;
use crate::bytes::{JavaType, RecordCursor};
use crate::classes::{JavaClasses, PlacedField};
use crate::container_layout::OWN_STORAGE;
use crate::heap_records::{ObjectRecord, object_at};
use crate::id_index::IdIndex;
use crate::scan::{HprofReading, ObjectPlace};
use crate::table::ClassLookup;
use base::columns;
use base::control::Step;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{EdgeLabel, Edges, NameKind, WideLabel};

/// Objects that one piece of work reads.
const PIECE: usize = 1 << 16;

/// What a reference does for its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strength {
    Strong,
    /// It keeps nothing alive.
    Weak,
}

/// A reference of each instance of a class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedReference {
    pub(crate) offset: u32,
    pub(crate) label: WideLabel,
    pub(crate) strength: Strength,
}

/// A reference that keeps nothing alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WeakEdge {
    pub(crate) target: ObjectIndex,
    pub(crate) source: ObjectIndex,
}

/// The numbers of the names of references that Java's source does not have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnNames {
    pub(crate) class: u32,
    superclass: u32,
    loader: u32,
    signers: u32,
    domain: u32,
    constants: u32,
    soft: u32,
    finalizer: u32,
    classes: u32,
}

impl OwnNames {
    pub(crate) fn new(classes: &mut JavaClasses) -> Self {
        let names = &mut classes.names;
        Self {
            class: names.number("<class>"),
            superclass: names.number("<superclass>"),
            loader: names.number("<loader>"),
            signers: names.number("<signers>"),
            domain: names.number("<protection domain>"),
            constants: names.number("<constant pool>"),
            soft: names.number("referent (soft)"),
            finalizer: names.number("referent (finalizer)"),
            classes: names.number("<classes>"),
        }
    }
}

/// The label of a reference that a field makes.
pub(crate) fn field_label(name: u32) -> WideLabel {
    WideLabel::named(NameKind::Property, name)
}

fn own_label(name: u32) -> WideLabel {
    WideLabel::named(NameKind::Internal, name)
}

/// The labels of references to a collection's own memory, which no path shows.
pub(crate) fn storage_labels(classes: &JavaClasses) -> Vec<EdgeLabel> {
    let mut names: Vec<&str> = OWN_STORAGE.iter().map(|&(_, field)| field).collect();
    names.sort_unstable();
    names.dedup();
    let numbers = names.iter().filter_map(|name| classes.names.find(name));
    numbers.map(|number| own_label(number).label()).collect()
}

/// Which bytes of the instances of a class are references.
pub(crate) fn plan(
    classes: &JavaClasses,
    class: u32,
    fields: &[PlacedField],
    own: OwnNames,
) -> Vec<PlannedReference> {
    let is_a = |name| classes.is_a(class, name);
    let is_reference = is_a("java.lang.ref.Reference");
    let is_weak = is_reference
        && (is_a("java.lang.ref.WeakReference") || is_a("java.lang.ref.PhantomReference"));
    let is_soft = is_reference && is_a("java.lang.ref.SoftReference");
    let is_final = is_reference && is_a("java.lang.ref.FinalReference");
    let references = fields
        .iter()
        .filter(|placed| placed.field.java_type == JavaType::Object);
    let planned = references.map(|placed| {
        let is_referent = is_reference
            && classes.names.text(placed.field.name) == "referent"
            && classes.all[placed.class as usize].name == "java.lang.ref.Reference";
        let (name, strength) = match is_referent {
            true if is_weak => (placed.field.name, Strength::Weak),
            true if is_soft => (own.soft, Strength::Strong),
            true if is_final => (own.finalizer, Strength::Strong),
            _ => (placed.field.name, Strength::Strong),
        };
        let declared = (
            classes.all[placed.class as usize].name.as_str(),
            classes.names.text(name),
        );
        PlannedReference {
            offset: placed.offset,
            label: if OWN_STORAGE.contains(&declared) {
                own_label(name)
            } else {
                field_label(name)
            },
            strength,
        }
    });
    planned.collect()
}

/// What the references are read from.
pub(crate) struct HprofEdgeReader<'a> {
    pub(crate) reading: HprofReading<'a>,
    pub(crate) classes: &'a JavaClasses,
    pub(crate) objects: &'a [ObjectPlace],
    pub(crate) index: &'a IdIndex<'a>,
    /// By class.
    pub(crate) plans: &'a [Vec<PlannedReference>],
    /// By class: its object, if a reference to it says something: other classes live as long as the JVM.
    pub(crate) class_targets: &'a [Option<ObjectIndex>],
    /// Loaders, ascending, each with the object of a class that it keeps alive.
    pub(crate) loaded: &'a [(ObjectIndex, ObjectIndex)],
    pub(crate) own: OwnNames,
    pub(crate) with_labels: bool,
}

/// All references.
pub(crate) struct FoundEdges {
    pub(crate) edges: Edges,
    /// Ascending by target.
    pub(crate) weak: Vec<WeakEdge>,
    pub(crate) dangling: Dangling,
}

/// References to objects that are not in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dangling {
    pub(crate) count: u64,
    /// Of these, those that one array has: the one with the most.
    pub(crate) in_one_array: u64,
}

#[derive(Default)]
struct HprofEdges {
    counts: Vec<u32>,
    targets: Vec<ObjectIndex>,
    labels: Vec<WideLabel>,
    weak: Vec<WeakEdge>,
    dangling: Dangling,
}

impl HprofEdgeReader<'_> {
    /// # Errors
    /// [`HprofError`], [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub(crate) fn read(&self, step: &Step<'_>) -> Result<FoundEdges> {
        let count = self.objects.len();
        let mut offsets: Vec<u32> = columns::with_capacity(count + 1)?;
        offsets.push(0);
        let mut targets = Vec::new();
        let mut labels = Vec::new();
        let mut weak = Vec::new();
        let mut dangling = Dangling::default();
        let starts: Vec<usize> = (0..count).step_by(PIECE).collect();
        // A few at once, so that references do not take memory twice.
        for starts in starts.chunks(8 * rayon::current_num_threads().max(1)) {
            let pieces = starts
                .par_iter()
                .map(|&start| self.piece(start..(start + PIECE).min(count), step));
            for piece in pieces.collect::<Vec<_>>() {
                let piece = piece?;
                if targets.len() + piece.targets.len() >= u32::MAX as usize {
                    let message = "more than 4294967294 references".to_owned();
                    return Err(HprofError::at(0, message).into());
                }
                let mut end = targets.len() as u32;
                for count in piece.counts {
                    end += count;
                    offsets.push(end);
                }
                columns::extend(&mut targets, &piece.targets)?;
                columns::extend(&mut labels, &piece.labels)?;
                columns::extend(&mut weak, &piece.weak)?;
                dangling.count += piece.dangling.count;
                let in_one = dangling.in_one_array.max(piece.dangling.in_one_array);
                dangling.in_one_array = in_one;
            }
        }
        targets.shrink_to_fit();
        labels.shrink_to_fit();
        weak.sort_unstable();
        Ok(FoundEdges {
            edges: Edges::from_columns(offsets, targets, labels),
            weak,
            dangling,
        })
    }

    fn piece(&self, range: Range<usize>, step: &Step<'_>) -> Result<HprofEdges> {
        step.advance(range.len() as u64)?;
        let mut piece = HprofEdges {
            counts: columns::with_capacity(range.len())?,
            ..HprofEdges::default()
        };
        let mut lookup = ClassLookup::new(self.classes);
        for nth in range {
            let before = piece.targets.len();
            self.add(nth, &mut lookup, &mut piece)?;
            piece.counts.push((piece.targets.len() - before) as u32);
        }
        Ok(piece)
    }

    fn add(&self, nth: usize, lookup: &mut ClassLookup<'_>, piece: &mut HprofEdges) -> Result<()> {
        let ObjectPlace { id, at } = self.objects[nth];
        let ids = self.reading.ids;
        let mut cursor = RecordCursor::new(self.reading.file, at as usize, ids);
        let cut = || HprofError::at(at, "the record of an object cannot be read");
        let record = object_at(&mut cursor).ok_or_else(cut)?;
        let contents = cursor.take(record.length(ids) as usize).ok_or_else(cut)?;
        match record {
            ObjectRecord::Class { .. } => self.add_class(id, piece),
            ObjectRecord::PrimitiveArray { .. } => Ok(()),
            ObjectRecord::ObjectArray { class, .. } => {
                self.add_class_of(lookup.get(class), piece)?;
                let before = piece.dangling.count;
                for (index, id) in (0..).zip(contents.chunks_exact(ids.bytes())) {
                    self.push(ids.read(id), WideLabel::element(index), piece)?;
                }
                let in_this = piece.dangling.count - before;
                piece.dangling.in_one_array = piece.dangling.in_one_array.max(in_this);
                Ok(())
            }
            ObjectRecord::Instance { class, .. } => {
                let Some(class) = lookup.get(class) else {
                    return Ok(());
                };
                self.add_class_of(Some(class), piece)?;
                self.add_loaded(ObjectIndex(nth as u32), piece)?;
                for planned in &self.plans[class as usize] {
                    let Some(value) = contents.get(planned.offset as usize..) else {
                        continue;
                    };
                    match planned.strength {
                        Strength::Strong => self.push(ids.read(value), planned.label, piece)?,
                        Strength::Weak => {
                            if let Some(target) = self.index.get(ids.read(value)) {
                                let source = ObjectIndex(nth as u32);
                                columns::push(&mut piece.weak, WeakEdge { target, source })?;
                            }
                        }
                    }
                }
                Ok(())
            }
        }
    }

    #[inline]
    fn push(&self, id: u64, label: WideLabel, piece: &mut HprofEdges) -> Result<()> {
        if id == 0 {
            return Ok(());
        }
        match self.index.get(id) {
            Some(target) => self.push_target(target, label, piece),
            None => {
                piece.dangling.count += 1;
                Ok(())
            }
        }
    }

    #[inline]
    fn push_target(
        &self,
        target: ObjectIndex,
        label: WideLabel,
        piece: &mut HprofEdges,
    ) -> Result<()> {
        if self.with_labels {
            columns::push(&mut piece.labels, label)?;
        }
        columns::push(&mut piece.targets, target)
    }

    #[inline]
    fn add_class_of(&self, class: Option<u32>, piece: &mut HprofEdges) -> Result<()> {
        let target = class.and_then(|class| self.class_targets[class as usize]);
        match target {
            Some(target) => self.push_target(target, own_label(self.own.class), piece),
            None => Ok(()),
        }
    }

    /// A loader keeps its classes alive.
    #[inline]
    fn add_loaded(&self, loader: ObjectIndex, piece: &mut HprofEdges) -> Result<()> {
        let first = self.loaded.partition_point(|&(other, _)| other < loader);
        let loaded = self.loaded.iter().skip(first);
        for &(_, class) in loaded.take_while(|&&(other, _)| other == loader) {
            self.push_target(class, own_label(self.own.classes), piece)?;
        }
        Ok(())
    }

    fn add_class(&self, id: u64, piece: &mut HprofEdges) -> Result<()> {
        let Some(class) = self.classes.of_id(id) else {
            return Ok(());
        };
        let class = &self.classes.all[class as usize];
        let own = self.own;
        let parts = [
            (class.super_id, own.superclass),
            (class.loader, own.loader),
            (class.signers, own.signers),
            (class.domain, own.domain),
        ];
        for (id, name) in parts {
            self.push(id, own_label(name), piece)?;
        }
        for &id in &class.constants {
            self.push(id, own_label(own.constants), piece)?;
        }
        let ids = self.reading.ids;
        for value in &class.statics {
            if value.java_type == JavaType::Object {
                let id = self.reading.file.get(value.at as usize..);
                let id = id.map_or(0, |bytes| ids.read(bytes));
                self.push(id, field_label(value.name), piece)?;
            }
        }
        Ok(())
    }
}

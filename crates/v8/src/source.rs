//! A snapshot as the source of a heap: it has names and references, but no memory.

use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use memchr::memmem::Finder;

use super::names::SnapshotNames;
use crate::SnapshotError;
use base::bits::Bits;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Step};
use base::error::{Error, Result};
use base::units::ObjectIndex;
use base::warning::Warning;
use heap::HeapError;
use heap::literal::literal;
use heap::survey::{HashedObject, Survey};
use heap::{
    AllocationLines, Blocks, Category, ClassOrigin, ClassUse, ContainerPage, DominatorIndex,
    EdgeLabel, FieldReader, FieldType, FieldValue, Heap, LabelKind, MOST_NUMBERS, NameKind, Need,
    ObjectReader, OtherEdge, PathTree, ReadOrder, Source, SourceLocation, TextFilter,
    WantedEntries, WideLabel,
};

/// In place of the hash of a module: snapshots have none, and their ids can be compared.
const PROGRAM: u64 = 0;
/// How many references of an object, from its last on, may lead to its own storage.
const STORAGE_REFERENCES: usize = 64;
/// Names of classes and variables of one or two letters are from a minifier.
const SHORT_NAME: usize = 2;
/// Stands for references from an object to one of the same class that are left out of a path.
const FOLDED: &str = "…";
/// Code, shapes and other things that V8 makes for itself. Newer versions have more types of nodes for them.
const ENGINE_CLASSES: [&str; 4] = ["(compiled code)", "(system)", "(object shape)", "(code)"];
/// Values, containers and closures without a class of their own.
const PLAIN_CLASSES: [&str; 10] = [
    "Object",
    "Array",
    "Function",
    "system / Context",
    "(string)",
    "(concatenated string)",
    "(sliced string)",
    "(number)",
    "(array)",
    "(symbol)",
];
const CONTAINER_CLASSES: [&str; 6] = ["Object", "Array", "Map", "Set", "WeakMap", "WeakSet"];
const CONTENT_CLASSES: [&str; 6] = [
    "(string)",
    "(concatenated string)",
    "(sliced string)",
    "(array)",
    "ArrayBuffer",
    "system / JSArrayBufferData",
];
/// V8 writes at most this many characters of a string, unless it is asked for more.
const CUT: usize = 1024;

pub(crate) struct SnapshotSource {
    heap: Arc<Heap>,
    names: SnapshotNames,
}

impl SnapshotSource {
    pub(super) fn new(heap: Arc<Heap>, names: SnapshotNames) -> Self {
        Self { heap, names }
    }

    pub(super) fn heap(&self) -> &Heap {
        &self.heap
    }

    pub(super) fn names(&self) -> &SnapshotNames {
        &self.names
    }

    pub(super) fn class_name(&self, object: ObjectIndex) -> &str {
        &self.heap.objects.class_of(object).name
    }
}

impl Source for SnapshotSource {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn program(&self) -> u64 {
        PROGRAM
    }

    fn not_comparable(&self, name: &str, other: &str) -> Option<Error> {
        Some(Error::from(HeapError::DumpWithSnapshot {
            dump: other.to_owned(),
            snapshot: name.to_owned(),
        }))
    }

    /// Plain objects have the classes that they have in the later snapshot.
    fn like(&self, later: &dyn Source, control: &Control) -> Result<Option<Heap>> {
        match later.as_any().downcast_ref::<Self>() {
            Some(later) => {
                let heap = self
                    .names
                    .classified_as(&self.heap, &later.names, control)?;
                Ok(Some(heap))
            }
            None => Ok(None),
        }
    }

    fn check(&self, need: Need) -> Result<()> {
        let (question, reason) = match need {
            Need::Contents | Need::Comparison | Need::Sums => return Ok(()),
            Need::Garbage => (
                "unreachable",
                "it contains only what is alive; V8 collects garbage before it writes a snapshot",
            ),
            Need::Blocks => (
                "sites",
                "the profile is of a WebAssembly program, and a snapshot is of V8's heap; \
                 leave out the profile, if the snapshot was written while V8 tracked allocations",
            ),
            Need::HeapSnapshot => (
                "export heapsnapshot",
                "it is one already: open the file itself in DevTools or memlab",
            ),
        };
        Err(SnapshotError::NotInSnapshot { question, reason }.into())
    }

    fn has_module(&self) -> bool {
        false
    }

    fn memory_size(&self) -> u64 {
        self.names.memory_size()
    }

    fn content_size(&self) -> u64 {
        0
    }

    fn blocks(&self) -> Option<Blocks> {
        None
    }

    fn class_label(&self, _: u32, label: EdgeLabel) -> String {
        match label.kind() {
            LabelKind::Named(kind, name) => self.names.label(kind, name),
            LabelKind::Hidden => "{*}".to_owned(),
            LabelKind::Folded => FOLDED.to_owned(),
            _ => "[*]".to_owned(),
        }
    }

    fn label_at(&self, class_slot: u32, position: u32) -> String {
        let edges = &self.heap.edges;
        let label = edges.label(position).unwrap_or_default();
        let index = edges.wide_label(position).and_then(WideLabel::index);
        match (label.kind(), index) {
            // Greater ones are cut, and the number would not be the program's.
            (_, Some(MOST_NUMBERS)) => self.class_label(class_slot, label),
            (LabelKind::Element, Some(index)) => format!("[{index}]"),
            (LabelKind::Hidden, Some(index)) => format!("{{{index}}}"),
            _ => self.class_label(class_slot, label),
        }
    }

    fn without_key<'l>(&self, label: &'l str) -> &'l str {
        without_index(label)
    }

    fn is_label_stable(&self, label: EdgeLabel, text: &str) -> bool {
        match label.kind() {
            // A minifier gives variables names of one or two letters.
            LabelKind::Named(NameKind::Context, name) => {
                self.names.string(name).chars().count() > SHORT_NAME
            }
            LabelKind::Named(..) | LabelKind::Hidden => true,
            _ => !text.starts_with('+'),
        }
    }

    fn is_class_stable(&self, name: &str) -> bool {
        !name.contains("Class#") && name.len() > SHORT_NAME
    }

    fn keeps_numbers(&self) -> bool {
        true
    }

    fn engine_classes(&self) -> &[&str] {
        &ENGINE_CLASSES
    }

    fn plain_classes(&self) -> &[&str] {
        &PLAIN_CLASSES
    }

    fn class_use(&self, name: &str) -> ClassUse {
        if CONTAINER_CLASSES.contains(&name) {
            ClassUse::Container
        } else if CONTENT_CLASSES.contains(&name) {
            ClassUse::Contents
        } else {
            ClassUse::Program
        }
    }

    fn class_location(&self, class_slot: u32) -> Option<SourceLocation> {
        let class = self.heap.objects.classes.get(class_slot as usize)?;
        let Some(ClassOrigin::Constructor(location)) = class.origin else {
            return None;
        };
        Some(SourceLocation {
            file: self.names.script(location.script)?,
            line: location.line.saturating_add(1),
            column: location.column.saturating_add(1),
        })
    }

    fn is_own_storage(&self, _: u32, label: EdgeLabel) -> bool {
        self.names.is_own_storage(label)
    }

    fn storage_references(&self) -> usize {
        STORAGE_REFERENCES
    }

    fn is_root_part(&self, object: ObjectIndex) -> bool {
        self.names.is_root_part(object)
    }

    fn root_holders(&self) -> Result<Option<Bits>> {
        let mut holders = Bits::new(self.heap.objects.len())?;
        let objects = (0..self.heap.objects.len() as u32).map(ObjectIndex);
        for object in objects.filter(|&object| self.names.is_synthetic(object)) {
            holders.insert(object.0);
        }
        Ok(Some(holders))
    }

    fn program_name(
        &self,
        holder: ObjectIndex,
        target: ObjectIndex,
        label: &str,
    ) -> Option<String> {
        self.names
            .program_name(&self.heap.edges, (holder, target), label)
    }

    fn allocation_lines(&self) -> Option<&AllocationLines> {
        self.names.allocations.as_ref()
    }

    fn category(&self, category: Category, control: &Control) -> Result<Option<Bits>> {
        Ok(Some(self.members(category, control)?))
    }

    fn distance(&self, object: ObjectIndex) -> Option<u32> {
        self.names.distance(object)
    }

    fn other_edges_to(&self, target: ObjectIndex) -> Vec<OtherEdge> {
        let edges = self.names.other_edges_to(target);
        edges
            .map(|(number, edge)| OtherEdge {
                source: edge.source,
                is_weak: edge.is_weak(),
                number,
            })
            .collect()
    }

    fn other_label(&self, edge: OtherEdge) -> Option<String> {
        Some(self.names.other_label(self.names.other_edge(edge.number)))
    }

    fn reader(&self, _: ReadOrder, control: &Control) -> Box<dyn ObjectReader + '_> {
        Box::new(SnapshotReader {
            source: self,
            control: control.clone(),
        })
    }

    fn field_type(
        &self,
        name: &str,
        class_slots: &[bool],
        control: &Control,
    ) -> Result<Option<FieldType>> {
        self.type_of_field(name, class_slots, control)
    }

    fn field_names(&self, class_slots: &[bool]) -> Vec<String> {
        self.names_of_fields(class_slots)
    }

    fn global(&self, name: &str) -> Option<ObjectIndex> {
        self.global_named(name)
    }

    fn field_reader(
        &self,
        names: &[String],
        control: &Control,
    ) -> Result<Box<dyn FieldReader + '_>> {
        self.read_fields(names, control)
    }

    fn text_filter(&self, text: &str, _: &Control) -> Result<Box<dyn TextFilter + '_>> {
        Ok(Box::new(SnapshotTexts {
            source: self,
            text: Finder::new(text).into_owned(),
        }))
    }

    /// A snapshot does not say how much of a size is in use.
    fn content_sizes(&self, _: &PathTree, _: &Step<'_>) -> Result<Vec<u32>> {
        let objects = 0..self.heap.objects.len() as u32;
        let size = |object| u32::try_from(self.heap.shallow_size(ObjectIndex(object)));
        columns::collected(objects.map(|object| size(object).unwrap_or(u32::MAX)))
    }

    /// Strings. Everything else that a survey has is in memory, which a snapshot does not have.
    fn survey(&self, _: &DominatorIndex, step: &Step<'_>) -> Result<Survey> {
        let snapshot = &self.names;
        // Each string with the number of its contents. Most strings of equal contents share a name.
        let mut numbers: HashMap<Cow<'_, [u8]>, u32> = HashMap::new();
        let mut by_name: HashMap<u32, Option<u32>> = HashMap::new();
        let mut texts = Vec::new();
        let mut cut = 0u64;
        for (nth, object) in self.heap.live_heap_objects().enumerate() {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                step.advance(CHECK_INTERVAL as u64)?;
            }
            if !snapshot.is_string(object) {
                continue;
            }
            let mut number_of = |contents: Cow<'_, [u8]>| {
                let next = numbers.len() as u32;
                if super::length(&contents) < CUT {
                    Some(*numbers.entry(contents.into_owned().into()).or_insert(next))
                } else {
                    None
                }
            };
            let number = match snapshot.whole_name(object) {
                Some((name, contents)) => *by_name
                    .entry(name)
                    .or_insert_with(|| number_of(contents.into())),
                None => match snapshot.joined(&self.heap.edges, object) {
                    Some(joined) if joined.is_whole => number_of(joined.contents.into()),
                    Some(_) => None,
                    // V8 flattened it: its contents are in another string. Or it is a slice of one.
                    None => continue,
                },
            };
            match number {
                Some(number) => {
                    let text = HashedObject::new(u128::from(number) << 32, object);
                    columns::push(&mut texts, text)?;
                }
                None => cut += 1,
            }
        }
        Ok(Survey {
            texts,
            memory: None,
            notes: match cut {
                0 => Vec::new(),
                count => vec![Warning::StringsCut { count }],
            },
        })
    }
}

/// Reads objects of a snapshot.
struct SnapshotReader<'s> {
    source: &'s SnapshotSource,
    control: Control,
}

impl ObjectReader for SnapshotReader<'_> {
    fn label(
        &mut self,
        source: ObjectIndex,
        target: ObjectIndex,
        label: EdgeLabel,
        skipped: usize,
    ) -> Result<String> {
        let heap = &self.source.heap;
        let edges = &heap.edges;
        let mut positions = edges.range(source).filter(|&position| {
            edges.target(position) == target && edges.label(position) == Some(label)
        });
        let class_slot = heap.objects.class_slots[source.at()];
        Ok(match positions.nth(skipped) {
            Some(position) => self.source.label_at(class_slot, position),
            None => self.source.class_label(class_slot, label),
        })
    }

    fn preview(&mut self, object: ObjectIndex) -> Result<Option<String>> {
        Ok(self.source.preview_of(object))
    }

    fn fields(&mut self, object: ObjectIndex, notes: &mut Vec<Warning>) -> Result<Vec<FieldValue>> {
        Ok(self.source.fields_of(object, notes))
    }

    fn entries(
        &mut self,
        object: ObjectIndex,
        wanted: WantedEntries,
    ) -> Result<Option<ContainerPage>> {
        self.source.entries_of(object, wanted, &self.control)
    }

    fn literal(&mut self, object: ObjectIndex) -> Result<Option<String>> {
        let SnapshotSource { heap, names } = self.source;
        let contents = names.known_contents(&heap.edges, object);
        Ok(contents.map(|contents| literal(super::code_units(&contents), true)))
    }

    fn shared_contents(&mut self, object: ObjectIndex) -> Result<String> {
        let SnapshotSource { heap, names } = self.source;
        Ok(literal(names.units(&heap.edges, object), true))
    }

    fn label_at(&mut self, source: ObjectIndex, position: u32, _: usize) -> Result<String> {
        let class_slot = self.source.heap.objects.class_slots[source.at()];
        Ok(self.source.label_at(class_slot, position))
    }
}

/// Finds the strings of a snapshot that contain a text.
struct SnapshotTexts<'s> {
    source: &'s SnapshotSource,
    text: Finder<'static>,
}

impl TextFilter for SnapshotTexts<'_> {
    fn keep(&mut self, objects: &mut Vec<ObjectIndex>) -> Result<()> {
        let SnapshotSource { heap, names } = self.source;
        objects.retain(|&object| names.contains(&heap.edges, object, &self.text));
        Ok(())
    }
}

/// The label of a reference, without index. What is in quotes is the name of a property.
pub(super) fn without_index(label: &str) -> &str {
    match label {
        element if is_number_between(element, "[", "]") => "[*]",
        hidden if is_number_between(hidden, "{", "}") => "{*}",
        name => name,
    }
}

fn is_number_between(text: &str, start: &str, end: &str) -> bool {
    text.strip_prefix(start)
        .and_then(|rest| rest.strip_suffix(end))
        .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

//! A snapshot as the source of a heap: it has names and references, but no memory.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use memchr::memmem::Finder;

use super::names::SnapshotNames;
use crate::warning::SnapshotWarning;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Step};
use base::error::Result;
use base::units::ObjectIndex;
use base::warning::Warning;
use heap::literal::literal;
use heap::survey::{HashedObject, Survey};
use heap::{
    AllocationLines, ClassFacts, ClassFields, ClassPattern, ClassUse, ContainerPage,
    DominatorIndex, EdgeLabel, Facts, FieldValue, Heap, HostNames, LabelKind, Lacks, MOST_NUMBERS,
    Name, NameKind, ObjectReader, ReadOrder, Source, SourceLocations, TextFilter, WantedEntries,
    WideLabel,
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
const ENGINE_CLASSES: [&str; 6] = [
    "(compiled code)",
    "(system)",
    "(object shape)",
    "(code)",
    // The list of what Node has to clean up has an entry for each handle, and these are counted by themselves.
    "Node / CleanupQueue",
    "(synthetic)",
];
/// Values, containers and closures without a class of their own.
const PLAIN_CLASSES: [&str; 12] = [
    // The memory of an ArrayBuffer, which has a place.
    "system / JSArrayBufferData",
    // Those of Node. Places have them by their files.
    "Module",
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
    names: Arc<SnapshotNames>,
    facts: Facts,
}

impl SnapshotSource {
    pub(super) fn new(heap: Arc<Heap>, names: Arc<SnapshotNames>) -> Self {
        let facts = facts(&heap);
        Self { heap, names, facts }
    }

    pub(super) fn heap(&self) -> &Heap {
        &self.heap
    }

    pub(super) fn names(&self) -> &SnapshotNames {
        &self.names
    }

    fn is_container(&self, class_slot: u32) -> bool {
        let class = self.heap.objects.classes.get(class_slot as usize);
        class.is_some_and(|class| CONTAINER_CLASSES.contains(&class.name.as_str()))
    }

    pub(super) fn class_name(&self, object: ObjectIndex) -> &str {
        &self.heap.objects.class_of(object).name
    }
}

/// What is the same for all objects of a snapshot.
fn facts(heap: &Heap) -> Facts {
    let is_renumbered = heap
        .warnings
        .contains(&SnapshotWarning::IdsRenumbered.into());
    let containers = CONTAINER_CLASSES.map(|name| (ClassPattern::Is(name), ClassUse::Container));
    let contents = CONTENT_CLASSES.map(|name| (ClassPattern::Is(name), ClassUse::Contents));
    Facts {
        program: PROGRAM,
        is_numbered_anew: is_renumbered,
        has_module: false,
        keeps_numbers: !is_renumbered,
        storage_references: STORAGE_REFERENCES,
        format: Some("heapsnapshot"),
        classes: ClassFacts {
            engine: &ENGINE_CLASSES,
            plain: &PLAIN_CLASSES,
            uses: containers.into_iter().chain(contents).collect(),
            ..ClassFacts::default()
        },
        lacks: Lacks {
            code: "ERR_NOT_IN_SNAPSHOT",
            heap: "a heap snapshot of V8",
            garbage: Some(
                "it contains only what is alive; V8 collects garbage before it writes a snapshot",
            ),
            contents: None,
            blocks: Some(
                "the profile is of a WebAssembly program, and a snapshot is of V8's heap; \
                 leave out the profile, if the snapshot was written while V8 tracked allocations",
            ),
        },
    }
}

impl Source for SnapshotSource {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn memory_size(&self) -> u64 {
        self.names.memory_size()
    }

    fn class_label(&self, class_slot: u32, label: EdgeLabel) -> String {
        match label.kind() {
            LabelKind::Named(kind, name) => self.names.label(kind, name),
            // Paths have a container and its table as one step.
            LabelKind::Hidden if self.is_container(class_slot) => "[*]".to_owned(),
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

    fn is_stable(&self, name: Name<'_>) -> bool {
        match name {
            // What V8 made for itself says nothing of the program.
            Name::Class(name) => {
                !name.contains("Class#")
                    && name.len() > SHORT_NAME
                    && !name.starts_with("system / ")
                    && !matches!(name, "(array)" | "(system)")
            }
            Name::Label(label, text) => match label.kind() {
                // A minifier gives variables names of one or two letters.
                LabelKind::Named(NameKind::Context, name) => {
                    self.names.string(name).chars().count() > SHORT_NAME
                }
                LabelKind::Named(..) | LabelKind::Hidden => true,
                _ => !text.starts_with('+'),
            },
        }
    }

    fn is_own_storage(&self, _: u32, label: EdgeLabel) -> bool {
        self.names.is_own_storage(label)
    }

    fn reader(&self, _: ReadOrder, control: &Control) -> Box<dyn ObjectReader + '_> {
        Box::new(SnapshotReader {
            source: self,
            control: control.clone(),
        })
    }

    fn text_filter(&self, text: &str, _: &Control) -> Result<Box<dyn TextFilter + '_>> {
        Ok(Box::new(SnapshotTexts {
            source: self,
            text: Finder::new(text).into_owned(),
        }))
    }

    fn fields(&self) -> &dyn ClassFields {
        self
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
                count => vec![SnapshotWarning::StringsCut { count }.into()],
            },
        })
    }

    fn host_names(&self) -> Option<&dyn HostNames> {
        Some(self)
    }

    fn allocation_lines(&self) -> Option<&AllocationLines> {
        self.names.allocations.as_ref()
    }

    fn locations(&self) -> Option<&dyn SourceLocations> {
        Some(self)
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
        let class_slot = heap.objects.class_slots[source.at()];
        Ok(match heap.edges.position(source, target, label, skipped) {
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
        let SnapshotSource { heap, names, .. } = self.source;
        let contents = names.known_contents(&heap.edges, object);
        Ok(contents.map(|contents| literal(super::code_units(&contents), true)))
    }

    fn shared_contents(&mut self, object: ObjectIndex) -> Result<String> {
        let SnapshotSource { heap, names, .. } = self.source;
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
        let SnapshotSource { heap, names, .. } = self.source;
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

//! Slots that the caller declares: a field of a class of the memory has the index of an element of an array of
//! JavaScript. Small integers are dense, so that statistics cannot find them.

use std::collections::HashMap;

use crate::JoinError;
use crate::extra::{Extra, OwnLabels};
use crate::graph::LeftOut;
use base::bits::Bits;
use base::columns;
use base::control::{Control, Step};
use base::error::{Error, Result};
use base::units::ObjectIndex;
use heap::{Cell, EvidenceKind, HeapClass, HolderEvidence, LabelKind, Opened, WideLabel};
use v8::HostView;

/// What V8 calls a table of WebAssembly.
const TABLE: &str = "Table";

/// A declared slot.
struct Declared<'t> {
    text: &'t str,
    class: &'t str,
    field: &'t str,
    /// The names of a global and of properties.
    path: Vec<&'t str>,
}

impl<'t> Declared<'t> {
    /// A field of a struct within a struct has dots itself: the class is the longest of these that the place begins with.
    fn parse(text: &'t str, classes: &[HeapClass]) -> Result<Self> {
        let parsed = text.rsplit_once('=').and_then(|(place, path)| {
            let known = classes.iter().filter_map(|class| {
                let field = place.strip_prefix(class.name.as_str())?.strip_prefix('.')?;
                Some((place.get(..class.name.len())?, field))
            });
            let longest = known.max_by_key(|(class, _)| class.len());
            let (class, field) = longest.or_else(|| place.rsplit_once('.'))?;
            let path: Vec<&str> = path.split('.').collect();
            let is_named = !class.is_empty() && !field.is_empty();
            (is_named && path.iter().all(|name| !name.is_empty())).then_some(Self {
                text,
                class,
                field,
                path,
            })
        });
        parsed.ok_or_else(|| wrong(text, "it does not have this form".to_owned()))
    }
}

fn wrong(slot: &str, reason: String) -> Error {
    Error::from(JoinError::Slot {
        slot: slot.to_owned(),
        reason,
    })
}

/// What declared slots add to the graph, and what they replace.
#[derive(Default)]
pub(crate) struct DeclaredSlots {
    /// From objects of the memory to objects of JavaScript.
    pub(crate) references: Vec<Extra>,
    /// The references of the arrays to the same objects: the array does not keep them alive for anyone else.
    pub(crate) left_out: LeftOut,
}

/// Finds the references of declared slots.
///
/// # Errors
/// [`JoinError::Slot`] if the heaps do not have the class, the field or the array;
/// [`Error::OutOfMemory`], [`Error::Aborted`].
pub(crate) fn declared_slots(
    [wasm, js]: [&Opened; 2],
    view: HostView<'_>,
    texts: &[String],
    labels: &mut OwnLabels,
    step: &Step<'_>,
) -> Result<DeclaredSlots> {
    let mut found = DeclaredSlots::default();
    let first_js = wasm.heap.objects.len() as u32;
    let mut replaced: Vec<(ObjectIndex, u32)> = Vec::new();
    for text in texts {
        let declared = Declared::parse(text, &wasm.heap.objects.classes)?;
        let array = array_of(js, view, &declared)?;
        let elements = IndexedElements::of_array(js, view, array);
        let label = labels.of_text(declared.field)?;
        for (object, index) in indexes(wasm, &declared, step.control())? {
            let Some(places) = elements.by_index.get(&index) else {
                continue;
            };
            for &(holder, position) in places {
                columns::push(&mut replaced, (holder, position))?;
            }
            if let Some(&(_, position)) = places.first() {
                let target = js.heap.edges.target(position);
                let extra = Extra {
                    source: object,
                    target: ObjectIndex(first_js + target.0),
                    label,
                    exact: None,
                    evidence: Some(HolderEvidence {
                        kind: EvidenceKind::Declared,
                        hits: 0,
                        values: 0,
                    }),
                };
                columns::push(&mut found.references, extra)?;
            }
        }
    }
    replaced.sort_unstable();
    replaced.dedup();
    let mut targets = Bits::new(js.heap.objects.len())?;
    for (holder, position) in replaced {
        targets.insert(js.heap.edges.target(position).0);
        found.left_out.add(holder, position);
    }
    add_references_of_v8(view, &targets, first_js, &mut found.references)?;
    Ok(found)
}

/// Adds V8's own references to the objects to which the array does not refer any more, such as those of the stack. DevTools
/// leaves them out, because the program reaches these objects.
fn add_references_of_v8(
    view: HostView<'_>,
    targets: &Bits,
    first_js: u32,
    references: &mut Vec<Extra>,
) -> Result<()> {
    for (source, target, label) in view.left_out() {
        if targets.contains(target.0) {
            let extra = Extra {
                source: ObjectIndex(first_js + source.0),
                target: ObjectIndex(first_js + target.0),
                label,
                exact: label.index().map(|index| format!("{{{index}}}")),
                evidence: None,
            };
            columns::push(references, extra)?;
        }
    }
    Ok(())
}

/// The array to which the path leads.
fn array_of(js: &Opened, view: HostView<'_>, declared: &Declared<'_>) -> Result<ObjectIndex> {
    let mut names = declared.path.iter();
    let first = names.next().copied().unwrap_or_default();
    let mut object = js
        .source
        .host_names()
        .and_then(|names| names.global(first))
        .ok_or_else(|| {
            let reason = format!("no global of JavaScript has the name {first:?}");
            wrong(declared.text, reason)
        })?;
    for name in names {
        object = view.property(object, name).ok_or_else(|| {
            let class = &js.heap.objects.class_of(object).name;
            let reason = format!("the {class} has no property {name:?}");
            wrong(declared.text, reason)
        })?;
    }
    Ok(object)
}

/// The live objects of the class, each with the value of its field.
fn indexes(
    wasm: &Opened,
    declared: &Declared<'_>,
    control: &Control,
) -> Result<Vec<(ObjectIndex, u32)>> {
    let heap = &wasm.heap;
    let is_class = |class: &HeapClass| class.name == declared.class;
    let is_wanted: Vec<bool> = heap.objects.classes.iter().map(is_class).collect();
    if !is_wanted.contains(&true) {
        let reason = format!("no class of the program has the name {:?}", declared.class);
        return Err(wrong(declared.text, reason));
    }
    let names = [declared.field.to_owned()];
    if wasm
        .source
        .fields()
        .type_of(declared.field, &is_wanted, control)?
        .is_none()
    {
        let (class, field) = (declared.class, declared.field);
        let reason = format!("the class {class} has no field {field:?}");
        return Err(wrong(declared.text, reason));
    }
    let mut objects = Vec::new();
    for object in heap.live_heap_objects() {
        if is_wanted[heap.objects.class_slots[object.at()] as usize] {
            columns::push(&mut objects, object)?;
        }
    }
    let mut cells = Vec::new();
    let mut reader = wasm.source.fields().reader(&names, control)?;
    reader.fields(0, &objects, &mut cells)?;
    let pairs = objects.into_iter().zip(cells);
    let pairs = pairs.filter_map(|(object, cell)| match cell {
        Cell::Integer(index) => Some((object, u32::try_from(index).ok()?)),
        Cell::Unsigned(index) => Some((object, u32::try_from(index).ok()?)),
        _ => None,
    });
    Ok(pairs.collect())
}

/// The references to the elements of an array, its own and those of its storage; or to those of a table.
struct IndexedElements {
    by_index: HashMap<u32, Vec<(ObjectIndex, u32)>>,
}

impl IndexedElements {
    fn of_array(js: &Opened, view: HostView<'_>, array: ObjectIndex) -> Self {
        let edges = &js.heap.edges;
        let mut found = Self {
            by_index: HashMap::new(),
        };
        if view.name(array) == TABLE {
            for storage in table_storage(js, view, array) {
                for position in edges.range(storage) {
                    let kind = edges.label(position).map(|label| label.kind());
                    let index = edges.wide_label(position).and_then(WideLabel::index);
                    let index = index.filter(|_| kind == Some(LabelKind::Hidden));
                    found.add(index, storage, position);
                }
            }
            return found;
        }
        let storage = view.internal(array, "elements");
        for holder in [Some(array), storage].into_iter().flatten() {
            for position in edges.range(holder) {
                let kind = edges.label(position).map(|label| label.kind());
                let is_element = matches!(kind, Some(LabelKind::Element | LabelKind::Hidden));
                let index = edges.wide_label(position).and_then(WideLabel::index);
                found.add(index.filter(|_| is_element), holder, position);
            }
        }
        found
    }

    fn add(&mut self, index: Option<u32>, holder: ObjectIndex, position: u32) {
        if let Some(index) = index {
            let places = self.by_index.entry(index).or_default();
            places.push((holder, position));
        }
    }
}

/// The objects without a name to which a table refers: one of them has its elements.
fn table_storage(js: &Opened, view: HostView<'_>, table: ObjectIndex) -> Vec<ObjectIndex> {
    let mut storage: Vec<ObjectIndex> = js.heap.edges.targets(table).to_vec();
    storage.retain(|&object| !view.is_object(object) && view.name(object).is_empty());
    storage.sort_unstable();
    storage.dedup();
    storage
}

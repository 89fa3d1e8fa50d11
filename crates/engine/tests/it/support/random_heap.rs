//! Heaps from plans: objects of any kind, connected in any way, and the expected result.

use std::collections::{BTreeMap, BTreeSet};

use super::{ARRAY_BUFFER, Class, NeverCompiled, Object, STRING, Scene, flags};
use engine::heap::RootKind;

/// An object to be created. Targets are positions among the planned objects, modulo their number.
#[derive(Clone, Debug)]
pub struct Plan {
    pub kind: Kind,
    pub targets: Vec<usize>,
    /// How it is a root: by a global, the stack, a pin.
    pub roots: [bool; 3],
    /// The memory before it.
    pub before: Gap,
}

/// The kind of an object.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Node,
    StaticNode,
    Text,
    Array,
    StaticArray,
    Map,
    Set,
    Tuple,
}

/// The kind of memory before an object.
#[derive(Clone, Copy, Debug)]
pub enum Gap {
    Nothing,
    Free,
    Raw,
    ForeignPages,
}

struct Classes {
    any: Class,
    node: Class,
    array: Class,
    static_array: Class,
    map: Class,
    set: Class,
    tuple: Class,
}

impl Classes {
    fn declare(scene: &mut Scene) -> Self {
        // A class without members may be an interface, so a field or a variable of this type can refer to an object
        // of any class.
        let any = scene.class("assembly/index/Any");
        let node = scene.class("assembly/index/Node");
        // The second word is a number, which must not be followed whatever it is.
        scene.field(node, "first", 0, any);
        scene.field(node, "number", 4, "u32");
        scene.field(node, "second", 8, any);
        scene.field(node, "third", 12, NeverCompiled);
        let set = scene.undescribed_class(flags::SET | flags::VALUE_MANAGED | flags::value_size(4));
        Self {
            any,
            node,
            array: scene.generic("~lib/array/Array<assembly/index/Node>", &[&any]),
            static_array: scene
                .generic("~lib/staticarray/StaticArray<assembly/index/Node>", &[&any]),
            map: scene.generic("~lib/map/Map<assembly/index/Node,f64>", &[&any, &"f64"]),
            set,
            tuple: scene.class("~lib/tuple/SmallTuple"),
        }
    }
}

/// The heap as the test knows it: nothing here was read from a dump.
#[derive(Default)]
pub struct Truth {
    pub edges: BTreeMap<Object, Vec<Object>>,
    /// The same references with their labels, in the order of these; keys and members without what is
    /// in their brackets.
    pub labelled: BTreeMap<Object, Vec<(String, Object)>>,
    pub roots: BTreeMap<Object, RootKind>,
    /// Every global, stack word and pin. Globals have one name; stack words are in the order of their
    /// addresses.
    pub root_slots: Vec<(RootKind, Object)>,
    pub sizes: BTreeMap<Object, u32>,
    /// The kind of the objects of a class, by its id.
    pub kinds: BTreeMap<u32, Kind>,
}

impl Truth {
    fn add(&mut self, object: Object, labelled: Vec<(String, Object)>, size: u32) {
        let targets = labelled.iter().map(|&(_, target)| target);
        self.edges.insert(object, targets.collect());
        self.labelled.insert(object, labelled);
        self.sizes.insert(object, size);
    }

    /// The objects that the roots reach without this object.
    pub fn reached_without(&self, removed: Option<Object>) -> Vec<Object> {
        let mut pending: Vec<Object> = self.roots.keys().copied().collect();
        let mut reached = BTreeSet::new();
        while let Some(object) = pending.pop() {
            if Some(object) != removed && reached.insert(object) {
                pending.extend(&self.edges[&object]);
            }
        }
        reached.into_iter().collect()
    }

    /// The bytes of these objects.
    pub fn size_of(&self, objects: &[Object]) -> u32 {
        objects.iter().map(|object| self.sizes[object]).sum()
    }
}

/// The block of an object of this size.
fn block_size(size: u32) -> u32 {
    (size + 20).next_multiple_of(16)
}

/// Creates the objects, and returns the facts about them.
pub fn build(plans: &[Plan]) -> (Scene, Truth) {
    let mut scene = Scene::new();
    let classes = Classes::declare(&mut scene);
    let mut truth = Truth {
        kinds: BTreeMap::from([
            (classes.node.id, Kind::Node),
            (classes.array.id, Kind::Array),
            (classes.static_array.id, Kind::StaticArray),
            (classes.map.id, Kind::Map),
            (classes.set.id, Kind::Set),
            (classes.tuple.id, Kind::Tuple),
        ]),
        ..Truth::default()
    };
    // Every target must have an address before anything can refer to it.
    let objects: Vec<Object> = plans
        .iter()
        .enumerate()
        .map(|(nth, plan)| {
            match plan.before {
                Gap::Free => scene.free_block(16 * nth as u32),
                Gap::Raw => _ = scene.raw(&[4, 4, 4, classes.node.id, 16]),
                Gap::ForeignPages if nth > 0 => _ = scene.foreign_pages(1),
                _ => {}
            }
            let count = plan.targets.len() as u32;
            match plan.kind {
                Kind::Node => scene.object(classes.node, 16),
                Kind::StaticNode => scene.static_object(classes.node, &[0; 4]),
                Kind::Text => scene.object(STRING, 16),
                Kind::Array => scene.object(classes.array, 16),
                Kind::StaticArray => scene.object(classes.static_array, count * 4),
                Kind::Map => scene.object(classes.map, 24),
                Kind::Set => scene.object(classes.set, 24),
                Kind::Tuple => scene.object(classes.tuple, count * 4 + 8),
            }
        })
        .collect();
    for (plan, &object) in plans.iter().zip(&objects) {
        let targets: Vec<Object> = plan
            .targets
            .iter()
            .map(|target| objects[target % objects.len()])
            .collect();
        connect(&mut scene, &mut truth, plan.kind, object, &targets);
        let kinds = [RootKind::Global, RootKind::Stack, RootKind::Pinned];
        for (kind, _) in kinds
            .into_iter()
            .zip(plan.roots)
            .filter(|&(_, is_root)| is_root)
        {
            match kind {
                RootKind::Pinned if matches!(plan.kind, Kind::StaticNode) => continue,
                RootKind::Global => scene.global("assembly/index/root", classes.any, object),
                RootKind::Stack => scene.push_on_stack(object),
                RootKind::Pinned => scene.pin(object),
                RootKind::System | RootKind::Host | RootKind::Unreferenced => {
                    unreachable!("only heaps of other kinds have such roots")
                }
            }
            truth.roots.entry(object).or_insert(kind);
            truth.root_slots.push((kind, object));
        }
    }
    // The last word that was pushed is the first from the stack pointer on.
    truth.root_slots.reverse();
    truth.root_slots.sort_by_key(|&(kind, object)| match kind {
        RootKind::Stack => (kind, Object(0)),
        _ => (kind, object),
    });
    (scene, truth)
}

/// Writes the references of an object, and adds them to the known facts.
fn connect(scene: &mut Scene, truth: &mut Truth, kind: Kind, object: Object, targets: &[Object]) {
    let count = targets.len() as u32;
    let words: Vec<u32> = targets.iter().map(|&target| target.0).collect();
    // Marks every other entry of a container as deleted.
    let is_deleted = |nth: usize| nth % 2 == 1;
    let left = || {
        let left = targets.iter().enumerate();
        left.filter(move |&(nth, _)| !is_deleted(nth))
            .map(|(_, &target)| target)
    };
    match kind {
        Kind::Node | Kind::StaticNode => {
            let numbers = words.get(3..).unwrap_or_default();
            scene.write(object.0 + 4, numbers.get(..1).unwrap_or_default());
            let followed = &targets[..targets.len().min(3)];
            for (&target, offset) in followed.iter().zip([0, 8, 12]) {
                scene.set(object, offset, target);
            }
            let size = if matches!(kind, Kind::Node) {
                block_size(16)
            } else {
                0
            };
            let names = ["first", "second", "third"].map(str::to_owned);
            let followed = names.into_iter().zip(followed.iter().copied());
            truth.add(object, followed.collect(), size);
        }
        Kind::Text => {
            scene.write(object.0, &words[..words.len().min(4)]);
            truth.add(object, Vec::new(), block_size(16));
        }
        Kind::Array => {
            let buffer = scene.object_of(ARRAY_BUFFER, &[&words[..], &words[..]].concat());
            truth.add(buffer, Vec::new(), block_size(count * 8));
            // The buffer has room for twice as many elements: those after `length` are old.
            scene.write(object.0, &[buffer.0, buffer.0, count * 8, count]);
            let mut labelled = indexed(targets.iter().copied().enumerate());
            labelled.push(("(buffer)".to_owned(), buffer));
            truth.add(object, labelled, block_size(16));
        }
        Kind::StaticArray => {
            scene.write(object.0, &words);
            let labelled = indexed(targets.iter().copied().enumerate());
            truth.add(object, labelled, block_size(count * 4));
        }
        Kind::Map | Kind::Set => {
            let deleted = |nth: usize| u32::from(is_deleted(nth));
            let entries: Vec<u32> = words
                .iter()
                .enumerate()
                .flat_map(|(nth, &word)| match kind {
                    Kind::Map => vec![word, 0, word, word, deleted(nth), word],
                    _ => vec![word, deleted(nth)],
                })
                .collect();
            let buckets = scene.object(ARRAY_BUFFER, 16);
            let buffer = scene.object_of(ARRAY_BUFFER, &entries);
            truth.add(buckets, Vec::new(), block_size(16));
            truth.add(buffer, Vec::new(), block_size(entries.len() as u32 * 4));
            scene.write(object.0, &[buckets.0, 3, buffer.0, count, count, count]);
            let label = if matches!(kind, Kind::Map) {
                "key"
            } else {
                "member"
            };
            let entries = left().map(|target| (label.to_owned(), target));
            let storage = [("(buckets)", buckets), ("(entries)", buffer)];
            let storage = storage.map(|(label, buffer)| (label.to_owned(), buffer));
            truth.add(object, entries.chain(storage).collect(), block_size(24));
        }
        Kind::Tuple => {
            scene.write(object.0, &words);
            let marks = (0..words.len())
                .filter(|&nth| !is_deleted(nth))
                .map(|nth| 1 << nth);
            scene.write(object.0 + count * 4, &[marks.sum(), 0]);
            let left = targets.iter().copied().enumerate();
            let left = left.filter(|&(nth, _)| !is_deleted(nth));
            truth.add(object, indexed(left), block_size(count * 4 + 8));
        }
    }
}

fn indexed(elements: impl Iterator<Item = (usize, Object)>) -> Vec<(String, Object)> {
    elements
        .map(|(nth, element)| (format!("[{nth}]"), element))
        .collect()
}

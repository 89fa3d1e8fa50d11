//! The waste of random heaps against its definition: a map of the memory in which every byte belongs to the
//! first kind that claims it.

mod judge;

use crate::support::{
    ARRAY_BUFFER, ARRAY_BUFFER_VIEW, Class, DumpFile, Object, STRING, Scene, flags,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The kinds, in the order in which they claim.
const KINDS: [&str; 7] = [
    "duplicate-strings",
    "duplicate-buffers",
    "empty-containers",
    "views",
    "array-capacity",
    "entries",
    "padding",
];

const HEADER: u32 = 20;

/// An object to be created. Other objects are given by position, modulo their number.
#[derive(Clone, Debug)]
struct Plan {
    thing: Thing,
    is_static: bool,
    /// How it is a root: by a global, the stack, a pin.
    root: Option<u8>,
    /// The header has a smaller size than the block has room for.
    cut: u32,
}

#[derive(Clone, Debug)]
enum Thing {
    Node(Vec<usize>),
    Text(u8),
    Buffer(u8),
    StaticArray { is_wide: bool, content: u8 },
    Array(Container, Storage),
    View(Container, Storage),
    DataView(Container, Storage),
    Map(Vec<Entry>, u8),
    Set(Vec<Entry>, u8),
}

#[derive(Clone, Debug)]
struct Container {
    /// Elements, or bytes of a view.
    length: u32,
    /// Bytes of the buffer in front of a view.
    skipped: u32,
    /// Words after the fields of its class.
    own_fields: bool,
}

#[derive(Clone, Debug)]
enum Storage {
    Own { bytes: u32, content: u8 },
    Shared(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Entry {
    Filled,
    Deleted,
}

/// An object as the test knows it.
struct Made {
    object: Object,
    class: u32,
    size: u32,
    is_static: bool,
    /// Its references, and whether the target is its own storage.
    references: Vec<(Object, bool)>,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Node,
    Text,
    Buffer,
    StaticArray,
    Array {
        buffer: Object,
        length: u32,
    },
    View {
        start: u32,
        length: u32,
    },
    /// Bytes of an entry, entries that there is room for, and those that were used.
    Table {
        entries: Object,
        stride: u32,
        capacity: u32,
        used: u32,
    },
}

struct World {
    scene: Scene,
    made: Vec<Made>,
    roots: BTreeSet<Object>,
    cuts: Vec<(Object, u32)>,
}

struct Classes {
    node: Class,
    narrow: Class,
    wide: Class,
    array: Class,
    bytes: Class,
    data_view: Class,
    map: Class,
    set: Class,
}

impl Classes {
    fn declare(scene: &mut Scene) -> Self {
        let node = scene.class("assembly/index/Node");
        for (name, offset) in [("first", 0), ("second", 4), ("third", 8)] {
            scene.field(node, name, offset, node);
        }
        let view = scene.class_with_id(
            "~lib/arraybuffer/ArrayBufferView",
            Some(ARRAY_BUFFER_VIEW.id),
        );
        scene.field(view, "buffer", 0, ARRAY_BUFFER);
        let bytes = scene.class("~lib/typedarray/Uint8Array");
        scene.inherit(bytes, view);
        scene.set_flags(bytes, flags::ARRAY_BUFFER_VIEW | flags::value_size(1));
        let data_view = scene.class("~lib/dataview/DataView");
        scene.field(data_view, "buffer", 0, ARRAY_BUFFER);
        Self {
            node,
            bytes,
            data_view,
            narrow: scene.generic("~lib/staticarray/StaticArray<u8>", &[&"u8"]),
            wide: scene.generic("~lib/staticarray/StaticArray<i32>", &[&"i32"]),
            array: scene.generic("~lib/array/Array<i32>", &[&"i32"]),
            map: scene.generic("~lib/map/Map<u8,i64>", &[&"u8", &"i64"]),
            set: scene.generic("~lib/set/Set<u16>", &[&"u16"]),
        }
    }
}

/// Few different contents of few different sizes, so that many are equal.
fn contents(content: u8) -> Vec<u32> {
    let number = u32::from(content);
    vec![number % 2; number as usize % 5]
}

impl World {
    fn new(plans: &[Plan]) -> Self {
        let mut scene = Scene::new();
        let classes = Classes::declare(&mut scene);
        let mut world = Self {
            scene,
            made: Vec::new(),
            roots: BTreeSet::new(),
            cuts: Vec::new(),
        };
        let mut first = Vec::new();
        for plan in plans {
            first.push(world.make(&classes, plan));
        }
        for (plan, &nth) in plans.iter().zip(&first) {
            if let Thing::Node(targets) = &plan.thing {
                for (slot, target) in targets.iter().take(3).enumerate() {
                    let target = world.made[target % world.made.len()].object;
                    let node = &mut world.made[nth];
                    world.scene.set(node.object, slot as u32 * 4, target);
                    node.references.push((target, false));
                }
            }
            let object = world.made[nth].object;
            match plan.root {
                Some(0) => world
                    .scene
                    .global("assembly/index/root", classes.node, object),
                Some(1) => world.scene.push_on_stack(object),
                Some(_) if !world.made[nth].is_static => world.scene.pin(object),
                _ => continue,
            }
            world.roots.insert(object);
        }
        world
    }

    fn add(&mut self, class: Class, words: &[u32], is_static: bool, what: What) -> Object {
        let object = if is_static {
            self.scene.static_object(class, words)
        } else {
            self.scene.object_of(class, words)
        };
        self.made.push(Made {
            object,
            class: class.id,
            size: words.len() as u32 * 4,
            is_static,
            references: Vec::new(),
            what,
        });
        object
    }

    fn buffer(&mut self, storage: &Storage) -> Object {
        let buffers = self
            .made
            .iter()
            .filter(|made| matches!(made.what, What::Buffer));
        let buffers: Vec<Object> = buffers.map(|made| made.object).collect();
        match *storage {
            Storage::Shared(nth) if !buffers.is_empty() => buffers[nth % buffers.len()],
            Storage::Own { bytes, content } => {
                let words = vec![u32::from(content % 2); bytes as usize / 4];
                self.add(ARRAY_BUFFER, &words, false, What::Buffer)
            }
            Storage::Shared(_) => self.add(ARRAY_BUFFER, &[], false, What::Buffer),
        }
    }

    fn size(&self, object: Object) -> u32 {
        let made = self.made.iter().find(|made| made.object == object);
        made.unwrap().size
    }

    /// Creates an object, after its own buffers. Returns its position.
    fn make(&mut self, classes: &Classes, plan: &Plan) -> usize {
        match &plan.thing {
            Thing::Node(_) => {
                self.add(classes.node, &[0; 3], false, What::Node);
            }
            Thing::Text(content) => {
                let object = self.add(STRING, &contents(*content), plan.is_static, What::Text);
                self.cut(object, plan);
            }
            Thing::Buffer(content) => {
                let words = contents(*content);
                let object = self.add(ARRAY_BUFFER, &words, plan.is_static, What::Buffer);
                self.cut(object, plan);
            }
            Thing::StaticArray { is_wide, content } => {
                let class = if *is_wide {
                    classes.wide
                } else {
                    classes.narrow
                };
                self.add(
                    class,
                    &contents(*content),
                    plan.is_static,
                    What::StaticArray,
                );
            }
            Thing::Array(container, storage) => {
                let buffer = self.buffer(storage);
                let capacity = self.size(buffer) / 4;
                let length = container.length.min(capacity);
                let mut words = vec![buffer.0, buffer.0, capacity * 4, length];
                words.extend(container.own_fields.then_some(7));
                let what = What::Array { buffer, length };
                let array = self.add(classes.array, &words, false, what);
                self.refer(array, buffer);
            }
            Thing::View(container, storage) | Thing::DataView(container, storage) => {
                let buffer = self.buffer(storage);
                let start = container.skipped.min(self.size(buffer));
                let length = container.length.min(self.size(buffer) - start);
                let mut words = vec![buffer.0, buffer.0 + start, length];
                words.extend(container.own_fields.then_some(7));
                let class = match plan.thing {
                    Thing::View(..) => classes.bytes,
                    _ => classes.data_view,
                };
                let what = What::View { start, length };
                let view = self.add(class, &words, false, what);
                self.refer(view, buffer);
            }
            Thing::Map(entries, unused) => {
                // The key, the value, the next entry of the bucket, and room up to a multiple of 8.
                let entry = |deleted: u32| vec![1, 0, 7, 0, deleted, 0];
                self.table(classes.map, entries, *unused, entry);
            }
            Thing::Set(entries, unused) => {
                self.table(classes.set, entries, *unused, |deleted| vec![3, deleted]);
            }
        }
        self.made.len() - 1
    }

    fn table(
        &mut self,
        class: Class,
        entries: &[Entry],
        unused: u8,
        entry: impl Fn(u32) -> Vec<u32>,
    ) {
        let stride = entry(0).len() as u32 * 4;
        let used = entries
            .iter()
            .flat_map(|&of| entry(u32::from(of == Entry::Deleted)));
        let unused = u32::from(unused);
        let mut words: Vec<u32> = used.collect();
        words.resize(words.len() + (unused * stride / 4) as usize, 0);
        let used = entries.len() as u32;
        let capacity = used + unused;
        let filled = entries.iter().filter(|&&of| of == Entry::Filled).count() as u32;
        let buckets = self.add(ARRAY_BUFFER, &[0; 4], false, What::Buffer);
        let entries = self.add(ARRAY_BUFFER, &words, false, What::Buffer);
        let words = [buckets.0, 3, entries.0, capacity, used, filled];
        let what = What::Table {
            entries,
            stride,
            capacity,
            used,
        };
        let table = self.add(class, &words, false, what);
        self.refer(table, buckets);
        self.refer(table, entries);
    }

    fn refer(&mut self, from: Object, to: Object) {
        let made = self.made.iter_mut().find(|made| made.object == from);
        made.unwrap().references.push((to, true));
    }

    /// Shortens an object in its place, as the runtime does when it is asked for less.
    fn cut(&mut self, object: Object, plan: &Plan) {
        let made = self.made.last_mut().unwrap();
        let cut = (plan.cut * 2).min(made.size);
        if cut > 0 && !made.is_static {
            made.size -= cut;
            self.cuts.push((object, made.size));
        }
    }

    fn dump(&self) -> DumpFile {
        let mut dump = self.scene.dump();
        for &(object, size) in &self.cuts {
            dump.poke(object.block() + 16, size);
        }
        dump
    }
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let container = (0u32..40, 0u32..20, prop::bool::weighted(0.1));
    let container = container.prop_map(|(length, skipped, own_fields)| Container {
        // Every other one is empty.
        length: length.saturating_sub(20),
        skipped,
        own_fields,
    });
    let own = (0u32..300, any::<u8>()).prop_map(|(bytes, content)| Storage::Own {
        bytes: bytes / 4 * 4,
        content,
    });
    let storage = prop_oneof![3 => own, 2 => any::<usize>().prop_map(Storage::Shared)];
    let parts = || (container.clone(), storage.clone());
    let entries = || {
        let entry = prop_oneof![Just(Entry::Filled), Just(Entry::Deleted)];
        (prop::collection::vec(entry, 0..5), 0u8..4)
    };
    let thing = prop_oneof![
        4 => prop::collection::vec(any::<usize>(), 0..4).prop_map(Thing::Node),
        4 => any::<u8>().prop_map(Thing::Text),
        3 => any::<u8>().prop_map(Thing::Buffer),
        3 => (any::<bool>(), any::<u8>())
            .prop_map(|(is_wide, content)| Thing::StaticArray { is_wide, content }),
        3 => parts().prop_map(|(container, storage)| Thing::Array(container, storage)),
        3 => parts().prop_map(|(container, storage)| Thing::View(container, storage)),
        1 => parts().prop_map(|(container, storage)| Thing::DataView(container, storage)),
        2 => entries().prop_map(|(entries, unused)| Thing::Map(entries, unused)),
        1 => entries().prop_map(|(entries, unused)| Thing::Set(entries, unused)),
    ];
    let is_static = prop::bool::weighted(0.2);
    let root = prop::option::weighted(0.5, 0u8..3);
    (thing, is_static, root, 0u32..4).prop_map(|(thing, is_static, root, cut)| Plan {
        thing,
        is_static,
        root,
        cut,
    })
}

//! Linked lists: as deep as they are long.

use super::super::super::{Class, Object, Scene};
use super::super::heap_writer::{HeapWriter, block_size};
use super::super::{Extent, Filling, is_sample, samples};
use super::{root, string};

const NODE: u32 = 8;
const NODE_BLOCK: u32 = block_size(NODE);
/// Strings of 7 to 14 letters have blocks of the same size.
const SHORTEST_TEXT: u32 = 14;
const TEXT_BLOCK: u32 = block_size(SHORTEST_TEXT);

/// A string of some letters.
pub fn any_text(heap: &mut HeapWriter<'_>, string: Class) -> Object {
    let size = SHORTEST_TEXT + 2 * heap.random.below(8);
    let text = heap.object(string, size);
    heap.fill_with_text(text.0, size);
    text
}

/// A list in which each node has its own string.
pub fn list(scene: &mut Scene) -> Box<dyn Filling> {
    let list = List::declare(scene);
    root(scene, list.node);
    Box::new(list)
}

pub struct List {
    pub node: Class,
    pub string: Class,
}

impl List {
    pub const UNIT: Extent = Extent {
        objects: 2,
        bytes: (NODE_BLOCK + TEXT_BLOCK) as u64,
    };

    pub fn declare(scene: &mut Scene) -> Self {
        let string = string(scene);
        let node = scene.class("assembly/index/Item");
        scene.field(node, "next", 0, node);
        scene.field(node, "text", 4, string);
        Self { node, string }
    }

    /// Makes a list; returns its first node.
    pub fn make(&self, heap: &mut HeapWriter<'_>, length: u32) -> Object {
        let first = heap.next_object();
        for nth in 0..length {
            let node = heap.object(self.node, NODE);
            let text = any_text(heap, self.string);
            heap.refer(node, 4, text);
            if nth + 1 < length {
                heap.refer(node, 0, heap.next_object());
            }
        }
        first
    }
}

impl Filling for List {
    fn extent(&self, units: u64) -> Extent {
        Self::UNIT.times(units)
    }

    fn fill(&self, heap: &mut HeapWriter<'_>, units: u32) -> Object {
        let first = self.make(heap, units);
        for nth in samples(units) {
            let node = first.0 + nth * Self::UNIT.bytes as u32;
            heap.knows(Object(node), Self::UNIT.bytes * u64::from(units - nth));
            heap.knows(Object(node + NODE_BLOCK), TEXT_BLOCK.into());
        }
        first
    }
}

/// The deepest and smallest there is: nodes with a way forward and a way back.
pub fn chain(scene: &mut Scene) -> Box<dyn Filling> {
    let node = scene.class("assembly/index/Link");
    scene.field(node, "next", 0, node);
    scene.field(node, "previous", 4, node);
    root(scene, node);
    Box::new(Chain { node })
}

struct Chain {
    node: Class,
}

impl Filling for Chain {
    fn extent(&self, units: u64) -> Extent {
        Extent {
            objects: units,
            bytes: units * u64::from(NODE_BLOCK),
        }
    }

    fn fill(&self, heap: &mut HeapWriter<'_>, units: u32) -> Object {
        let first = heap.next_object();
        let mut previous = None;
        for nth in 0..units {
            let node = heap.object(self.node, NODE);
            if let Some(previous) = previous {
                heap.refer(node, 4, previous);
            }
            if nth + 1 < units {
                heap.refer(node, 0, heap.next_object());
            }
            if is_sample(nth) {
                heap.knows(node, u64::from(NODE_BLOCK) * u64::from(units - nth));
            }
            previous = Some(node);
        }
        first
    }
}

/// A list whose nodes share the strings of a pool, `next` before the string.
///
/// The first nodes refer to each string of the pool, so they dominate it. A search for the nearest common
/// dominator of two referrers that goes up step by step visits the whole list each time.
pub fn next_then_text(scene: &mut Scene) -> Box<dyn Filling> {
    shared_text(scene, [0, 4])
}

/// As [`next_then_text`], but with `next` after the string.
pub fn text_then_next(scene: &mut Scene) -> Box<dyn Filling> {
    shared_text(scene, [4, 0])
}

fn shared_text(scene: &mut Scene, [next, text]: [u32; 2]) -> Box<dyn Filling> {
    let string = string(scene);
    let node = scene.class("assembly/index/Item");
    scene.field(node, "next", next, node);
    scene.field(node, "text", text, string);
    root(scene, node);
    Box::new(SharedText {
        node,
        string,
        next,
        text,
    })
}

struct SharedText {
    node: Class,
    string: Class,
    next: u32,
    text: u32,
}

/// The number of strings that this number of nodes shares.
fn pool_size(nodes: u64) -> u64 {
    (nodes / 10).clamp(1, 1000)
}

impl Filling for SharedText {
    fn extent(&self, units: u64) -> Extent {
        let texts = pool_size(units);
        Extent {
            objects: texts + units,
            bytes: texts * u64::from(TEXT_BLOCK) + units * u64::from(NODE_BLOCK),
        }
    }

    fn fill(&self, heap: &mut HeapWriter<'_>, units: u32) -> Object {
        let texts = pool_size(units.into()) as u32;
        let first_text = heap.next_object();
        for _ in 0..texts {
            any_text(heap, self.string);
        }
        let first = heap.next_object();
        for nth in 0..units {
            let node = heap.object(self.node, NODE);
            if nth + 1 < units {
                heap.refer(node, self.next, heap.next_object());
            }
            let text = if nth < texts {
                nth
            } else {
                heap.random.below(texts)
            };
            heap.refer(node, self.text, Object(first_text.0 + text * TEXT_BLOCK));
            if is_sample(nth) {
                let own_texts = u64::from(texts.saturating_sub(nth) * TEXT_BLOCK);
                let nodes = u64::from(units - nth) * u64::from(NODE_BLOCK);
                heap.knows(node, nodes + own_texts);
            }
        }
        heap.knows(first_text, TEXT_BLOCK.into());
        first
    }
}

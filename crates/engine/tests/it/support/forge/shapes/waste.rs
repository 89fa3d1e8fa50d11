//! Heaps with more in them than live objects.

use super::super::super::{Class, Object, PAGE, Scene};
use super::super::heap_writer::{HeapWriter, block_size};
use super::super::random::scramble;
use super::super::{Extent, Filling, is_sample};
use super::root;

const NODE: u32 = 24;
const NODE_BLOCK: u32 = block_size(NODE);

fn node(scene: &mut Scene) -> Class {
    let node = scene.class("assembly/index/Event");
    scene.field(node, "next", 0, node);
    scene.field(node, "cause", 4, node);
    for offset in (8..NODE).step_by(4) {
        scene.field(node, &format!("number{offset}"), offset, "i32");
    }
    root(scene, node);
    node
}

/// A list of which one node in ten is left; the others refer to anything.
pub fn garbage(scene: &mut Scene) -> Box<dyn Filling> {
    Box::new(Garbage { node: node(scene) })
}

struct Garbage {
    node: Class,
}

impl Garbage {
    const UNIT: u32 = 10;
}

impl Filling for Garbage {
    fn extent(&self, units: u64) -> Extent {
        let objects = units * u64::from(Self::UNIT);
        Extent {
            objects,
            bytes: objects * u64::from(NODE_BLOCK),
        }
    }

    fn fill(&self, heap: &mut HeapWriter<'_>, units: u32) -> Object {
        let salt = heap.random.next();
        let first = heap.next_object();
        let address = |nth: u32| Object(first.0 + nth * NODE_BLOCK);
        // Which of a unit's nodes is alive.
        let live = |unit: u32| {
            let place = scramble(salt ^ u64::from(unit)) % u64::from(Self::UNIT);
            unit * Self::UNIT + place as u32
        };
        for nth in 0..units * Self::UNIT {
            let unit = nth / Self::UNIT;
            let (next, cause, node);
            if nth == live(unit) {
                node = heap.object(self.node, NODE);
                next = (unit + 1 < units).then(|| live(unit + 1));
                cause = live(heap.random.below(unit + 1));
                if is_sample(unit) {
                    heap.knows(node, u64::from(units - unit) * u64::from(NODE_BLOCK));
                }
            } else {
                node = heap.garbage(self.node, NODE);
                next = Some(heap.random.below(units * Self::UNIT));
                cause = heap.random.below(units * Self::UNIT);
            }
            if let Some(next) = next {
                heap.refer(node, 0, address(next));
            }
            heap.refer(node, 4, address(cause));
            heap.fill_with_numbers(node.0 + 8, NODE - 8);
        }
        address(live(0))
    }
}

/// Objects among raw and free blocks, in two regions with foreign pages between them.
pub fn regions(scene: &mut Scene) -> Box<dyn Filling> {
    Box::new(Regions { node: node(scene) })
}

struct Regions {
    node: Class,
}

impl Regions {
    /// Two nodes around a raw and a free block; granules of 16 bytes that those have together.
    const REST: u32 = 10;
    const UNIT: u32 = 2 * NODE_BLOCK + 16 * Self::REST;

    fn foreign_pages(units: u64) -> u64 {
        2 + units * u64::from(Self::UNIT) / 64 / u64::from(PAGE)
    }

    fn make(&self, heap: &mut HeapWriter<'_>, previous: Option<Object>) -> Object {
        let first = heap.object(self.node, NODE);
        let raw_granules = 2 + heap.random.below(Self::REST - 3);
        let raw_size = 16 * raw_granules - 4;
        let raw = heap.raw(raw_size);
        heap.fill_with_numbers(raw, raw_size);
        heap.disguise(raw, self.node);
        heap.free(16 * (Self::REST - raw_granules) - 4);
        let second = heap.object(self.node, NODE);
        heap.refer(second, 0, first);
        if let Some(previous) = previous {
            heap.refer(first, 0, previous);
        }
        second
    }
}

impl Filling for Regions {
    fn extent(&self, units: u64) -> Extent {
        let page = u64::from(PAGE);
        let between = (Self::foreign_pages(units) + 2) * page;
        Extent {
            objects: 2 * units,
            bytes: units * u64::from(Self::UNIT) + between,
        }
    }

    fn fill(&self, heap: &mut HeapWriter<'_>, units: u32) -> Object {
        let mut last = None;
        let mut bytes = 0;
        for nth in 0..units {
            if nth == units.div_ceil(2) {
                heap.foreign_pages(Self::foreign_pages(units.into()) as u32);
            }
            let node = self.make(heap, last);
            bytes += 2 * u64::from(NODE_BLOCK);
            if is_sample(nth) {
                heap.knows(node, bytes);
            }
            last = Some(node);
        }
        last.unwrap()
    }
}

//! Arrays: wide, not deep.

use super::super::super::{Class, OBJECT_HEADER, Object, Scene};
use super::super::heap_writer::{HeapWriter, block_size};
use super::super::{Extent, Filling, is_sample};
use super::{array_of, numbers, root};

const LEAF: u32 = 24;
const LEAF_BLOCK: u32 = block_size(LEAF);

/// The blocks of an array and its buffer.
pub fn array_extent(length: u64) -> Extent {
    let buffer = (4 * length + u64::from(OBJECT_HEADER)).next_multiple_of(16);
    Extent {
        objects: 2,
        bytes: u64::from(block_size(16)) + buffer.max(32),
    }
}

/// An array of arrays of a thousand objects each.
pub fn arrays(scene: &mut Scene) -> Box<dyn Filling> {
    let tables = Tables::declare(scene, 1000);
    let name = "~lib/array/Array<assembly/index/Measurement>";
    indexed(scene, name, tables.array, tables)
}

/// One array with all objects.
pub fn one_array(scene: &mut Scene) -> Box<dyn Filling> {
    let leaf = numbers(scene, "assembly/index/Measurement", LEAF);
    indexed(scene, "assembly/index/Measurement", leaf, Leaf(leaf))
}

/// A group of objects that is created repeatedly, with the same size each time.
pub trait Unit {
    fn extent(&self) -> Extent;

    /// Creates one and everything to which only it refers.
    fn make(&self, heap: &mut HeapWriter<'_>) -> Object;
}

/// One array with this number of units of a class.
pub fn indexed<U: Unit + 'static>(
    scene: &mut Scene,
    class_name: &str,
    class: Class,
    unit: U,
) -> Box<dyn Filling> {
    let outer = array_of(scene, class_name, class);
    root(scene, outer);
    Box::new(Indexed { outer, unit })
}

struct Indexed<U> {
    outer: Class,
    unit: U,
}

impl<U: Unit> Filling for Indexed<U> {
    fn extent(&self, units: u64) -> Extent {
        self.unit.extent().times(units).plus(array_extent(units))
    }

    fn fill(&self, heap: &mut HeapWriter<'_>, units: u32) -> Object {
        let outer = heap.array(self.outer, units);
        for nth in 0..units {
            let before = heap.live();
            let unit = self.unit.make(heap);
            heap.element(outer, nth, unit);
            if is_sample(nth) {
                heap.knows(unit, heap.live().bytes - before.bytes);
            }
        }
        heap.knows(outer.object, heap.live().bytes);
        outer.object
    }
}

/// An array of leaves.
pub struct Tables {
    pub array: Class,
    leaf: Leaf,
    width: u32,
}

impl Tables {
    pub fn declare(scene: &mut Scene, width: u32) -> Self {
        let leaf = numbers(scene, "assembly/index/Measurement", LEAF);
        Self {
            array: array_of(scene, "assembly/index/Measurement", leaf),
            leaf: Leaf(leaf),
            width,
        }
    }
}

impl Unit for Tables {
    fn extent(&self) -> Extent {
        let leaves = self.leaf.extent().times(self.width.into());
        leaves.plus(array_extent(self.width.into()))
    }

    fn make(&self, heap: &mut HeapWriter<'_>) -> Object {
        let array = heap.array(self.array, self.width);
        for nth in 0..self.width {
            let leaf = self.leaf.make(heap);
            heap.element(array, nth, leaf);
        }
        array.object
    }
}

/// An object with numbers only.
struct Leaf(Class);

impl Unit for Leaf {
    fn extent(&self) -> Extent {
        Extent {
            objects: 1,
            bytes: LEAF_BLOCK.into(),
        }
    }

    fn make(&self, heap: &mut HeapWriter<'_>) -> Object {
        let leaf = heap.object(self.0, LEAF);
        heap.fill_with_numbers(leaf.0, LEAF);
        leaf
    }
}

//! Ten thousand classes: side by side, and each the base of the next.

use super::super::super::{Class, Object, Scene};
use super::super::heap_writer::{HeapWriter, block_size};
use super::super::{Extent, Filling, samples};
use super::arrays::array_extent;
use super::{array_of, root};

const CLASSES: u32 = 10_000;
const FIRST_ID: u32 = 4;

/// Classes of which none has anything to do with another.
pub fn classes(scene: &mut Scene) -> Box<dyn Filling> {
    const SIZE: u32 = 24;
    let base = scene.class_with_id("assembly/index/Entity", Some(FIRST_ID));
    let offset = |nth: u32| 4 * (nth % (SIZE / 4));
    // Ids are given, because a search for the next free id would visit all classes.
    let kinds = (0..CLASSES).map(|nth| {
        let class = scene.class_with_id(&format!("assembly/index/Kind{nth}"), Some(nth + 5));
        scene.inherit(class, base);
        scene.field(class, "other", offset(nth), base);
        (class, offset(nth))
    });
    let kinds = kinds.collect();
    many_kinds(scene, base, kinds, SIZE)
}

/// Classes of which each inherits from the one before; every thousandth adds a reference.
pub fn hierarchy(scene: &mut Scene) -> Box<dyn Filling> {
    const LEVELS_PER_FIELD: u32 = 1000;
    const SIZE: u32 = 4 * CLASSES / LEVELS_PER_FIELD;
    let base = scene.class_with_id("assembly/index/Level0", Some(FIRST_ID));
    let mut kinds: Vec<(Class, u32)> = Vec::new();
    for level in 0..CLASSES {
        let class = match kinds.last() {
            None => base,
            Some(&(previous, _)) => {
                let name = format!("assembly/index/Level{level}");
                let class = scene.class_with_id(&name, Some(FIRST_ID + level));
                scene.inherit(class, previous);
                class
            }
        };
        let offset = 4 * (level / LEVELS_PER_FIELD);
        if level.is_multiple_of(LEVELS_PER_FIELD) {
            scene.field(class, &format!("other{level}"), offset, base);
        }
        kinds.push((class, offset));
    }
    many_kinds(scene, base, kinds, SIZE)
}

fn many_kinds(
    scene: &mut Scene,
    base: Class,
    kinds: Vec<(Class, u32)>,
    size: u32,
) -> Box<dyn Filling> {
    let outer = array_of(scene, "assembly/index/Entity", base);
    root(scene, outer);
    Box::new(ManyKinds { outer, kinds, size })
}

/// An array of objects of one class after the other, each with a reference to any of them.
struct ManyKinds {
    outer: Class,
    /// Each with the offset of its reference.
    kinds: Vec<(Class, u32)>,
    size: u32,
}

impl Filling for ManyKinds {
    fn extent(&self, units: u64) -> Extent {
        let objects = Extent {
            objects: 1,
            bytes: block_size(self.size).into(),
        };
        objects.times(units).plus(array_extent(units))
    }

    fn fill(&self, heap: &mut HeapWriter<'_>, units: u32) -> Object {
        let block = block_size(self.size);
        let outer = heap.array(self.outer, units);
        let first = heap.next_object();
        let address = |nth: u32| Object(first.0 + nth * block);
        for (nth, &(class, offset)) in (0..units).zip(self.kinds.iter().cycle()) {
            let object = heap.object(class, self.size);
            heap.element(outer, nth, object);
            let other = heap.random.below(units);
            heap.refer(object, offset, address(other));
        }
        heap.knows(outer.object, heap.live().bytes);
        for nth in samples(units) {
            heap.knows(address(nth), block.into());
        }
        outer.object
    }
}

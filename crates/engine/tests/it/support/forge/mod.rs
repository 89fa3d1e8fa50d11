//! Writes heaps of any size up to 4 GiB in seconds. For these, a [`Scene`] would be too slow and too large.
//!
//! A heap is determined by shape, size and seed, and has the same bytes every time. It follows all rules of a
//! real heap: the allocator's blocks, free lists and regions, the collector's lists and its count of bytes.
//! The live objects, and the retained sizes of some objects, are known by construction and are returned with
//! it.
//!
//! ```ignore
//! let forge = Forge::new(Shape::named("list").unwrap(), Size::Objects(1000), 1);
//! let (dump, truth) = forge.dump();
//! let heap = analyze(&dump, &forge.module())?;
//! assert_eq!(heap.live_size, truth.live.bytes);
//! ```

mod heap_writer;
pub mod random;
mod shapes;

use std::io;
use std::path::Path;

use serde::Serialize;

use super::{
    DumpFile, Object, PAGE, RTTI_BASE, SHADOW_STACK, Scene, allocator_behind, first_block_behind,
};
use heap_writer::HeapWriter;

/// The shape of a heap.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its name in options.
    pub name: &'static str,
    /// Declares its classes and the global `assembly/index/root`.
    declare: fn(&mut Scene) -> Box<dyn Filling>,
}

impl Shape {
    /// All shapes.
    pub const ALL: &[Self] = shapes::ALL;

    /// The shape of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|shape| shape.name == name)
    }
}

/// How a shape fills a heap: with a number of units of the same size. So the address of each object is known
/// in advance, and every object can be written in one step.
trait Filling {
    /// The number of objects, and the bytes of all blocks or a little more.
    fn extent(&self, units: u64) -> Extent;

    /// Allocates and connects all objects. Returns the one that the root refers to.
    fn fill(&self, heap: &mut HeapWriter<'_>, units: u32) -> Object;
}

/// The size of a filling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    objects: u64,
    bytes: u64,
}

impl Extent {
    fn times(self, count: u64) -> Self {
        Self {
            objects: self.objects * count,
            bytes: self.bytes * count,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            objects: self.objects + other.objects,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// Whether the retained size of the `nth` object is stored: for a few objects of each shape.
fn is_sample(nth: u32) -> bool {
    nth == 0 || nth.is_power_of_two()
}

/// All samples below a number.
fn samples(count: u32) -> impl Iterator<Item = u32> {
    (0..count).filter(|&nth| is_sample(nth))
}

/// How large a heap is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Bytes of memory, a multiple of 64 KiB: as many objects as fit.
    Memory(u64),
    /// At least this number of objects, alive or not, and at most one unit more.
    Objects(u64),
}

/// Blocks of some kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Blocks {
    /// How many there are.
    pub count: u64,
    /// Their sizes, headers included.
    pub bytes: u64,
}

impl Blocks {
    fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes += bytes;
    }
}

/// The facts about a heap that are known by construction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Truth {
    /// Objects that the root reaches.
    pub live: Blocks,
    /// The other objects.
    pub garbage: Blocks,
    /// Used blocks that are no objects.
    pub raw: Blocks,
    /// Free blocks.
    pub free: Blocks,
    /// The ends of regions and the padding at their starts, in bytes.
    pub overhead: u64,
    /// Memory that is not the allocator's, in bytes.
    pub gaps: u64,
    /// The retained sizes of some objects in bytes.
    #[serde(skip)]
    pub retained: Vec<(Object, u64)>,
    /// All references; only from [`Forge::dump_with_references`].
    #[serde(skip)]
    pub references: Vec<(Object, Object)>,
}

impl Truth {
    /// All blocks but those that end regions.
    pub fn blocks(&self) -> u64 {
        self.live.count + self.garbage.count + self.raw.count + self.free.count
    }
}

/// A heap that can be written.
pub struct Forge {
    scene: Scene,
    filling: Box<dyn Filling>,
    units: u32,
    seed: u64,
    memory_size: u64,
}

impl Forge {
    /// Plans a heap.
    ///
    /// # Panics
    /// If the memory is too small for the smallest heap of the shape, or 4 GiB too small for so
    /// many objects.
    pub fn new(shape: Shape, size: Size, seed: u64) -> Self {
        let mut scene = Scene::new();
        let filling = (shape.declare)(&mut scene);
        scene.make_room_for_classes();
        let first_block = first_block_behind(allocator_behind(scene.heap_base));
        let end_of = |units| u64::from(first_block) + filling.extent(units).bytes + 4;
        const LARGEST: u64 = 1 << 32;
        let (units, memory_size) = match size {
            Size::Memory(bytes) => {
                assert!(bytes.is_multiple_of(PAGE.into()) && bytes <= LARGEST);
                let too_many = first_that(|units| end_of(units) > bytes);
                (too_many - 1, bytes)
            }
            Size::Objects(objects) => {
                let units = first_that(|units| filling.extent(units).objects >= objects);
                (units, end_of(units).next_multiple_of(PAGE.into()))
            }
        };
        assert!(
            units > 0,
            "{size:?} is too small for the shape {}",
            shape.name
        );
        assert!(memory_size <= LARGEST, "{size:?} is too large for a memory");
        Self {
            scene,
            filling,
            units: units as u32,
            seed,
            memory_size,
        }
    }

    /// The module.
    pub fn module(&self) -> Vec<u8> {
        self.scene.module()
    }

    /// The dump, in memory.
    pub fn dump(&self) -> (DumpFile, Truth) {
        self.dump_recording(false)
    }

    /// The dump, and all references in the truth.
    pub fn dump_with_references(&self) -> (DumpFile, Truth) {
        self.dump_recording(true)
    }

    fn dump_recording(&self, records: bool) -> (DumpFile, Truth) {
        let mut bytes = vec![0; self.file_size() as usize];
        let truth = self.write(&mut bytes, records);
        (DumpFile { bytes }, truth)
    }

    /// Writes the dump to a file: through a mapping, so that it takes no memory but the page cache.
    pub fn write_to(&self, path: &Path) -> io::Result<Truth> {
        let file = std::fs::File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)?;
        file.set_len(self.file_size())?;
        // SAFETY: the file was just created here, and no other process truncates it.
        let mut bytes = unsafe { memmap2::MmapMut::map_mut(&file)? };
        Ok(self.write(&mut bytes, false))
    }

    fn file_size(&self) -> u64 {
        DumpFile::size(self.memory_size, self.scene.global_values().len())
    }

    /// Writes the dump into these bytes, which must be zero.
    fn write(&self, bytes: &mut [u8], records: bool) -> Truth {
        let mut dump = DumpFile { bytes };
        let mut scene = self.scene.clone();
        // Twice, because where the memory begins stands in the header, and the values of the globals
        // are known at the end.
        scene.write_statics(&mut dump);
        let allocator = allocator_behind(scene.heap_base);
        let mut heap = HeapWriter::new(dump.memory(), allocator, self.seed, records);
        let root = self.filling.fill(&mut heap, self.units);
        let truth = heap.finish();
        let total = truth.live.bytes + truth.garbage.bytes;
        // The runtime's count has 32 bits; it never wraps, because all objects are in memory.
        scene.set_global("~lib/rt/itcms/total", total as u32);
        scene.set_global("assembly/index/root", root.0);
        dump.write_header(&scene.global_values());
        truth
    }
}

impl Scene {
    /// Moves the heap up until the type flags of all classes have room below it.
    fn make_room_for_classes(&mut self) {
        let end = RTTI_BASE + 4 + 4 * self.next_id();
        self.data_end = self.data_end.max(end);
        self.heap_base = self.data_end + SHADOW_STACK;
        self.set_global("~lib/memory/__data_end", self.data_end);
        self.set_global("~lib/memory/__heap_base", self.heap_base);
    }
}

/// The least number of units for which a monotonic condition is true.
fn first_that(is_true: impl Fn(u64) -> bool) -> u64 {
    let mut high = 1;
    while !is_true(high) {
        high *= 2;
    }
    let mut low = 0;
    while high - low > 1 {
        let middle = low.midpoint(high);
        if is_true(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

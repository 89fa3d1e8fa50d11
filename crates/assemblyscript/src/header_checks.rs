//! Cross-checks of the objects' headers: what the runtime itself keeps true between the words of a header, its
//! class and the collector's lists.
//!
//! The pass that reads the headers only finds out whether anything can be wrong, with sums and one size for each
//! class. Looking up both neighbours of each object would find the same, but costs two more reads of the index
//! for each object. If anything can be wrong, a second pass over the objects that are left looks exactly.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::class_slots::DescribedClass;
use crate::runtime::classes::{Classes, ObjectSize};
use crate::runtime::collector::Collector;
use crate::runtime::objects::{ObjectHeader, block_of, payload_of};
use crate::warning::ManagedWarning;
use base::columns;
use base::error::Result;
use base::units::{Address, ClassId, ObjectIndex};
use base::warning::Warning;
use dumps::{Dump, Memory};
use heap::ObjectTable;
use runtime_code::std_library::STRING;

/// Classes with higher ids have no size here. See the table of class slots.
const MOST_CLASSES: u32 = 1 << 16;

/// What the first pass over the headers notices. All threads share it.
pub(super) struct HeaderChecks {
    first_block: Address,
    /// By class id: the size of its objects.
    sizes: Vec<SeenSize>,
    /// The sum of the links to heap objects, minus the sum of the objects to which such a link leads, modulo
    /// 2^64. It is 0 if the links lead to these objects only.
    links: AtomicU64,
    has_misfit: AtomicBool,
}

/// The size of the first object of a class, and whether others have another size.
#[derive(Default)]
struct SeenSize {
    /// One more than the size; 0 if there was no object.
    first: AtomicU64,
    varies: AtomicBool,
}

/// The results of one chunk of objects.
#[derive(Default)]
pub(super) struct ChunkChecks {
    links: u64,
    has_misfit: bool,
}

impl HeaderChecks {
    pub(super) fn new(classes: &Classes<'_>, first_block: Address) -> Result<Self> {
        let count = classes.count().min(MOST_CLASSES) as usize;
        let mut sizes = columns::with_capacity(count)?;
        sizes.resize_with(count, SeenSize::default);
        Ok(Self {
            first_block,
            sizes,
            links: AtomicU64::new(0),
            has_misfit: AtomicBool::new(false),
        })
    }

    /// Looks at the header of an object. `is_first` says that no object before it in its list refers to it.
    #[inline]
    pub(super) fn look(
        &self,
        chunk: &mut ChunkChecks,
        block: Address,
        header: ObjectHeader,
        is_first: bool,
    ) {
        let next = header.next();
        if next >= self.first_block {
            chunk.links = chunk.links.wrapping_add(u64::from(next.0));
        }
        if !is_first && header.previous >= self.first_block {
            chunk.links = chunk.links.wrapping_sub(u64::from(block.0));
        }
        chunk.has_misfit |= !has_possible_size(header);
        if let Some(seen) = self.sizes.get(header.class_id.0 as usize) {
            seen.look(header.size);
        }
    }

    pub(super) fn add(&self, chunk: &ChunkChecks) {
        self.links.fetch_add(chunk.links, Ordering::Relaxed);
        self.has_misfit
            .fetch_or(chunk.has_misfit, Ordering::Relaxed);
    }

    /// Adds warnings about the objects that are left. `cursor` is the payload of the object that is swept next,
    /// if it is known and not among them.
    pub(super) fn warn(
        &self,
        dump: &Dump<'_>,
        objects: &ObjectTable,
        classes: &[DescribedClass],
        collector: &Collector,
        cursor: Option<u32>,
        warnings: &mut Vec<Warning>,
    ) {
        let sizes: Vec<_> = classes
            .iter()
            .map(|class| self.size(class.id, class.class.object_size))
            .collect();
        let mut problems = [
            ("objects whose size contradicts their block", None),
            ("objects whose size is not that of their class", None),
            ("objects with a link to a block that is no object", None),
        ];
        if self.has_misfit.load(Ordering::Relaxed)
            || self.links.load(Ordering::Relaxed) != 0
            || sizes.iter().any(|size| !matches!(size, CheckedSize::Right))
        {
            let exact = ExactChecks {
                dump,
                objects,
                first_block: self.first_block,
                cursor: cursor.map(Address),
                sizes,
            };
            exact.run(&mut problems);
        }
        warnings.extend(problems.into_iter().filter_map(|(problem, found)| {
            let (address, count) = found?;
            Some(
                ManagedWarning::HeapInconsistent {
                    problem,
                    address,
                    count,
                }
                .into(),
            )
        }));
        warnings.extend(pin_warning(
            dump.memory,
            objects,
            collector,
            self.first_block,
        ));
    }

    fn size(&self, id: ClassId, expected: ObjectSize) -> CheckedSize {
        let Some(seen) = self.sizes.get(id.0 as usize) else {
            return CheckedSize::Right;
        };
        let first = seen.first.load(Ordering::Relaxed).checked_sub(1);
        let varies = seen.varies.load(Ordering::Relaxed);
        let is_right = |first: u64| match expected {
            ObjectSize::Any => true,
            ObjectSize::Exactly(size) => !varies && first == u64::from(size),
            ObjectSize::Uniform(least) => !varies && first >= u64::from(least),
        };
        match (first, expected) {
            (Some(first), ObjectSize::Exactly(size)) if !is_right(first) => {
                CheckedSize::Other(size)
            }
            (Some(first), _) if !is_right(first) => CheckedSize::Varies,
            _ => CheckedSize::Right,
        }
    }
}

impl SeenSize {
    #[inline]
    fn look(&self, size: u32) {
        let size = u64::from(size) + 1;
        if self.first.load(Ordering::Relaxed) != size && !self.varies.load(Ordering::Relaxed) {
            self.look_at_other(size);
        }
    }

    /// Notices the first size, or that sizes differ.
    #[cold]
    fn look_at_other(&self, size: u64) {
        let exchanged = self
            .first
            .compare_exchange(0, size, Ordering::Relaxed, Ordering::Relaxed);
        if exchanged.is_err_and(|first| first != size) {
            self.varies.store(true, Ordering::Relaxed);
        }
    }
}

/// What the first pass says about the objects of a class.
#[derive(Clone, Copy)]
enum CheckedSize {
    Right,
    /// Some have another size than this, which is right.
    Other(u32),
    /// They have different sizes, or are too small.
    Varies,
}

#[inline]
fn has_possible_size(header: ObjectHeader) -> bool {
    let is_half_character = (header.class_id == STRING) & (header.size & 1 != 0);
    header.fits_block() & !is_half_character
}

/// The first object with a problem and their number.
type FoundProblem = Option<(Address, u64)>;

/// The second pass.
struct ExactChecks<'a> {
    dump: &'a Dump<'a>,
    objects: &'a ObjectTable,
    first_block: Address,
    /// The payload of the object that is swept next, if it is not among the objects.
    cursor: Option<Address>,
    /// By class slot.
    sizes: Vec<CheckedSize>,
}

impl ExactChecks<'_> {
    fn run(&self, problems: &mut [(&'static str, FoundProblem); 3]) {
        let mut first_sizes = vec![None; self.sizes.len()];
        for at in 0..self.objects.len() as u32 {
            let object = ObjectIndex(at);
            if !self.objects.is_on_heap(object) {
                continue;
            }
            let payload = Address(self.objects.addresses.words()[object.at()]);
            let Some(header) =
                block_of(payload).and_then(|block| ObjectHeader::read(self.dump.memory, block))
            else {
                continue;
            };
            let slot = self.objects.class_slots[object.at()] as usize;
            let has_right_size = match self.sizes[slot] {
                CheckedSize::Right => true,
                CheckedSize::Other(size) => header.size == size,
                CheckedSize::Varies => *first_sizes[slot].get_or_insert(header.size) == header.size,
            };
            let found = [
                !has_possible_size(header),
                !has_right_size,
                !self.has_right_links(payload, header),
            ];
            for ((_, problem), found) in problems.iter_mut().zip(found) {
                if found {
                    problem.get_or_insert((payload, 0)).1 += 1;
                }
            }
        }
    }

    fn has_right_links(&self, payload: Address, header: ObjectHeader) -> bool {
        let is_object = |block: Address| {
            block < self.first_block
                || payload_of(block).is_some_and(|payload| {
                    self.objects.index.get(payload).is_some() || self.cursor == Some(payload)
                })
        };
        is_object(header.next()) && (is_object(header.previous) || self.may_be_swept_next(payload))
    }

    /// Whether a global holds the address of the block, as the collector's cursor does. The object before the
    /// cursor was freed, and its memory may still hold the link to the cursor.
    fn may_be_swept_next(&self, payload: Address) -> bool {
        let mut values = self.dump.globals.iter();
        block_of(payload).is_some_and(|block| values.any(|value| value == block.0))
    }
}

/// The warning for pinned objects that are not in the list of pinned objects, or the other way round.
fn pin_warning(
    memory: Memory<'_>,
    objects: &ObjectTable,
    collector: &Collector,
    first_block: Address,
) -> Option<Warning> {
    let block_of_object =
        |object: ObjectIndex| block_of(Address(objects.addresses.words()[object.at()]));
    let first = objects.pinned.first().copied().and_then(block_of_object);
    // Without the head, the ring of any pinned object is the list. Its only other member is the head.
    let start = collector
        .list_heads
        .map(|heads| heads.pin_space)
        .or(first)?;
    let mut pinned = 0;
    let mut others = 0;
    let mut block = start;
    for _ in 0..=objects.pinned.len() + 1 {
        let header = ObjectHeader::read(memory, block)?;
        if header.is_pinned() {
            pinned += 1;
        } else {
            others += 1 + u64::from(block >= first_block);
        }
        block = header.next();
        if block == start {
            break;
        }
    }
    let is_right = block == start && others == 1 && pinned == objects.pinned.len();
    (!is_right).then(|| ManagedWarning::HeapInconsistent {
        problem: "objects that are marked as pinned, but not in the list of pinned objects, or the other way round",
        address: first.and_then(payload_of).unwrap_or(start),
        count: (objects.pinned.len().abs_diff(pinned) as u64).max(1),
    }.into())
}

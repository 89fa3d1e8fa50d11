//! Fills the object table: static objects first, then the managed objects among the heap's blocks.
//!
//! One thread walks the blocks, because a block's header gives only the address of the next block, and stores
//! the used ones. Then all threads read the headers of the objects, and blocks that hold no object are
//! removed from the columns.

use rayon::prelude::*;

use super::accounting::BlockTotals;
use super::class_slots::{ClassIds, DescribedClass};
use super::examined_objects::{CHUNK, Objects};
use super::header_checks::HeaderChecks;
use super::header_pass::{HeaderChunk, HeaderPass};
use super::memory_pages::MemoryPages;
use crate::runtime::Runtime;
use crate::runtime::blocks::AllocatorData;
use crate::runtime::classes::Classes;
use crate::runtime::collector::Collector;
use crate::runtime::known_blocks::KnownBlocks;
use crate::runtime::list_membership::list_members;
use crate::runtime::objects::{ObjectHeader, block_of, payload_of};
use crate::runtime::regions::{BlockWalk, walk_blocks};
use crate::runtime::statics::static_objects;
use crate::warning::ManagedWarning;
use base::columns;
use base::control::{Control, Phase};
use base::error::{Error, Result};
use base::mismatch::Mismatch;
use base::tolerance::Tolerance;
use base::units::Address;
use base::warning::Warning;
use dumps::Dump;
use heap::HeapError;
use heap::{AddressIndex, CollectorState, HeapClass, ObjectTable};

/// The number of bytes of the heap between two checks for cancellation.
const WALK_INTERVAL: u64 = 1 << 20;

/// The number of tasks after which memory is released.
const CHUNKS_PER_ROUND: usize = 32;

/// What is found in a dump.
#[derive(Default)]
pub(super) struct ObjectsInDump {
    pub(super) objects: ObjectTable,
    /// Their classes, by class slot.
    pub(super) classes: Vec<DescribedClass>,
    /// The use of the heap's other bytes.
    pub(super) totals: BlockTotals,
    /// The regions.
    pub(super) walk: BlockWalk,
}

/// Finds all objects of a dump, the use of the heap's other bytes, and the regions.
///
/// # Errors
/// [`OtherModule`](base::mismatch::OtherModule) if an object is of no class of the program,
/// [`HeapError::Corrupt`] if the blocks cannot be walked to the end of
/// the heap, unless that is tolerated.
pub(super) fn read_objects(
    runtime: &Runtime<'_>,
    tolerance: Tolerance,
    pages: MemoryPages<'_>,
    control: &Control,
    warnings: &mut Vec<Warning>,
) -> Result<ObjectsInDump> {
    let Some(allocator) = runtime.allocator else {
        return Ok(ObjectsInDump {
            objects: ObjectTable {
                statics: Some(0),
                ..ObjectTable::default()
            },
            ..ObjectsInDump::default()
        });
    };
    let mut reader = HeapReader {
        dump: &runtime.dump,
        allocator,
        classes: &runtime.classes,
        collector: &runtime.collector,
        tolerance,
        pages,
        control,
        warnings,
    };
    reader.read()
}

/// Everything that reading a heap needs.
struct HeapReader<'a, 'r> {
    dump: &'a Dump<'a>,
    allocator: AllocatorData,
    classes: &'a Classes<'r>,
    collector: &'a Collector,
    tolerance: Tolerance,
    pages: MemoryPages<'a>,
    control: &'a Control,
    warnings: &'a mut Vec<Warning>,
}

impl HeapReader<'_, '_> {
    fn read(&mut self) -> Result<ObjectsInDump> {
        let mut objects = self.static_objects()?;
        let statics = objects.payloads.len();
        let (mut totals, mut walk) = self.used_blocks(&mut objects)?;
        if self.allocator.tail.is_none() {
            walk.damage = self.missing_heap();
            self.check_unused()?;
        }
        totals.add_walk(self.dump.memory, self.allocator, &walk);
        let checks = HeaderChecks::new(self.classes, self.allocator.first_block)?;
        self.keep_linked(&mut objects, statics, &checks)?;
        let swept = match self.collector.list_heads {
            None => self.keep_members(&mut objects, statics)?,
            Some(_) => None,
        };
        if !self.tolerance.damage
            && let Some(damage) = walk.damage.take()
        {
            return Err(damage);
        }
        if let Some(damage) = &walk.damage {
            self.warnings.push(Warning::Partial {
                damage: damage.to_string(),
            });
        } else if let Some(total) = self.collector.total.map(u64::from) {
            self.check_total(&mut objects, statics, total)?;
        }

        let Objects {
            payloads,
            sizes,
            mut class_ids,
            pinned,
            torn: _,
        } = objects;
        let ids = ClassIds::count(&class_ids);
        self.tolerance
            .check(self.foreign_class(&ids), self.warnings)?;
        let classes = ids.into_slots(&mut class_ids, self.classes, self.control)?;
        let index = AddressIndex::new(&payloads)?;
        let mut pinned_objects = columns::with_capacity(pinned.len())?;
        let pinned = pinned.into_iter().map(Address);
        pinned_objects.extend(pinned.filter_map(|payload| index.get(payload)));
        pinned_objects.sort_unstable();
        let plain = classes.iter().map(|class| HeapClass {
            name: class.class.name.clone(),
            origin: None,
            evidence: None,
            count: class.count,
        });
        // Every block takes heap space.
        let statics = sizes.partition_point(|&size| size == 0) as u32;
        let objects = ObjectTable {
            addresses: payloads.into(),
            class_slots: class_ids,
            shallow_sizes: sizes,
            statics: Some(statics),
            classes: plain.collect(),
            pinned: pinned_objects,
            index,
            ..ObjectTable::default()
        };
        if walk.damage.is_none() {
            self.warnings
                .extend(walk.contradictions.map(|(address, count)| {
                    ManagedWarning::HeapInconsistent {
                        problem: "blocks that contradict the blocks before them",
                        address,
                        count,
                    }
                    .into()
                }));
            checks.warn(
                self.dump,
                &objects,
                &classes,
                self.collector,
                swept,
                self.warnings,
            );
        }
        Ok(ObjectsInDump {
            objects,
            classes,
            totals,
            walk,
        })
    }

    /// Every object's class must be in the table of type flags, if there is one.
    fn foreign_class(&self, ids: &ClassIds) -> Option<Mismatch> {
        let count = self.classes.count();
        let id = ids.iter().find(|id| count > 0 && id.0 >= count)?;
        Some(Mismatch::ObjectBeyondTable { id, count })
    }

    /// The error for a heap that looks unused, although the program has used it.
    fn missing_heap(&self) -> Option<Error> {
        let total = self.collector.total.filter(|&total| total > 0)?;
        Some(Error::from(HeapError::Corrupt {
            address: self.allocator.first_block,
            found: format!(
                "an allocator that was never used, although the collector counts {total} bytes of objects"
            ),
            expected: "the allocator's tail pointer",
        }))
    }

    /// Refuses the memory of another runtime: the module has no collector that can be read, the allocator was never
    /// used, and there is something where its heap would be.
    fn check_unused(&self) -> Result<()> {
        const PIECE: usize = 1 << 20;
        let Collector {
            total,
            uncertain_total,
            state,
            list_heads,
            ..
        } = self.collector;
        if total.or(*uncertain_total).is_some() || state.is_some() || list_heads.is_some() {
            return Ok(());
        }
        let memory = self.dump.memory;
        let first = self.allocator.first_block;
        let length = u32::try_from(self.allocator.heap_size(memory)).unwrap_or(u32::MAX);
        let Some(heap) = memory.bytes_at(first, length) else {
            return Ok(());
        };
        let mut before = u64::from(first.0);
        for piece in heap.pieces(PIECE) {
            if let Some(nth) = piece.words().position(|word| word != 0) {
                let address = Address((before + 4 * nth as u64) as u32);
                return Err(HeapError::AllocatorUnknown {
                    found: format!(
                        "no collector that can be read in the module, an allocator of AssemblyScript that was never used, and data at {address}, where its heap would be"
                    ),
                }.into());
            }
            before += piece.size();
            self.control.count(piece.size() / 4)?;
        }
        Ok(())
    }

    /// The objects below the heap.
    fn static_objects(&self) -> Result<Objects> {
        let mut objects = Objects::default();
        let class_count = self.classes.count();
        for (payload, header) in static_objects(self.dump) {
            // Data that looks like an object by chance can have any id.
            if class_count == 0 || header.class_id.0 < class_count {
                columns::push(&mut objects.payloads, payload.0)?;
                columns::push(&mut objects.sizes, 0)?;
                columns::push(&mut objects.class_ids, header.class_id.0)?;
                if header.is_pinned() {
                    columns::push(&mut objects.pinned, payload.0)?;
                }
            }
        }
        Ok(objects)
    }

    /// Walks the heap and adds the payloads of all used blocks, whether or not they are objects.
    fn used_blocks(&self, objects: &mut Objects) -> Result<(BlockTotals, BlockWalk)> {
        let memory = self.dump.memory;
        let step = self.control.begin(Phase::Blocks, memory.size());
        let mut totals = BlockTotals::default();
        let mut unreported = 0;
        let known = || KnownBlocks::read(memory, self.allocator, self.collector, &step);
        let walk = walk_blocks(memory, self.allocator, known, &step, |block, info| {
            totals.add_block(info);
            unreported += u64::from(info.block_size());
            if unreported >= WALK_INTERVAL {
                step.advance(std::mem::take(&mut unreported))?;
            }
            if let (false, Some(payload)) = (info.is_free(), payload_of(block)) {
                columns::push(&mut objects.payloads, payload.0)?;
            }
            Ok(())
        })?;
        Ok((totals, walk))
    }

    /// Reads the headers of all blocks after the static objects, and keeps the blocks whose neighbours in a
    /// list refer back to them.
    fn keep_linked(
        &self,
        objects: &mut Objects,
        statics: usize,
        checks: &HeaderChecks,
    ) -> Result<()> {
        let is_sweeping = self.collector.state == Some(CollectorState::Sweeping);
        let count = objects.payloads.len();
        let step = self.control.begin(Phase::Objects, count as u64);
        // The threads that fill the columns get their pages.
        for column in [&mut objects.sizes, &mut objects.class_ids] {
            let mut longer = columns::zeros(count)?;
            longer[..statics].copy_from_slice(column);
            *column = longer;
        }

        const ROUND: usize = CHUNKS_PER_ROUND * CHUNK;
        let payloads = objects.payloads[statics..].chunks_mut(ROUND);
        let sizes = objects.sizes[statics..].chunks_mut(ROUND);
        let class_ids = objects.class_ids[statics..].chunks_mut(ROUND);
        let pass = HeaderPass {
            memory: self.dump.memory,
            // The block before the cursor was freed and may contain anything.
            cursor: self.collector.cursor.filter(|_| is_sweeping),
            checks,
        };
        let mut chunks: Vec<HeaderChunk> = Vec::new();
        let mut pages = self.pages;
        for ((payloads, sizes), class_ids) in payloads.zip(sizes).zip(class_ids) {
            let last = payloads.last().copied();
            let found: Vec<HeaderChunk> = payloads
                .par_chunks_mut(CHUNK)
                .zip(sizes.par_chunks_mut(CHUNK))
                .zip(class_ids.par_chunks_mut(CHUNK))
                .map(|((payloads, sizes), class_ids)| {
                    step.advance(payloads.len() as u64)?;
                    pass.read(payloads, sizes, class_ids)
                })
                .collect::<Result<_>>()?;
            // Neighbours in a list may be anywhere: pages that were released are in memory again. If most neighbours are
            // far away, all of them will be needed again.
            if !found.iter().any(|chunk| chunk.is_scattered) {
                pages = self.pages;
            }
            chunks.extend(found);
            if let Some(last) = last {
                pages.release_to(last);
            }
        }
        if let Some(&last) = objects.payloads.last() {
            pages = self.pages;
            pages.release_to(last);
        }
        objects.close_gaps(statics, chunks.iter().map(|chunk| chunk.kept));
        for chunk in chunks {
            columns::extend(&mut objects.pinned, &chunk.pinned)?;
            columns::extend(&mut objects.torn, &chunk.torn)?;
        }
        Ok(())
    }

    /// Of the objects whose neighbours refer back to them, keeps those that are in a list. Returns the payload of
    /// the object that is swept next, if it is known.
    fn keep_members(&mut self, objects: &mut Objects, statics: usize) -> Result<Option<u32>> {
        let index = AddressIndex::new(&objects.payloads[statics..])?;
        let position = |block| Some(index.get(payload_of(block)?)?.at());
        let mut blocks = columns::with_capacity(objects.payloads.len() - statics)?;
        blocks.extend(objects.blocks(statics));
        let members = list_members(
            self.dump.memory,
            self.allocator.first_block,
            &blocks,
            position,
        )?;
        let is_member = |block| position(block).is_some_and(|at| members[at]);
        let BrokenLinks { broken, cursor } = self.broken_links(&objects.torn, is_member);
        objects.keep_where(statics, |nth, _| members[nth])?;
        let Some(&address) = broken.first() else {
            return Ok(cursor);
        };
        // Raw memory may still contain the header of an earlier object. If all objects that the collector
        // counts are found, no list is broken. The object at the cursor is counted, but not found.
        let size_of = |payload| {
            let header = ObjectHeader::read(self.dump.memory, block_of(Address(payload))?)?;
            Some(u64::from(header.block.block_size()))
        };
        let total = self.collector.uncertain_total.map(u64::from);
        let found = objects.total_size();
        let with_cursor = cursor.and_then(size_of).map(|size| found + size);
        if total.is_none() || (total != Some(found) && total != with_cursor) {
            self.warnings.push(
                ManagedWarning::ListBroken {
                    address: Address(address),
                    count: broken.len() as u64,
                }
                .into(),
            );
        }
        Ok(cursor)
    }

    /// The payloads of blocks that only one neighbour refers to, but that belong to a list because that
    /// neighbour does. If the collector's count of objects is known, it is used instead.
    fn broken_links(&self, torn: &[u32], is_member: impl Fn(Address) -> bool) -> BrokenLinks {
        let memory = self.dump.memory;
        let is_listed = |block| block < self.allocator.first_block || is_member(block);
        let is_broken = |payload: &u32| {
            let block = block_of(Address(*payload))?;
            let header = ObjectHeader::read(memory, block)?;
            let forward = header.is_linked_forward(memory, block);
            let back = header.is_linked_back(memory, block);
            Some((back || is_listed(header.next())) && (forward || is_listed(header.previous)))
        };
        let mut broken: Vec<_> = torn
            .iter()
            .copied()
            .filter(|payload| is_broken(payload) == Some(true))
            .collect();
        // During a sweep, no object precedes the next object to be swept. Without names, that object is only
        // known by a global that holds the address of its block.
        let cursors = self.dump.globals.iter().filter_map(|value| {
            let payload = payload_of(Address(value))?;
            broken.binary_search(&payload.0).ok()
        });
        let cursor = cursors.min().map(|cursor| broken.remove(cursor));
        BrokenLinks { broken, cursor }
    }

    /// Compares the objects found with the collector's own count.
    fn check_total(&mut self, objects: &mut Objects, statics: usize, total: u64) -> Result<()> {
        if objects.total_size() != total {
            // Raw blocks that look linked, such as two blocks that point at each other, need not be in a
            // list.
            let step = self.control.begin(Phase::Objects, 1);
            let memory = self.dump.memory;
            let known = KnownBlocks::read(memory, self.allocator, self.collector, &step)?;
            if let Some(members) = known.objects {
                objects.keep_where(statics, |_, block| members.contains(block))?;
            }
        }
        let walk = objects.total_size();
        if walk != total {
            self.warnings.push(
                ManagedWarning::TotalMismatch {
                    collector: total,
                    walk,
                }
                .into(),
            );
        }
        Ok(())
    }
}

/// Objects at which a list of the collector is broken.
struct BrokenLinks {
    /// Their payloads, ascending.
    broken: Vec<u32>,
    /// The object that is swept next. It is normal that the list is broken there.
    cursor: Option<u32>,
}

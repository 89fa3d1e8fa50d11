//! Words in what an allocator adds to a block. They are left from an earlier use of the memory, and join what has nothing
//! to do with each other: a leak of many small structures looks as if one block held them all.
//!
//! What a program asked for is not in the memory. But an allocator that does not split a rest gives blocks of several sizes
//! for one request. So blocks are compared that begin with the same thing, as objects of one class do: the reference to the
//! start of a block of some size, or the address of static data, such as a table of functions. If those of the smaller size
//! never have a reference at an offset, and some of the larger size do, while others have small numbers there, it is no
//! field, and neither is what comes behind it.
//!
//! Emmalloc also leaves a trace: it gives a block the bytes by which it aligns the next one, and the size that was at the
//! block's end stays. Where many blocks of a kind have such a size, their objects end before it.
//!
//! Such references are weak: they keep what nothing else leads to, so that no block is unreferenced because of this rule.

use std::ops::Range;

use base::columns;
use base::control::{CHECK_INTERVAL, Control};
use base::error::Result;
use base::units::{Address, ObjectIndex};
use dumps::Memory;
use foldhash::{HashMap, HashMapExt};
use heap::Edges;

use crate::allocator::{Allocator, UsedBlocks};
use crate::block_index::BlockIndex;
use crate::references::FoundReferences;
use crate::unreferenced::reached;

/// Blocks that are larger than this are not compared.
const LARGEST: u32 = 256;
/// The most words that an allocator adds.
const MOST_WORDS: usize = 5;
/// The most kinds of blocks.
const MOST_KINDS: usize = 1 << 16;
/// How many blocks must show something.
const ENOUGH: u32 = 8;
/// Of how many blocks one must have a number.
const SHARE: u32 = 8;
/// Numbers below this are no addresses.
const LEAST_ADDRESS: u32 = 1024;
const WORD: u32 = 4;
/// The size at the end of a region of emmalloc is that of its contents and of both sizes.
const EMMALLOC_OVERHEAD: u32 = 8;

/// What blocks have in common that may be of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct BlockKind {
    first: FirstWord,
    usable: u32,
}

/// What a block begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum FirstWord {
    /// The address of a block of this size.
    Block(u32),
    /// This address below the heap.
    Static(u32),
}

/// How many blocks of a kind there are, and what they have at the last offsets.
#[derive(Clone, Copy, Debug, Default)]
struct SlackCounts {
    blocks: u32,
    references: [u32; MOST_WORDS],
    numbers: [u32; MOST_WORDS],
    /// Sizes that emmalloc would have put at the end of a block that ends here.
    old_sizes: [u32; MOST_WORDS],
}

/// The offsets of a block that may be behind what the program asked for. The first word is the program's.
fn possible(allocator: Allocator, usable: u32) -> Range<u32> {
    let slack = allocator.slack(usable).min(WORD * MOST_WORDS as u32);
    usable
        .saturating_sub(slack)
        .max(WORD)
        .next_multiple_of(WORD)..usable / WORD * WORD
}

struct SlackComparison<'a> {
    memory: Memory<'a>,
    walk: &'a UsedBlocks,
    index: &'a BlockIndex<'a>,
    kinds: HashMap<BlockKind, SlackCounts>,
}

impl SlackComparison<'_> {
    fn kind_of(&self, nth: usize) -> Option<BlockKind> {
        let usable = self.walk.usable[nth];
        if usable > LARGEST {
            return None;
        }
        let word = self.memory.word(Address(self.walk.addresses[nth]))?;
        let heap = self.walk.segments.first()?.start;
        let first = match self.index.starting_at(word) {
            Some(target) => FirstWord::Block(self.walk.usable[target.at()]),
            None if (LEAST_ADDRESS..heap).contains(&word) => FirstWord::Static(word),
            None => return None,
        };
        Some(BlockKind { first, usable })
    }

    fn count(&mut self, nth: usize) {
        let Some(kind) = self.kind_of(nth) else {
            return;
        };
        if self.kinds.len() == MOST_KINDS && !self.kinds.contains_key(&kind) {
            return;
        }
        let address = self.walk.addresses[nth];
        let counts = self.kinds.entry(kind).or_default();
        counts.blocks += 1;
        let offsets = possible(self.walk.allocator, kind.usable).step_by(WORD as usize);
        for (at, offset) in offsets.enumerate() {
            let Some(word) = self.memory.word_behind(Address(address), offset) else {
                continue;
            };
            counts.references[at] += u32::from(self.index.around(word).is_some());
            counts.numbers[at] += u32::from((1..LEAST_ADDRESS).contains(&word));
            let is_old_size =
                self.walk.allocator == Allocator::Emmalloc && word == offset + EMMALLOC_OVERHEAD;
            counts.old_sizes[at] += u32::from(is_old_size);
        }
    }

    /// The offset from which on the words of these blocks are no fields.
    fn end_of_fields(&self, kind: BlockKind, counts: &SlackCounts) -> Option<u32> {
        let range = possible(self.walk.allocator, kind.usable);
        let smaller = self.smaller_kind(kind);
        let mut offsets = range.step_by(WORD as usize).enumerate();
        let end = offsets.find(|&(at, offset)| {
            let sizes = counts.old_sizes[at];
            let ends_here = sizes >= ENOUGH && sizes >= counts.blocks / SHARE;
            let is_behind =
                || smaller.is_some_and(|other| self.is_behind(counts, (at, offset), other));
            counts.references[at] > 0 && (ends_here || is_behind())
        });
        end.map(|(_, offset)| offset)
    }

    /// The blocks of the next smaller size that begin with the same thing.
    fn smaller_kind(&self, kind: BlockKind) -> Option<(u32, &SlackCounts)> {
        let range = possible(self.walk.allocator, kind.usable);
        let mut smaller = (range.start..kind.usable).step_by(WORD as usize);
        smaller.find_map(|usable| {
            let found = self.kinds.get(&BlockKind { usable, ..kind })?;
            (found.blocks >= ENOUGH).then_some((usable, found))
        })
    }

    /// Whether this word, of some blocks a reference, is no field, because it is a number in others, and no reference in
    /// those of the smaller size.
    fn is_behind(
        &self,
        counts: &SlackCounts,
        (at, offset): (usize, u32),
        (usable, other): (u32, &SlackCounts),
    ) -> bool {
        let others = possible(self.walk.allocator, usable);
        let blocks = counts.blocks + other.blocks;
        let before = offset
            .checked_sub(others.start)
            .map(|at| (at / WORD) as usize);
        let before = before.filter(|_| others.contains(&offset));
        let is_field = before.is_some_and(|at| other.references[at] > 0);
        let numbers = counts.numbers[at] + before.map_or(0, |at| other.numbers[at]);
        let is_number = counts.numbers[at] >= ENOUGH && numbers >= blocks / SHARE;
        is_number && !is_field
    }
}

/// The blocks with weak references, ascending, and the number of references of each that are not weak: the first ones.
fn weak(
    memory: Memory<'_>,
    (walk, index): (&UsedBlocks, &BlockIndex<'_>),
    control: &Control,
) -> Result<Vec<(ObjectIndex, u32)>> {
    if !matches!(walk.allocator, Allocator::Dlmalloc | Allocator::Emmalloc) {
        return Ok(Vec::new());
    }
    let kinds = HashMap::new();
    let mut comparison = SlackComparison {
        memory,
        walk,
        index,
        kinds,
    };
    for nth in 0..walk.addresses.len() {
        if nth % CHECK_INTERVAL == 0 {
            control.count(CHECK_INTERVAL as u64)?;
        }
        comparison.count(nth);
    }
    let kinds = &comparison.kinds;
    let ends: HashMap<BlockKind, u32> = kinds
        .iter()
        .filter_map(|(&kind, counts)| Some((kind, comparison.end_of_fields(kind, counts)?)))
        .collect();
    let mut found = Vec::new();
    if ends.is_empty() {
        return Ok(found);
    }
    for nth in 0..walk.addresses.len() {
        if nth % CHECK_INTERVAL == 0 {
            control.count(CHECK_INTERVAL as u64)?;
        }
        let kind = comparison.kind_of(nth);
        let Some(&end) = kind.and_then(|kind| ends.get(&kind)) else {
            continue;
        };
        let fields = memory.words_at(Address(walk.addresses[nth]), end / WORD);
        let targets = fields
            .into_iter()
            .flatten()
            .filter_map(|word| index.around(word));
        let strong = targets.filter(|target| target.at() != nth).count();
        columns::push(&mut found, (ObjectIndex(nth as u32), strong as u32))?;
    }
    Ok(found)
}

/// Leaves out weak references to blocks to which something else leads.
///
/// # Errors
/// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
pub(crate) fn without_weak(
    found: FoundReferences,
    roots: &[ObjectIndex],
    memory: Memory<'_>,
    blocks: (&UsedBlocks, &BlockIndex<'_>),
    control: &Control,
) -> Result<FoundReferences> {
    let weak = weak(memory, blocks, control)?;
    if weak.is_empty() {
        return Ok(found);
    }
    let strong = filtered(&found, &weak, |_, _| false)?;
    let is_held = reached(&strong.edges, roots, control)?;
    let is_reached = reached(&found.edges, roots, control)?;
    let mut is_target = columns::repeated(false, found.edges.object_count())?;
    for source in 0..found.edges.object_count() as u32 {
        let source = ObjectIndex(source);
        for target in strong.edges.targets(source) {
            is_target[target.at()] = true;
        }
    }
    filtered(&found, &weak, |source, target| {
        let at = target.at();
        if is_reached[at] {
            // The way from a root leads through weak references.
            is_reached[source.at()] && !is_held[at]
        } else {
            !is_target[at]
        }
    })
}

/// The references, of the weak ones only those to some blocks.
fn filtered(
    found: &FoundReferences,
    weak: &[(ObjectIndex, u32)],
    keeps: impl Fn(ObjectIndex, ObjectIndex) -> bool,
) -> Result<FoundReferences> {
    let count = found.edges.object_count();
    let mut offsets = columns::with_capacity(count + 1)?;
    let (mut targets, mut words) = (Vec::new(), Vec::new());
    let mut weak = weak.iter().peekable();
    offsets.push(0);
    for source in (0..count as u32).map(ObjectIndex) {
        let range = found.edges.range(source);
        let own = weak.next_if(|&&(block, _)| block == source);
        let strong = own.map_or(range.len() as u32, |&(_, strong)| strong);
        for position in range.clone() {
            let target = found.edges.target(position);
            if position - range.start >= strong && !keeps(source, target) {
                continue;
            }
            columns::push(&mut targets, target)?;
            if let Some(&word) = found.words.get(position as usize) {
                columns::push(&mut words, word)?;
            }
        }
        offsets.push(targets.len() as u32);
    }
    Ok(FoundReferences {
        edges: Edges::with_narrow_labels(offsets, targets, Vec::new()),
        words,
        nested: found.nested.clone(),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;
    use crate::references;

    const NODES: u32 = 32;
    const HEAP: u32 = 4096;

    /// Blocks of emmalloc with their words: nodes of 64 bytes, and for each a holder of 16 or 24.
    struct Scene {
        walk: UsedBlocks,
        memory: Vec<u8>,
    }

    impl Scene {
        /// Even nodes have a holder of 16 bytes, with `small` behind the reference; odd ones of 24 bytes, with a number
        /// there, but the last three: they have references to the nodes 0 and 1.
        fn new(small: [u32; 3], number: u32) -> Self {
            let mut scene = Self {
                walk: UsedBlocks {
                    allocator: Allocator::Emmalloc,
                    segments: std::iter::once(HEAP..HEAP + 8192).collect(),
                    ..UsedBlocks::default()
                },
                memory: vec![0; 1 << 16],
            };
            let nodes: Vec<u32> = (0..NODES).map(|_| scene.add(64, &[])).collect();
            for (nth, &node) in nodes.iter().enumerate() {
                if nth % 2 == 0 {
                    scene.add(16, &[node, small[0], small[1], small[2]]);
                } else if nth < NODES as usize - 6 {
                    scene.add(24, &[node, 0, 0, number, 0, 0]);
                } else {
                    scene.add(24, &[node, 0, 0, nodes[0], nodes[1] + 8, 28]);
                }
            }
            scene
        }

        /// The same, but all holders have 24 bytes.
        fn of_one_size(small: [u32; 3]) -> Self {
            let mut scene = Self::new(small, 16);
            for usable in &mut scene.walk.usable {
                if *usable == 16 {
                    *usable = 24;
                }
            }
            scene
        }

        fn add(&mut self, usable: u32, words: &[u32]) -> u32 {
            let last = self.walk.addresses.last().zip(self.walk.usable.last());
            let address = last.map_or(HEAP + 8, |(address, usable)| address + usable + 8);
            self.walk.addresses.push(address);
            self.walk.usable.push(usable);
            for (nth, word) in words.iter().enumerate() {
                let at = address as usize + nth * 4;
                self.memory[at..at + 4].copy_from_slice(&word.to_le_bytes());
            }
            address
        }

        /// How many references there are, before and after weak ones are left out, and whether each block is reached.
        fn references(&self, roots: &[u32]) -> (usize, usize) {
            let control = Control::default();
            let memory = Memory::new(&self.memory);
            let index = BlockIndex::new(&self.walk).unwrap();
            let roots: Vec<ObjectIndex> = roots.iter().map(|&root| ObjectIndex(root)).collect();
            let blocks = (&self.walk, &index);
            let all = references::find(memory, &self.walk, &index, true, &control).unwrap();
            let before = all.edges.len();
            let is_reached = reached(&all.edges, &roots, &control).unwrap();
            let left = without_weak(all, &roots, memory, blocks, &control).unwrap();
            assert_eq!(left.words.len(), left.edges.len());
            assert_eq!(reached(&left.edges, &roots, &control).unwrap(), is_reached);
            (before, left.edges.len())
        }
    }

    #[test]
    fn references_where_other_blocks_of_the_class_have_numbers_are_left_out() {
        let scene = Scene::new([0, 0, 20], 16);
        assert_eq!(scene.references(&[]), (32 + 6, 32));
    }

    #[test]
    fn the_only_way_from_a_root_stays() {
        let scene = Scene::new([0, 0, 20], 16);
        // The holder of the last node, which has two such references.
        assert_eq!(scene.references(&[2 * NODES - 1]), (32 + 6, 34));
    }

    #[test]
    fn fields_stay_if_no_block_has_a_number_there_or_the_smaller_ones_have_references() {
        assert_eq!(Scene::new([0, 0, 0], 0).references(&[]), (38, 38));
        let node = HEAP + 8;
        assert_eq!(Scene::new([0, 0, node], 16).references(&[]).1, 16 + 38);
        // Blocks of one size only: these may be the program's numbers.
        assert_eq!(Scene::of_one_size([0, 0, 21]).references(&[]), (38, 38));
    }

    #[test]
    fn sizes_that_emmalloc_left_show_where_objects_end() {
        // 12 bytes of contents, and 4 for the size on each side.
        let mut scene = Scene::of_one_size([0, 0, 20]);
        assert_eq!(scene.references(&[]), (38, 32));
        // Dlmalloc leaves no such sizes.
        scene.walk.allocator = Allocator::Dlmalloc;
        assert_eq!(scene.references(&[]), (38, 38));
    }
}

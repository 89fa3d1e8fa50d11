//! emmalloc: a chain of root blocks. Each begins with a used region that says where the next one is and where it ends,
//! and ends with a used region of 16 bytes. A region has its size in its first and in its last word; in the last, the
//! lowest bit says that it is free.

use base::columns;
use base::control::{CHECK_INTERVAL, Control};
use base::error::{Error, Result};
use base::units::Address;
use dumps::Memory;

use crate::allocator::{Allocator, UsedBlocks, corrupt, keep_damage};

/// The most root blocks that are walked as if they were the first of a chain: a memory with more looks like allocators
/// on purpose.
const MOST_WALKS: usize = 64;
const MOST_ROOTS: usize = 1 << 16;

const FREE: u32 = 1;
/// The size of the smallest region, and of the one that ends a root block.
const MINIMUM: u32 = 16;
/// The bytes of a region before its payload.
const HEADER: u32 = 4;
/// The offsets in a root block.
const NEXT: u32 = 4;
const END: u32 = 8;

/// The search for the word that refers to the first root block.
pub(crate) struct RootBlockSearch<'m> {
    memory: Memory<'m>,
    /// Whether a root block may be damaged.
    is_tolerant: bool,
    /// How many words may be it.
    pub(crate) candidates: u32,
    /// The root blocks that were walked.
    roots: Vec<u32>,
    /// What is wrong with the blocks of the first candidate that cannot be walked.
    pub(crate) damage: Option<Error>,
}

impl<'m> RootBlockSearch<'m> {
    pub(crate) fn new(memory: Memory<'m>, is_tolerant: bool) -> Self {
        Self {
            memory,
            is_tolerant,
            candidates: 0,
            roots: Vec::new(),
            damage: None,
        }
    }

    /// The blocks, if the word at this address refers to the first root block.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Aborted`].
    pub(crate) fn look(
        &mut self,
        at: u32,
        root: u32,
        control: &Control,
    ) -> Result<Option<UsedBlocks>> {
        if !is_state(self.memory, at, root) {
            return Ok(None);
        }
        self.candidates = self.candidates.saturating_add(1);
        if self.roots.len() == MOST_WALKS || self.roots.contains(&root) {
            return Ok(None);
        }
        self.roots.push(root);
        match walk_roots(self.memory, root, self.is_tolerant, control) {
            Ok(mut walk) => {
                walk.state = at..at.saturating_add(4);
                Ok(Some(walk))
            }
            Err(error) => keep_damage(&mut self.damage, error).map(|()| None),
        }
    }
}

/// Whether the word at this address looks like one that refers to a root block.
pub(crate) fn is_state(memory: Memory<'_>, at: u32, root: u32) -> bool {
    root > at && root.is_multiple_of(4) && root_end(memory, root).is_some()
}

/// The end of the root block that begins here; `None` if none does.
fn root_end(memory: Memory<'_>, root: u32) -> Option<u32> {
    let word = |address: u32| memory.word(Address(address));
    let size = word(root)?;
    let end = memory.word_behind(Address(root), END)?;
    let first_end = root.checked_add(size)?;
    let last = end.checked_sub(MINIMUM)?;
    let is_root = size >= MINIMUM
        && size.is_multiple_of(4)
        && first_end <= last
        && word(first_end - 4)? == size
        && word(last)? == MINIMUM
        && word(end - 4)? == MINIMUM;
    is_root.then_some(end)
}

fn walk_roots(
    memory: Memory<'_>,
    first: u32,
    is_tolerant: bool,
    control: &Control,
) -> Result<UsedBlocks> {
    let mut walk = UsedBlocks {
        allocator: Allocator::Emmalloc,
        ..UsedBlocks::default()
    };
    let mut root = first;
    while root != 0 {
        let end = root_end(memory, root).filter(|_| walk.segments.len() < MOST_ROOTS);
        let end = end.ok_or_else(|| {
            let found = "no root block of emmalloc, or too many".to_owned();
            corrupt(root, found, "a used region that begins a root block")
        })?;
        columns::push(&mut walk.segments, root..end)?;
        control.count(1)?;
        root = memory.word_behind(Address(root), NEXT).unwrap_or(0);
    }
    walk.sort_segments()?;
    for nth in 0..walk.segments.len() {
        let segment = walk.segments[nth].clone();
        let read = walk.walk_regions(memory, segment.start, segment.end, control);
        walk.tolerate(read, is_tolerant)?;
    }
    Ok(walk)
}

impl UsedBlocks {
    fn walk_regions(
        &mut self,
        memory: Memory<'_>,
        start: u32,
        end: u32,
        control: &Control,
    ) -> Result<()> {
        let last = end - MINIMUM;
        let mut region = start;
        for nth in 1usize.. {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                control.count(CHECK_INTERVAL as u64)?;
            }
            if region == last {
                self.overhead += u64::from(MINIMUM);
                return Ok(());
            }
            let size = memory.word(Address(region)).unwrap_or(0);
            let next = region.checked_add(size).filter(|&next| next <= last);
            let next = next.filter(|_| size >= MINIMUM && size.is_multiple_of(4));
            let Some(next) = next else {
                let found = format!("a region of {size} bytes");
                return Err(corrupt(region, found, "one that ends in its root block"));
            };
            let repeated = memory.word(Address(next - 4)).unwrap_or(0);
            if repeated & !FREE != size {
                let found = format!("a region of {size} bytes that ends with {repeated}");
                return Err(corrupt(region, found, "its size at its end"));
            }
            if repeated & FREE != 0 {
                self.free += u64::from(size);
            } else if region == start {
                // What begins the root block. If the first block must be aligned, it is longer.
                self.overhead += u64::from(size);
            } else {
                columns::push(&mut self.addresses, region + HEADER)?;
                columns::push(&mut self.usable, size - Allocator::Emmalloc.overhead())?;
            }
            region = next;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;
    use crate::search::{walk, walk_damaged};

    const STATE: u32 = 1024;
    const FIRST: u32 = 4096;
    const SECOND: u32 = 8192;

    /// Two root blocks: one with used regions of 20 and 32 bytes and a free one between them, one with a free region.
    fn memory() -> Vec<u8> {
        let mut bytes = vec![0; 65536];
        let mut put = |at: u32, word: u32| {
            bytes[at as usize..at as usize + 4].copy_from_slice(&word.to_le_bytes());
        };
        put(STATE, SECOND);
        for (root, next, regions) in [
            (FIRST, 0, [(20, 0), (20, 0), (24, 1), (32, 0)].as_slice()),
            (SECOND, FIRST, [(16, 0), (400, 1)].as_slice()),
        ] {
            let mut at = root;
            for &(size, flag) in regions {
                put(at, size);
                put(at + size - 4, size | flag);
                at += size;
            }
            put(at, 16);
            put(at + 12, 16);
            put(root + NEXT, next);
            put(root + END, at + 16);
        }
        bytes
    }

    fn total(walk: &UsedBlocks) -> u64 {
        let used = walk.usable.iter().map(|&usable| u64::from(usable) + 8);
        used.sum::<u64>() + walk.free + walk.overhead
    }

    #[test]
    fn all_bytes_of_all_root_blocks_are_accounted_for() {
        let bytes = memory();
        let walk = walk(Memory::new(&bytes), &Control::default()).unwrap();
        assert_eq!(walk.allocator, Allocator::Emmalloc);
        assert_eq!(walk.addresses, [FIRST + 24, FIRST + 68]);
        assert_eq!(walk.usable, [12, 24]);
        assert_eq!(walk.segments.len(), 2);
        assert_eq!(total(&walk), walk.size());
        assert_eq!(walk.state, STATE..STATE + 4);
    }

    #[test]
    fn other_root_blocks_are_read_if_damage_of_one_is_tolerated() {
        let mut bytes = memory();
        let at = (SECOND + 16) as usize;
        bytes[at..at + 4].copy_from_slice(&3u32.to_le_bytes());
        let memory = Memory::new(&bytes);
        let error = walk(memory, &Control::default()).unwrap_err();
        assert_eq!(error.code(), "ERR_HEAP_CORRUPT");
        let walk = walk_damaged(memory, &Control::default()).unwrap();
        assert_eq!(walk.addresses, [FIRST + 24, FIRST + 68]);
        assert!(walk.damage.is_some());
    }

    #[test]
    fn the_longest_chain_is_the_heap() {
        let mut bytes = memory();
        // An old word that refers to the root block that was first before.
        bytes[512..516].copy_from_slice(&FIRST.to_le_bytes());
        let walk = walk(Memory::new(&bytes), &Control::default()).unwrap();
        assert_eq!(walk.segments.len(), 2);
    }

    #[test]
    fn no_changed_word_makes_the_walk_panic_or_lose_bytes() {
        let sound = memory();
        let words = [
            0,
            1,
            4,
            15,
            16,
            17,
            20,
            24,
            FIRST,
            SECOND,
            0x7fff_fff8,
            0xffff_fff8,
            u32::MAX,
        ];
        for at in (STATE..STATE + 8)
            .chain(FIRST..FIRST + 128)
            .chain(SECOND..SECOND + 448)
            .step_by(4)
        {
            for word in words {
                let mut bytes = sound.clone();
                bytes.truncate(SECOND as usize + 432);
                if let Some(place) = bytes.get_mut(at as usize..at as usize + 4) {
                    place.copy_from_slice(&word.to_le_bytes());
                }
                if let Ok(walk) = walk(Memory::new(&bytes), &Control::default()) {
                    assert_eq!(total(&walk), walk.size(), "{word:#x} at {at}");
                }
            }
        }
    }
}

//! Zig's `wasm_allocator`, also under `malloc` of Zig's libc: slots of powers of two in pages of 64 KiB, without headers. What is in memory are the next
//! unused slot of each size, and lists of free slots and pages. The size of the slots of a page whose slots are all used is
//! not in memory: such a page is unknown, unless `malloc` of Zig's libc wrote sizes into the slots.

use std::collections::HashMap;

use base::columns;
use base::control::{CHECK_INTERVAL, Control};
use base::error::Result;
use base::units::Address;
use dumps::Memory;

use crate::allocator::{Allocator, UsedBlocks};

const PAGE: u32 = 1 << 16;
/// The sizes of slots: 8 bytes to 32 KiB.
const CLASSES: usize = 13;
const SMALLEST_BITS: u32 = 3;
/// Lists of 1, 2, 4, … free pages.
const BIG_CLASSES: usize = 16;
/// Words of the state.
const STATE: usize = 2 * CLASSES + BIG_CLASSES;
/// The logarithms of the distances from a slot to a block of `malloc` of Zig's libc.
const ALIGNMENTS: std::ops::Range<u32> = 4..16;
/// What such a block has before it in a debug build.
const CANARY: u64 = 0x33d_7a39;
/// The most states that are looked at in detail.
const MOST_CANDIDATES: usize = 1 << 10;

/// What the words of a state say.
struct State {
    next: [u32; CLASSES],
    free: [u32; CLASSES],
    big_free: [u32; BIG_CLASSES],
}

/// What a page is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PageUse {
    Unknown,
    /// Slots of this class, up to an address; of a full page, its last byte.
    Slots(usize, u32),
    Free,
}

/// The type of the variable with the state.
pub(crate) const TYPE: &str = "heap.BrkAllocator";

/// Finds the blocks by the state at an address.
///
/// # Errors
/// As [`walk`].
pub(crate) fn walk_at(
    memory: Memory<'_>,
    initial_pages: u64,
    state: u32,
    control: &Control,
) -> Result<Option<UsedBlocks>> {
    let first = first_of(memory, initial_pages);
    let Some((first, found)) =
        first.and_then(|first| Some((first, State::read(memory, state, first)?)))
    else {
        return Ok(None);
    };
    blocks(memory, &found, (state, first), control)
}

/// The first address that the memory grew by; `None` if it did not grow.
fn first_of(memory: Memory<'_>, initial_pages: u64) -> Option<u32> {
    let first = u32::try_from(initial_pages.saturating_mul(PAGE.into())).ok()?;
    // The addresses in a full memory end where 32 bits do.
    let is_full = memory.size() > u64::from(u32::MAX);
    (u64::from(first) < memory.size() && !is_full).then_some(first)
}

/// Finds the state in the pages that the module began with, and the blocks in those that the memory grew by. `None` if there
/// is no state, or if several words may be it.
///
/// # Errors
/// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
pub(crate) fn walk(
    memory: Memory<'_>,
    initial_pages: u64,
    control: &Control,
) -> Result<Option<UsedBlocks>> {
    let first = first_of(memory, initial_pages);
    let Some(first) = first else {
        return Ok(None);
    };
    let words = memory.words_at(Address(0), first / 4);
    let mut candidates = 0;
    let mut looked = 0;
    let mut only: Option<UsedBlocks> = None;
    let mut is_ambiguous = false;
    for (nth, word) in words.into_iter().flatten().enumerate() {
        if nth.is_multiple_of(CHECK_INTERVAL) {
            control.count(CHECK_INTERVAL as u64)?;
        }
        // The next slot of any class.
        if word < first || u64::from(word) > memory.size() {
            continue;
        }
        let starts =
            (0..CLASSES).filter_map(|class| (nth as u32 * 4).checked_sub(class as u32 * 4));
        for at in starts.filter(|&at| at >= looked) {
            let Some(state) = State::read(memory, at, first) else {
                continue;
            };
            candidates += 1;
            if candidates > MOST_CANDIDATES {
                return Ok(None);
            }
            let Some(found) = blocks(memory, &state, (at, first), control)? else {
                continue;
            };
            // Words around the state may look like one of slots that are half or twice as large. Headers decide.
            let rank = |found: &UsedBlocks| found.allocator == Allocator::ZigLibc;
            match only.as_ref().map(rank) {
                Some(known) if known && !rank(&found) => {}
                Some(known) if known == rank(&found) => is_ambiguous = true,
                _ => (only, is_ambiguous) = (Some(found), false),
            }
        }
        looked = nth as u32 * 4;
    }
    Ok(only.filter(|_| !is_ambiguous))
}

impl State {
    /// The state at an address, if its words can be one: every address lies in a page that the memory grew by, and is a
    /// multiple of the size of the slot.
    fn read(memory: Memory<'_>, at: u32, first: u32) -> Option<Self> {
        let mut state = Self {
            next: [0; CLASSES],
            free: [0; CLASSES],
            big_free: [0; BIG_CLASSES],
        };
        let mut has_slots = false;
        for class in 0..CLASSES {
            let (next, free) = (
                memory.word(Address(at + class as u32 * 4))?,
                memory.word(Address(at + (CLASSES + class) as u32 * 4))?,
            );
            let slot = 1 << (class as u32 + SMALLEST_BITS);
            let is_sound = |address: u32| {
                address == 0
                    || address >= first
                        && address.is_multiple_of(slot)
                        && u64::from(address) <= memory.size()
            };
            if !is_sound(next) || !is_sound(free) || free != 0 && next == 0 || next == first {
                return None;
            }
            has_slots |= next != 0;
            (state.next[class], state.free[class]) = (next, free);
        }
        for class in 0..BIG_CLASSES {
            let free = memory.word(Address(at + (2 * CLASSES + class) as u32 * 4))?;
            if free != 0 && (free < first || !free.is_multiple_of(PAGE)) {
                return None;
            }
            state.big_free[class] = free;
        }
        has_slots.then_some(state)
    }
}

/// The blocks by a state; `None` if its lists contradict each other.
fn blocks(
    memory: Memory<'_>,
    state: &State,
    (at, first): (u32, u32),
    control: &Control,
) -> Result<Option<UsedBlocks>> {
    let count = ((memory.size() - u64::from(first)) / u64::from(PAGE)) as usize;
    let mut pages = columns::repeated(PageUse::Unknown, count)?;
    let page_of = |address: u32| ((address - first) / PAGE) as usize;
    for (class, &next) in state
        .next
        .iter()
        .enumerate()
        .filter(|(_, next)| **next != 0)
    {
        // If the page is full, `next` is the address after the page.
        let page = page_of(next - 1);
        let Some(known) = pages
            .get_mut(page)
            .filter(|known| **known == PageUse::Unknown)
        else {
            return Ok(None);
        };
        *known = PageUse::Slots(class, next);
    }
    let mut free: HashMap<u32, usize> = HashMap::new();
    for (class, &head) in state.free.iter().enumerate() {
        let slot = 1 << (class as u32 + SMALLEST_BITS);
        let mut address = head;
        while address != 0 {
            control.count(1)?;
            let known = pages.get_mut(page_of(address));
            let Some(known) = known.filter(|_| address.is_multiple_of(slot)) else {
                return Ok(None);
            };
            let is_of_class = match *known {
                PageUse::Unknown => {
                    *known = PageUse::Slots(class, (address & !(PAGE - 1)) + (PAGE - 1));
                    true
                }
                PageUse::Slots(of, end) => of == class && address < end,
                PageUse::Free => false,
            };
            let is_new = free.insert(address, class).is_none();
            let next = memory.word(Address(address + slot - 4));
            let next = next.filter(|&next| next == 0 || next >= first);
            let Some(next) = next.filter(|_| is_of_class && is_new) else {
                return Ok(None);
            };
            address = next;
        }
    }
    if !mark_free_pages(memory, state, first, &mut pages, control)? {
        return Ok(None);
    }
    let free_slots = Slots {
        memory,
        free: &free,
        first,
    };
    let has_headers = free_slots.have_headers(&pages);
    let pages_range = first..first.saturating_add((count as u32).saturating_mul(PAGE));
    let mut found = UsedBlocks {
        allocator: if has_headers {
            Allocator::ZigLibc
        } else {
            Allocator::ZigBrk
        },
        segments: std::iter::once(pages_range).collect(),
        state: at..at + STATE as u32 * 4,
        ..UsedBlocks::default()
    };
    free_slots.add_blocks(&pages, has_headers, &mut found, control)?;
    Ok(Some(found))
}

/// What every block of `malloc` of Zig's libc has before it: how far it is from its slot, and its size.
struct BlockHeader {
    /// The bytes from the start of the slot to the block.
    before: u32,
    size: u32,
}

/// The slots of all pages.
struct Slots<'m> {
    memory: Memory<'m>,
    free: &'m HashMap<u32, usize>,
    first: u32,
}

impl Slots<'_> {
    /// The header in a slot, if it is one: in a debug build, a fixed number is in it, and in others 0.
    fn header(&self, slot: u32) -> Option<BlockHeader> {
        ALIGNMENTS.into_iter().find_map(|alignment| {
            let before = 1u32 << alignment;
            let at = Address(slot.checked_add(before)?.checked_sub(8)?);
            let low = u64::from(self.memory.word(at)?);
            let header = u64::from(self.memory.word_behind(at, 4)?) << 32 | low;
            let size = (header >> 5) as u32;
            let canary = header >> 37;
            let is_sound = header & 31 == u64::from(alignment) && (canary == 0 || canary == CANARY);
            is_sound.then_some(BlockHeader { before, size })
        })
    }

    /// The header in a slot of this size, for which it is the smallest.
    fn header_of(&self, slot: u32, size: u32) -> Option<BlockHeader> {
        let header = self.header(slot)?;
        let bytes = header.size.checked_add(header.before)?.checked_add(4)?;
        (bytes.checked_next_power_of_two()? == size).then_some(header)
    }

    fn used(&self, start: u32, end: u32, class: usize) -> impl Iterator<Item = u32> + '_ {
        let slots = (start..end).step_by(1 << (class as u32 + SMALLEST_BITS));
        slots.filter(|slot| !self.free.contains_key(slot))
    }

    /// Whether all used slots of known pages have headers, and there are some.
    fn have_headers(&self, pages: &[PageUse]) -> bool {
        let mut any = false;
        for (nth, page) in pages.iter().enumerate() {
            let PageUse::Slots(class, end) = *page else {
                continue;
            };
            let start = self.first + nth as u32 * PAGE;
            for slot in self.used(start, end, class) {
                any = true;
                if self
                    .header_of(slot, 1 << (class as u32 + SMALLEST_BITS))
                    .is_none()
                {
                    return false;
                }
            }
        }
        any
    }

    fn add_blocks(
        &self,
        pages: &[PageUse],
        has_headers: bool,
        found: &mut UsedBlocks,
        control: &Control,
    ) -> Result<()> {
        let mut nth = 0;
        while let Some(&page) = pages.get(nth) {
            control.count(1)?;
            let start = self.first + nth as u32 * PAGE;
            nth += 1;
            let known = match page {
                PageUse::Unknown if has_headers => self.class_by_headers(start),
                page => Some(page),
            };
            match known {
                Some(PageUse::Free) => found.free += u64::from(PAGE),
                Some(PageUse::Slots(class, end)) => {
                    let size = 1u32 << (class as u32 + SMALLEST_BITS);
                    control.count(u64::from(PAGE / size))?;
                    let mut used = 0;
                    for slot in self.used(start, end, class) {
                        used += size;
                        self.add_block(slot, size, has_headers, found)?;
                    }
                    found.free += u64::from(PAGE - used);
                }
                Some(PageUse::Unknown) | None => {
                    let unknown = pages[nth..].iter();
                    let unknown = unknown
                        .take_while(|page| **page == PageUse::Unknown)
                        .count();
                    let pages = self.large_block(start).filter(|_| has_headers);
                    let pages = pages.filter(|&pages| pages <= unknown + 1);
                    let Some(pages) = pages else {
                        found.unknown_pages += 1;
                        found.overhead += u64::from(PAGE);
                        continue;
                    };
                    nth += pages - 1;
                    self.add_block(start, pages as u32 * PAGE, true, found)?;
                }
            }
        }
        Ok(())
    }

    fn add_block(
        &self,
        slot: u32,
        size: u32,
        has_header: bool,
        found: &mut UsedBlocks,
    ) -> Result<()> {
        let header = self.header(slot).filter(|_| has_header);
        // The last word of a slot is for the list of free slots.
        let (before, usable) = header.map_or((0, size - 4), |header| (header.before, header.size));
        if has_header {
            found.overhead += u64::from(size - usable.min(size));
        }
        columns::push(&mut found.addresses, slot + before)?;
        columns::push(&mut found.usable, usable)
    }

    /// The size of the slots of a page that is full, if the headers in all of them agree.
    fn class_by_headers(&self, page: u32) -> Option<PageUse> {
        let header = self.header(page)?;
        let bytes = header.size.checked_add(header.before)?.checked_add(4)?;
        let size = bytes.checked_next_power_of_two()?;
        let class = size.trailing_zeros().checked_sub(SMALLEST_BITS)? as usize;
        let mut slots = (page..page + (PAGE - 1)).step_by(size as usize);
        let is_full = class < CLASSES && slots.all(|slot| self.header_of(slot, size).is_some());
        is_full.then_some(PageUse::Slots(class, page + (PAGE - 1)))
    }

    /// The pages of a block that takes whole pages.
    fn large_block(&self, page: u32) -> Option<usize> {
        let header = self.header(page)?;
        let bytes = header.size.checked_add(header.before)?.checked_add(4)?;
        // As the allocator rounds: it adds one page too many to full ones.
        let pages = (u64::from(bytes) + u64::from(PAGE) + 3) / u64::from(PAGE);
        (bytes > PAGE / 2).then(|| pages.next_power_of_two() as usize)
    }
}

/// Marks the pages of the lists of free pages. Whether these contradict nothing.
fn mark_free_pages(
    memory: Memory<'_>,
    state: &State,
    first: u32,
    pages: &mut [PageUse],
    control: &Control,
) -> Result<bool> {
    for (class, &head) in state.big_free.iter().enumerate() {
        let size = 1usize << class;
        let mut address = head;
        while address != 0 {
            control.count(1 + size as u64)?;
            if address < first || !address.is_multiple_of(PAGE) {
                return Ok(false);
            }
            let start = ((address - first) / PAGE) as usize;
            let Some(run) = pages.get_mut(start..start + size) else {
                return Ok(false);
            };
            if run.iter().any(|page| *page != PageUse::Unknown) {
                return Ok(false);
            }
            run.fill(PageUse::Free);
            let end = address + (size as u32) * PAGE - 4;
            let Some(next) = memory.word(Address(end)) else {
                return Ok(false);
            };
            address = next;
        }
    }
    Ok(true)
}

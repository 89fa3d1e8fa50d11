//! dlmalloc: its state is found without names, by what its fields say of each other, and then all chunks are walked.

use std::cmp::Reverse;
use std::ops::Range;

use base::columns;
use base::control::{CHECK_INTERVAL, Control};
use base::error::{Error, Result};
use base::units::Address;
use dumps::Memory;

use crate::allocator::{UsedBlocks, corrupt, keep_damage};

/// The most bytes between two fields of the state.
const STATE_SIZE: u32 = 512;
/// The most words that are looked at as if they were the field `top`, and the most walks: a memory that has more
/// looks like allocators on purpose.
const MOST_CANDIDATES: u32 = 1 << 16;
const MOST_WALKS: u32 = 64;
const MOST_SEGMENTS: usize = 1 << 16;

const IN_USE: u32 = 2;
const PREVIOUS_IN_USE: u32 = 1;
const FLAGS: u32 = 7;
const FENCEPOST: u32 = 7;
/// How many blocks Rust's version frees before it looks for segments that can be released.
const RELEASE_CHECKS: u32 = 4095;
/// The size of a chunk's header before its payload, and of the smallest chunk.
const HEADER: u32 = 8;
const MINIMUM: u32 = 16;

/// The chunk at the end of the last segment, and what follows from it.
#[derive(Clone, Copy)]
struct Top {
    chunk: u32,
    size: u32,
    /// The bytes between its end and the end of the segment, which dlmalloc keeps free: 56 or 40, by the alignment.
    reserve: u32,
    alignment: u32,
}

/// The search for the state, and the walk of all chunks.
pub(crate) struct StateSearch<'m> {
    memory: Memory<'m>,
    /// Whether a segment may be damaged.
    is_tolerant: bool,
    /// How many words may be the field `top`.
    pub(crate) candidates: u32,
    walks: u32,
    /// What is wrong with the chunks of the first candidate that cannot be walked.
    pub(crate) damage: Option<Error>,
}

impl<'m> StateSearch<'m> {
    pub(crate) fn new(memory: Memory<'m>, is_tolerant: bool) -> Self {
        Self {
            memory,
            is_tolerant,
            candidates: 0,
            walks: 0,
            damage: None,
        }
    }

    /// The blocks, if the word at this address is the field `top` of the state.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Aborted`].
    pub(crate) fn look(
        &mut self,
        at: u32,
        chunk: u32,
        control: &Control,
    ) -> Result<Option<UsedBlocks>> {
        let memory = self.memory;
        let top = top_at(memory, at, chunk).filter(|_| self.candidates < MOST_CANDIDATES);
        let Some(top) = top else {
            return Ok(None);
        };
        self.candidates += 1;
        for segment in segment_fields(memory, at, top) {
            self.walks += 1;
            if self.walks > MOST_WALKS {
                break;
            }
            match walk_segments(memory, top, segment, self.is_tolerant, control) {
                Ok(mut walk) => {
                    walk.state = state(memory, at, segment);
                    return Ok(Some(walk));
                }
                Err(error) => keep_damage(&mut self.damage, error)?,
            }
        }
        Ok(None)
    }
}

/// Whether the word at this address looks like the field `top` of a state.
pub(crate) fn is_state(memory: Memory<'_>, at: u32, chunk: u32) -> bool {
    top_at(memory, at, chunk).is_some_and(|top| segment_fields(memory, at, top).next().is_some())
}

/// The top chunk, if the word at this address can be the field that refers to it.
fn top_at(memory: Memory<'_>, at: u32, chunk: u32) -> Option<Top> {
    if chunk <= at || !chunk.is_multiple_of(8) {
        return None;
    }
    let head = memory.word_behind(Address(chunk), 4)?;
    if head & FLAGS != PREVIOUS_IN_USE {
        return None;
    }
    let size = head & !FLAGS;
    let reserve = memory.word(Address(chunk.checked_add(size)?.checked_add(4)?))?;
    let alignment = match reserve {
        56 => 16,
        40 => 8,
        _ => return None,
    };
    let is_size_known = nearby(at).any(|field| memory.word(Address(field)) == Some(size));
    is_size_known.then_some(Top {
        chunk,
        size,
        reserve,
        alignment,
    })
}

/// The addresses of the words that may be fields of the same state.
fn nearby(at: u32) -> impl Iterator<Item = u32> {
    (at.saturating_sub(STATE_SIZE)..=at.saturating_add(STATE_SIZE)).step_by(4)
}

/// The fields that can be the segment that ends with the top chunk, the most likely one first.
///
/// The current and the largest footprint, which lie before the segment, look like one if their sum is its end by chance.
/// No segment follows it then, so that all older segments would be missed: fields that others follow come first, then
/// those behind.
fn segment_fields(memory: Memory<'_>, at: u32, top: Top) -> impl Iterator<Item = u32> {
    let end = u64::from(top.chunk) + u64::from(top.size) + u64::from(top.reserve);
    let fields = nearby(at).filter(|&field| {
        let base = memory.word(Address(field));
        let size = memory.word_behind(Address(field), 4);
        base.zip(size).is_some_and(|(base, size)| {
            base > field && base <= top.chunk && u64::from(base) + u64::from(size) == end
        })
    });
    let mut fields: Vec<u32> = fields.collect();
    fields.sort_by_key(|&field| {
        let is_last = memory.word_behind(Address(field), 8) == Some(0);
        (is_last, Reverse(field))
    });
    fields.into_iter()
}

/// The range of the state, exactly: what comes directly before or behind it is the program's, and can be a root.
///
/// | | before `top` | `segment` | behind `top` |
/// |---|---|---|---|
/// | C | 24 bytes | +424 or more | up to the two words `extp` and `exts` behind `segment` |
/// | Rust | 412 | +12 | 40: `trim_check`, `least_addr` and `release_checks` come last |
/// | Rust since 1.76, which reorders fields | 428 | -300 | 24: the same fields come last |
///
/// In Rust, the crate `dlmalloc` since 0.2.14 has two more fields at the end: `granularity`, and the number that
/// `release_checks` begins with.
fn state(memory: Memory<'_>, top: u32, segment: u32) -> Range<u32> {
    const SEGMENT_SIZE: u32 = 16;
    let (before, after) = match segment.wrapping_sub(top) as i32 {
        200.. => (24, segment - top + SEGMENT_SIZE + 8),
        distance => {
            let (before, after) = if distance >= 0 { (412, 40) } else { (428, 24) };
            let limit = memory.word_behind(Address(top), after + 4);
            let has_limits = limit == Some(RELEASE_CHECKS);
            (before, after + if has_limits { 8 } else { 0 })
        }
    };
    top.saturating_sub(before)..top.saturating_add(after)
}

fn word(memory: Memory<'_>, at: u64) -> Result<u32> {
    let address = u32::try_from(at).ok();
    let word = address.and_then(|address| memory.word(Address(address)));
    word.ok_or_else(|| {
        corrupt(
            at.min(u64::from(u32::MAX)) as u32,
            "the end of the memory".to_owned(),
            "a word of the allocator",
        )
    })
}

fn walk_segments(
    memory: Memory<'_>,
    top: Top,
    mut record: u32,
    is_tolerant: bool,
    control: &Control,
) -> Result<UsedBlocks> {
    let mut walk = UsedBlocks {
        alignment: top.alignment,
        ..UsedBlocks::default()
    };
    let mut records = Vec::new();
    loop {
        let field = |offset| word(memory, u64::from(record) + offset);
        let (base, size, next) = (field(0)?, field(4)?, field(8)?);
        let end = base.checked_add(size);
        let end = end.filter(|&end| u64::from(end) <= memory.size());
        let Some(end) = end.filter(|_| walk.segments.len() < MOST_SEGMENTS) else {
            let found = format!("a segment of {size} bytes at {base:#x}");
            return Err(corrupt(record, found, "a chain of segments in the memory"));
        };
        columns::push(&mut walk.segments, base..end)?;
        if next == 0 {
            break;
        }
        columns::push(&mut records, next)?;
        record = next;
        control.count(1)?;
    }
    walk.sort_segments()?;
    records.sort_unstable();
    for segment in walk.segments.clone() {
        let read = walk.walk_chunks(memory, segment, top, &records, control);
        walk.tolerate(read, is_tolerant)?;
    }
    Ok(walk)
}

impl UsedBlocks {
    fn walk_chunks(
        &mut self,
        memory: Memory<'_>,
        segment: Range<u32>,
        top: Top,
        records: &[u32],
        control: &Control,
    ) -> Result<()> {
        let (base, end) = (u64::from(segment.start), u64::from(segment.end));
        let mut chunk = (base + 8).next_multiple_of(u64::from(top.alignment)) - 8;
        self.overhead += chunk - base;
        let mut is_previous_used = true;
        for nth in 1usize.. {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                control.count(CHECK_INTERVAL as u64)?;
            }
            let head = word(memory, chunk + 4)?;
            // Memory ends at 2^32, so a chunk whose head was read has an address of 32 bits.
            let address = chunk as u32;
            if chunk >= end {
                let found = "no chunk that ends the segment".to_owned();
                return Err(corrupt(address, found, "the top chunk or a fencepost"));
            }
            if address == top.chunk {
                if chunk + u64::from(top.size) + u64::from(top.reserve) != end {
                    let found = format!("a top chunk of {} bytes", top.size);
                    return Err(corrupt(address, found, "one that ends with its segment"));
                }
                self.free += u64::from(top.size);
                self.overhead += u64::from(top.reserve);
                return Ok(());
            }
            if head == FENCEPOST {
                self.overhead += end - chunk;
                return check_fenceposts(memory, chunk, end);
            }
            let size = head & !FLAGS;
            let is_known = head & PREVIOUS_IN_USE != 0;
            if size < MINIMUM || chunk + u64::from(size) > end || is_known != is_previous_used {
                let expected =
                    "the size of a chunk in its segment, and whether the one before it is used";
                return Err(corrupt(address, format!("the head {head:#x}"), expected));
            }
            is_previous_used = head & IN_USE != 0;
            let payload = address + HEADER;
            if !is_previous_used {
                let repeated = word(memory, chunk + u64::from(size))?;
                if repeated != size {
                    let found = format!("a free chunk of {size} bytes that ends with {repeated}");
                    return Err(corrupt(address, found, "its size at its end"));
                }
                self.free += u64::from(size);
            } else if records.binary_search(&payload).is_ok() {
                self.overhead += u64::from(size);
            } else {
                columns::push(&mut self.addresses, payload)?;
                columns::push(&mut self.usable, size - 4)?;
            }
            chunk += u64::from(size);
        }
        Ok(())
    }
}

/// From the first fencepost on, a segment has only these.
fn check_fenceposts(memory: Memory<'_>, chunk: u64, end: u64) -> Result<()> {
    // There are as many as the record of a segment needs: a few words.
    let is_end = end - chunk <= 64
        && (chunk + 4..end)
            .step_by(4)
            .all(|at| word(memory, at).is_ok_and(|word| word == FENCEPOST));
    if is_end {
        return Ok(());
    }
    let found = format!(
        "a fencepost {} bytes before the end of its segment",
        end - chunk
    );
    Err(corrupt(
        chunk as u32,
        found,
        "fenceposts at the end of a segment",
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;
    use crate::search::{walk, walk_damaged};

    const STATE: u32 = 1024;
    /// Chunks begin 8 bytes below a multiple of 16.
    const BASE: u32 = 4104;
    const SIZE: u32 = 8192;

    /// A heap as dlmalloc of C lays it out: used blocks of 12 and 28 bytes, a free chunk of 16 between them.
    fn memory() -> Vec<u8> {
        let mut bytes = vec![0; 65536];
        let mut put = |at: u32, word: u32| {
            bytes[at as usize..at as usize + 4].copy_from_slice(&word.to_le_bytes());
        };
        let top = BASE + 16 + 16 + 32;
        let top_size = SIZE - 64 - 56;
        for (at, word) in [
            (STATE + 12, top_size),
            (STATE + 24, top),
            (STATE + 448, BASE),
            (STATE + 452, SIZE),
            (BASE + 4, 16 | IN_USE | PREVIOUS_IN_USE),
            (BASE + 20, 16 | PREVIOUS_IN_USE),
            (BASE + 32, 16),
            (BASE + 36, 32 | IN_USE),
            (top + 4, top_size | PREVIOUS_IN_USE),
            (top + top_size + 4, 56),
        ] {
            put(at, word);
        }
        bytes
    }

    #[test]
    fn all_bytes_of_the_segment_are_accounted_for() {
        let bytes = memory();
        let walk = walk(Memory::new(&bytes), &Control::default()).unwrap();
        assert_eq!(walk.addresses, [BASE + 8, BASE + 40]);
        assert_eq!(walk.usable, [12, 28]);
        let used: u32 = walk.usable.iter().map(|usable| usable + 4).sum();
        assert_eq!(u64::from(used) + walk.free + walk.overhead, u64::from(SIZE));
        assert!(walk.state.contains(&(STATE + 24)) && walk.state.contains(&(STATE + 448)));
    }

    #[test]
    fn the_state_ends_where_its_last_field_does() {
        let mut bytes = vec![0; 4096];
        let ends = |bytes: &[u8]| {
            let state = |top, segment| state(Memory::new(bytes), top, segment);
            // C, Rust before 1.76, and Rust since then.
            [(1024, 1448), (1412, 1424), (1428, 1128)].map(|(top, segment)| state(top, segment))
        };
        assert_eq!(ends(&bytes), [1000..1472, 1000..1452, 1000..1452]);
        bytes[1456..1460].copy_from_slice(&RELEASE_CHECKS.to_le_bytes());
        assert_eq!(ends(&bytes), [1000..1472, 1000..1460, 1000..1460]);
    }

    #[test]
    fn the_footprint_is_not_taken_for_a_segment() {
        let mut bytes = memory();
        let mut put = |at: u32, word: u32| {
            bytes[at as usize..at as usize + 4].copy_from_slice(&word.to_le_bytes());
        };
        // An older segment, with a record of itself in its last used block, and one other block.
        let (old, record) = (20_488, 20_488 + 16);
        for (at, word) in [
            (STATE + 456, record + 8),
            (old + 4, 16 | IN_USE | PREVIOUS_IN_USE),
            (record + 4, 32 | IN_USE | PREVIOUS_IN_USE),
            (record + 8, old),
            (record + 12, 64),
            (old + 52, FENCEPOST),
            (old + 56, FENCEPOST),
            (old + 60, FENCEPOST),
            // What looks like the newer segment, and like the last one.
            (STATE + 432, BASE),
            (STATE + 436, SIZE),
        ] {
            put(at, word);
        }
        let walk = walk(Memory::new(&bytes), &Control::default()).unwrap();
        assert_eq!(walk.addresses, [BASE + 8, BASE + 40, old + 8]);
    }

    #[test]
    fn the_blocks_before_damage_are_found_if_it_is_tolerated() {
        let mut bytes = memory();
        let at = (BASE + 20) as usize;
        bytes[at..at + 4].copy_from_slice(&(SIZE * 2).to_le_bytes());
        let memory = Memory::new(&bytes);
        let error = walk(memory, &Control::default()).unwrap_err();
        assert_eq!(error.code(), "ERR_HEAP_CORRUPT");
        let walk = walk_damaged(memory, &Control::default()).unwrap();
        assert_eq!(walk.addresses, [BASE + 8]);
        let damage = walk.damage.unwrap();
        assert_eq!(damage.to_string(), error.to_string());
    }

    #[test]
    fn a_memory_without_an_allocator_is_refused() {
        let error = walk(Memory::new(&[0; 65536]), &Control::default()).unwrap_err();
        assert_eq!(error.code(), "ERR_ALLOCATOR_UNKNOWN");
    }

    #[test]
    fn no_changed_word_makes_the_walk_panic_or_lose_bytes() {
        let sound = memory();
        let words = [
            0,
            1,
            7,
            8,
            15,
            16,
            19,
            40,
            56,
            BASE,
            STATE + 448,
            0x7fff_fff8,
            u32::MAX,
        ];
        for at in (STATE..STATE + 512).chain(BASE..BASE + 128).step_by(4) {
            for word in words {
                let mut bytes = sound.clone();
                bytes.truncate((BASE + SIZE) as usize);
                bytes[at as usize..at as usize + 4].copy_from_slice(&word.to_le_bytes());
                if let Ok(walk) = walk(Memory::new(&bytes), &Control::default()) {
                    let used: u64 = walk
                        .usable
                        .iter()
                        .map(|&usable| u64::from(usable) + 4)
                        .sum();
                    let segments = walk.segments.iter();
                    let total: u64 = segments
                        .map(|range| u64::from(range.end - range.start))
                        .sum();
                    assert_eq!(used + walk.free + walk.overhead, total, "{word:#x} at {at}");
                }
            }
        }
    }
}

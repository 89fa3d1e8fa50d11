//! A fast reader of rows as V8 writes them: short numbers with a comma between them, and a line feed after a row.
//!
//! It first finds the ends of all numbers in a stretch of bytes, and then reads the numbers of a row side by side. Rows
//! that look different are left to a slower reader.

use bytemuck::cast;
use wide::{i8x16, i16x8, i32x4, u16x8, u64x2};

use super::meta::MOST_FIELDS;

/// The numbers of a row, which may be fewer.
pub(super) type NumberRow = [u64; MOST_FIELDS];

/// The number of bytes whose kinds are found at once.
const BLOCK: usize = 64;
/// The number of blocks in a stretch.
const BLOCKS: usize = 64;
/// The number of bytes in a stretch.
const LENGTH: usize = BLOCKS * BLOCK;
/// The number of digits that are read at once.
const DIGITS: usize = 8;

/// The bytes of a stretch, and those before it which are read with its first number.
type Area = [u8; BEFORE + LENGTH];
const BEFORE: usize = 16;

/// A part of the text that begins with a row.
pub(super) struct Stretch {
    start: usize,
    /// How many blocks are searched.
    blocks: usize,
    /// The positions of the bytes that are no digits, and some more.
    ends: [u16; LENGTH + 8],
    /// How many of them there are, and how many were read.
    found: usize,
    read: usize,
    /// Where the next row begins in the stretch.
    next: u16,
}

impl Default for Stretch {
    fn default() -> Self {
        Self {
            start: usize::MAX,
            blocks: 0,
            ends: [0; LENGTH + 8],
            found: 0,
            read: 0,
            next: 0,
        }
    }
}

impl Stretch {
    /// Begins at this position, where a row begins. The result is `false` if it did so before, and if there are too few
    /// bytes before or after it.
    #[inline(never)]
    pub(super) fn find_ends(&mut self, bytes: &[u8], at: usize) -> bool {
        if self.start == at {
            return false;
        }
        let Some(area) = area(bytes, at) else {
            return false;
        };
        // Text that is not as expected is searched in short stretches.
        self.blocks = match self.next {
            0 => 2,
            _ => BLOCKS.min(2 * self.blocks),
        };
        self.start = at;
        (self.next, self.read, self.found) = (0, 0, 0);
        // Before the first number is a comma, or what may as well be one.
        let mut before = Kinds {
            digits: 0,
            commas: !0,
            zeros: 0,
        };
        let mut zeros_before = 0;
        let blocks = area[BEFORE..].as_chunks().0;
        for (nth, block) in (0..self.blocks as u16).zip(blocks) {
            let kinds = Kinds::of(block);
            let ends = !kinds.digits;
            let after_others = shifted(ends & !kinds.commas, !before.digits & !before.commas);
            let first_zeros = kinds.zeros & shifted(kinds.commas, before.commas);
            let after_zeros = shifted(first_zeros, zeros_before);
            // Other bytes than digits and commas come before a comma, and a zero that begins a number is all of it.
            if after_others & !kinds.commas | after_zeros & kinds.digits != 0 {
                break;
            }
            let Some(into) = self.ends[self.found..].first_chunk_mut() else {
                break;
            };
            self.found += write_places(ends, nth * BLOCK as u16, into);
            (before, zeros_before) = (kinds, first_zeros);
        }
        true
    }

    /// The position after the rows that were read.
    pub(super) fn end(&self) -> usize {
        self.start + usize::from(self.next)
    }

    /// Reads a row. The result is `false` if it is not as expected, or not in the stretch.
    #[inline(always)]
    pub(super) fn read_row<const FIELDS: usize>(
        &mut self,
        bytes: &[u8],
        row: &mut NumberRow,
    ) -> bool {
        let ends = self.ends[..self.found].get(self.read..self.read + FIELDS + 1);
        let Some((ends, &[after])) = ends.and_then(|ends| ends.split_first_chunk::<FIELDS>())
        else {
            return false;
        };
        let Some(area) = area(bytes, self.start) else {
            return false;
        };
        // Each is one less than a number has digits.
        let mut lengths = [0; FIELDS];
        let mut start = self.next;
        for (length, &end) in lengths.iter_mut().zip(ends) {
            *length = end.wrapping_sub(start).wrapping_sub(1);
            start = end + 1;
        }
        let longest = usize::from(lengths.iter().fold(0, |all, length| all | length));
        if longest < DIGITS {
            read_last_digits(area, ends, &lengths, row);
        } else if longest < MASKS.len() {
            read_last_digits(area, ends, &lengths, row);
            for ((number, &end), &length) in row.iter_mut().zip(ends).zip(&lengths) {
                if usize::from(length) < DIGITS {
                    continue;
                }
                let end = BEFORE + usize::from(end) % LENGTH;
                let digit = |nth: usize| u64::from(area[end - nth] & 0x0f);
                *number += 100_000_000
                    * match usize::from(length) + 1 {
                        9 => digit(9),
                        10 => 10 * digit(10) + digit(9),
                        _ => return false,
                    };
            }
        } else {
            return false;
        }
        let mut read = FIELDS;
        let after_last = area[BEFORE + usize::from(start - 1) % LENGTH];
        if after_last != b',' {
            if after_last != b'\n' || after != start {
                return false;
            }
            read += 1;
            start += 1;
        }
        self.read += read;
        self.next = start;
        true
    }
}

#[inline(always)]
fn area(bytes: &[u8], start: usize) -> Option<&Area> {
    bytes.get(start.checked_sub(BEFORE)?..)?.first_chunk()
}

/// Which bytes of a block are of each kind, a bit for each.
struct Kinds {
    digits: u64,
    commas: u64,
    zeros: u64,
}

impl Kinds {
    #[inline(always)]
    fn of(block: &[u8; BLOCK]) -> Self {
        let mut kinds = Self {
            digits: 0,
            commas: 0,
            zeros: 0,
        };
        for (nth, &lane) in block.as_chunks::<16>().0.iter().enumerate() {
            let lane: i8x16 = cast(lane);
            // Digits become the greatest of the signed numbers.
            let digits = (lane + i8x16::splat(0x7f - b'9' as i8)).simd_gt(i8x16::splat(0x7f - 10));
            let commas = lane.simd_eq(i8x16::splat(b',' as i8));
            let zeros = lane.simd_eq(i8x16::splat(b'0' as i8));
            let bits = |kind: i8x16| u64::from(kind.to_bitmask()) << (16 * nth);
            kinds.digits |= bits(digits);
            kinds.commas |= bits(commas);
            kinds.zeros |= bits(zeros);
        }
        kinds
    }
}

/// The bits of the bytes that follow those of a block.
#[inline(always)]
fn shifted(bits: u64, before: u64) -> u64 {
    bits << 1 | before >> 63
}

/// A number of equal bytes.
const fn each(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// By byte: the places of its bits that are set, and others after them.
static PLACES: [[u16; 8]; 256] = {
    let mut places = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut place, mut found) = (0, 0);
        while place < 8 {
            if byte >> place & 1 != 0 {
                places[byte][found] = place;
                found += 1;
            }
            place += 1;
        }
        byte += 1;
    }
    places
};

/// Writes the places of the bits that are set, counted from `first`, and some more. Returns how many these are.
#[inline(always)]
fn write_places(bits: u64, first: u16, into: &mut [u16; BLOCK + 8]) -> usize {
    // The number of bits of each byte, and then of it and all before it.
    let pairs = bits - ((bits >> 1) & each(0x55));
    let fours = (pairs & each(0x33)) + ((pairs >> 2) & each(0x33));
    let of_bytes = (fours + (fours >> 4)) & each(0x0f);
    let counts = of_bytes.wrapping_mul(each(1));
    let (mut places, mut before) = (u16x8::splat(first), counts << 8);
    for byte in bits.to_le_bytes() {
        let start = (before % BLOCK as u64) as usize;
        let found = places + u16x8::new(PLACES[usize::from(byte)]);
        into[start..start + 8].copy_from_slice(found.as_array());
        places += u16x8::splat(8);
        before >>= 8;
    }
    (counts >> 56) as usize
}

/// By one less than the number of digits: the bits of the last ones among those of eight bytes.
static MASKS: [u64; 16] = {
    let mut masks = [each(0x0f); 16];
    let mut nth = 0;
    while nth < DIGITS {
        masks[nth] <<= 8 * (DIGITS - 1 - nth);
        nth += 1;
    }
    masks
};

/// The bytes before a position, the first of them in the lowest byte.
#[inline(always)]
fn text_before(area: &Area, end: u16) -> u64 {
    let end = BEFORE + usize::from(end) % LENGTH;
    let text = area[end - DIGITS..end].first_chunk().copied();
    u64::from_le_bytes(text.unwrap_or_default())
}

/// Reads at most eight digits of each number. It has one digit more than its length says.
#[inline(always)]
fn read_last_digits<const FIELDS: usize>(
    area: &Area,
    ends: &[u16; FIELDS],
    lengths: &[u16; FIELDS],
    row: &mut NumberRow,
) {
    let mut texts = [0; MOST_FIELDS];
    let mut masks = [0; MOST_FIELDS];
    for (nth, (&end, &length)) in ends.iter().zip(lengths).enumerate() {
        texts[nth] = text_before(area, end);
        masks[nth] = MASKS[usize::from(length) % MASKS.len()];
    }
    let texts = texts[..FIELDS.next_multiple_of(4)].as_chunks().0;
    let masks = masks[..FIELDS.next_multiple_of(4)].as_chunks().0;
    for ((texts, masks), numbers) in texts.iter().zip(masks).zip(row.as_chunks_mut().0) {
        *numbers = numbers_of(*texts, *masks);
    }
}

/// The numbers of at most eight digits at the ends of these texts.
#[inline(always)]
fn numbers_of([a, b, c, d]: [u64; 4], masks: [u64; 4]) -> [u64; 4] {
    let [mask_a, mask_b, mask_c, mask_d] = masks;
    let parts = i16x8::from_i32x8_saturate(cast([
        parts_of(u64x2::new([a, b]) & u64x2::new([mask_a, mask_b])),
        parts_of(u64x2::new([c, d]) & u64x2::new([mask_c, mask_d])),
    ]));
    let numbers = parts.dot(i16x8::new([10_000, 1, 10_000, 1, 10_000, 1, 10_000, 1]));
    cast::<_, [u32; 4]>(numbers).map(u64::from)
}

/// Four digits each, as numbers.
#[inline(always)]
fn parts_of(digits: u64x2) -> i32x4 {
    // The first digit is in the lower byte.
    let pairs: u16x8 = cast(digits);
    let pairs: i16x8 = cast((pairs * u16x8::splat(1 + (10 << 8))) >> 8);
    pairs.dot(i16x8::new([100, 1, 100, 1, 100, 1, 100, 1]))
}

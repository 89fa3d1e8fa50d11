//! Which mappings can be linear memories.
//!
//! Engines that let the processor check bounds reserve the 4 GiB that a 32-bit address reaches, and make the pages
//! usable that the memory has. First come the writable pages, of 64 KiB each; the rest of the addresses is only
//! reserved. Other programs reserve addresses in the same way (virtual machines, garbage collectors). So what has the
//! form is only a candidate: [`Sightings`](crate::sightings) confirm it.

use std::ops::Range;

use crate::mapping::{Mapping, Protection};

/// What 32-bit addresses reach.
const REACH: u64 = 1 << 32;
/// A page of WebAssembly.
pub(crate) const PAGE: u64 = 1 << 16;
/// The most candidates of a process. More memories than that are not found.
const MOST: usize = 10_000;
/// From how many mappings side by side a memory may begin. Engines map the initial contents apart from the rest.
const MOST_PIECES: usize = 8;

/// How addresses that are only reserved are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reservations {
    /// As mappings.
    Mapped,
    /// As mappings or as nothing: core files may leave them out.
    MayBeMissing,
}

/// The ranges that have the form of a linear memory, by address. They may overlap.
pub fn candidates(mappings: &[Mapping], reservations: Reservations) -> Vec<Range<u64>> {
    let mut found = Vec::new();
    for (nth, last) in mappings.iter().enumerate() {
        if found.len() >= MOST {
            break;
        }
        let free = end_of_reservation(&mappings[nth + 1..], last.range.end, reservations);
        if last.protection != Protection::Data || free == last.range.end {
            continue;
        }
        let mut at = last.range.end;
        for piece in mappings[..=nth].iter().rev().take(MOST_PIECES) {
            if piece.protection != Protection::Data || piece.range.end != at {
                break;
            }
            at = piece.range.start;
            let size = last.range.end - at;
            if size.is_multiple_of(PAGE) && size <= REACH && free - at >= REACH {
                found.push(at..last.range.end);
            }
        }
    }
    found.sort_by_key(|range| (range.start, range.end));
    found
}

/// Where the reserved addresses end that begin at `from`.
fn end_of_reservation(after: &[Mapping], from: u64, reservations: Reservations) -> u64 {
    let mut end = from;
    for mapping in after {
        if mapping.range.start != end && reservations == Reservations::Mapped {
            return end;
        }
        // gdb writes reserved addresses as if they could be read.
        let is_reserved = match mapping.protection {
            Protection::Reserved => true,
            Protection::Constant => reservations == Reservations::MayBeMissing,
            _ => false,
        };
        if !is_reserved {
            // In a core, nothing is known of what lies between.
            return match reservations {
                Reservations::Mapped => end,
                Reservations::MayBeMissing => mapping.range.start,
            };
        }
        end = mapping.range.end;
    }
    match reservations {
        Reservations::Mapped => end,
        Reservations::MayBeMissing => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::parse_mappings;

    fn found(text: &str) -> Vec<Range<u64>> {
        candidates(&parse_mappings(text), Reservations::Mapped)
    }

    /// The only candidate; nothing if there is another number of them.
    fn only(text: &str) -> Range<u64> {
        match &found(text)[..] {
            [range] => range.clone(),
            _ => 0..0,
        }
    }

    #[test]
    fn a_memory_of_v8_is_found() {
        let text = "\
7f346af40000-7f34eaf40000 ---p 00000000 00:00 0 \n\
7f34eaf40000-7f34eaf50000 rw-p 00000000 00:00 0 \n\
7f34eaf50000-7f36eaf40000 ---p 00000000 00:00 0 \n";
        assert_eq!(only(text), 0x7f34_eaf4_0000..0x7f34_eaf5_0000);
    }

    #[test]
    fn a_memory_of_wasmtime_begins_with_its_initial_contents() {
        let text = "\
7ff818000000-7ff81a000000 ---p 00000000 00:00 0 \n\
7ff81a000000-7ff81a001000 rw-p 00000000 00:01 6728    /memfd:wasm-memory-image (deleted)\n\
7ff81a001000-7ff81a010000 rw-p 00000000 00:00 0 \n\
7ff81a010000-7ff91c000000 ---p 00000000 00:00 0 \n";
        assert_eq!(only(text), 0x7ff8_1a00_0000..0x7ff8_1a01_0000);
    }

    #[test]
    fn nothing_else_has_the_form() {
        // An arena of malloc, a stack with its guard, a size that is no whole number of pages, code, a gap.
        for text in [
            "10000000-10010000 rw-p 0 0:0 0\n10010000-14000000 ---p 0 0:0 0\n",
            "10000000-10010000 rw-p 0 0:0 0\n10010000-10011000 ---p 0 0:0 0\n",
            "10000000-10011000 rw-p 0 0:0 0\n10011000-210000000 ---p 0 0:0 0\n",
            "10000000-10010000 r-xp 0 0:0 0\n10010000-210000000 ---p 0 0:0 0\n",
            "10000000-10010000 rw-p 0 0:0 0\n10011000-210000000 ---p 0 0:0 0\n",
            "10000000-10010000 rw-p 0 0:0 0\n",
            "",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    #[test]
    fn a_core_of_gdb_has_the_reservation_as_constants() {
        let text = "\
7f9f64000000-7f9f64010000 rw-p 0 0:0 0\n\
7f9f64010000-7fa164000000 r--p 0 0:0 0\n\
7fa164000000-7fa164021000 rw-p 0 0:0 0\n";
        let mappings = parse_mappings(text);
        assert_eq!(candidates(&mappings, Reservations::Mapped), []);
        let all = candidates(&mappings, Reservations::MayBeMissing);
        assert_eq!(all.first(), Some(&(0x7f9f_6400_0000..0x7f9f_6401_0000)));
    }

    #[test]
    fn in_a_core_the_reservation_may_be_missing() {
        let text = "10000000-10010000 rw-p 0 0:0 0\n210000000-210010000 rw-p 0 0:0 0\n";
        let mappings = parse_mappings(text);
        assert_eq!(candidates(&mappings, Reservations::Mapped), []);
        let all = candidates(&mappings, Reservations::MayBeMissing);
        assert_eq!(all.first(), Some(&(0x1000_0000..0x1001_0000)));
    }
}

//! Finds a text in strings of UTF-16 code units, in time that is linear in both.
//!
//! A search for bytes, as by `memmem`, also finds places at odd offsets, which are no code units. A text of one
//! repeated unit then has as many wrong places as the string has bytes, and each costs the whole text again. So
//! this is the algorithm of Knuth, Morris and Pratt over code units. It needs no string in one piece.

use base::columns;
use base::error::Result;
use heap::literal::code_units;

/// A text to find.
pub(super) struct TextSearch {
    text: Vec<u16>,
    /// For each number of units that are found, the length of the longest part of the text that both begins and ends
    /// these units, but is not all of them.
    borders: Vec<u32>,
}

impl TextSearch {
    pub(super) fn new(text: &str) -> Result<Self> {
        let text: Vec<u16> = text.encode_utf16().collect();
        let mut borders = columns::repeated(0u32, text.len() + 1)?;
        let mut border = 0;
        for nth in 1..text.len() {
            while border > 0 && text[border] != text[nth] {
                border = borders[border] as usize;
            }
            border += usize::from(text[border] == text[nth]);
            borders[nth + 1] = border as u32;
        }
        Ok(Self { text, borders })
    }

    /// Whether a text of no units is searched, which every string contains.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Reads the next piece of a string, of whole code units. `found` is the number of units at the end of the
    /// pieces before that begin the text, at first 0. Whether the text was found.
    pub(super) fn continues(&self, found: &mut usize, piece: &[u8]) -> bool {
        let text = &self.text[..];
        for unit in code_units(piece) {
            while *found > 0 && text[*found] != unit {
                *found = self.borders[*found] as usize;
            }
            *found += usize::from(text[*found] == unit);
            if *found == text.len() {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn finds(text: &[u16], string: &[u16], piece: usize) -> bool {
        let text = String::from_utf16(text).unwrap();
        let search = TextSearch::new(&text).unwrap();
        let bytes: Vec<u8> = string.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let mut found = 0;
        bytes
            .chunks(2 * piece)
            .any(|piece| search.continues(&mut found, piece))
    }

    proptest! {
        #[test]
        fn a_text_is_found_where_a_naive_search_finds_it(
            // Few different units, of two equal bytes or of two that are swapped, make many partial matches.
            text in prop::collection::vec(prop::sample::select(&[0x6161u16, 0x6162, 0x6261][..]), 1..8),
            string in prop::collection::vec(prop::sample::select(&[0x6161u16, 0x6162, 0x6261][..]), 0..60),
            piece in 1usize..10,
        ) {
            let naive = string.windows(text.len()).any(|part| part == text);
            prop_assert_eq!(finds(&text, &string, piece), naive);
        }
    }

    #[test]
    fn a_text_between_two_code_units_is_not_found() {
        assert!(!finds(&[0x6162], &[0x6261; 9], 4));
    }

    #[test]
    fn half_of_a_pair_of_surrogates_is_not_a_text_of_its_own() {
        assert!(finds(&[0xd83d, 0xde00], &[0xd83d, 0xd83d, 0xde00], 1));
        assert!(!finds(&[0xd83d, 0xde00], &[0xd83d, 0xde01, 0xde00], 1));
    }

    #[test]
    fn a_long_text_in_a_long_string_takes_no_time_that_is_their_product() {
        // Compared at each place, this would be 500,000 million steps.
        let text = [vec![0x61; 500_000], vec![0x62]].concat();
        let string = vec![0x61; 1_000_000];
        assert!(!finds(&text, &string, 4096));
        assert!(finds(&text, &[string, vec![0x62]].concat(), 4096));
    }
}

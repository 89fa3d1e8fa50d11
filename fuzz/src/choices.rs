//! Choices that are made by the bytes of an input, so that a fuzzer can change them one by one.

use arbitrary::Unstructured;

/// Choices made by bytes. After the last byte, every choice is the first option.
pub struct Choices<'a>(Unstructured<'a>);

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(Unstructured::new(bytes))
    }

    pub fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or_default()
    }

    pub fn word(&mut self) -> u32 {
        self.0.arbitrary().unwrap_or_default()
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0.choose_index(limit).unwrap_or_default()
    }

    /// A replacement for a number: close to it, one of `REMARKABLE`, or any.
    pub fn number(&mut self, old: u32) -> u32 {
        match self.below(8) {
            0 => self.word(),
            1 => REMARKABLE[self.below(REMARKABLE.len())],
            2 => old ^ 1 << self.below(32),
            3 => old.wrapping_add(self.byte().into()),
            4 => old.wrapping_sub(self.byte().into()),
            _ => self.byte().into(),
        }
    }

    /// Changes, inserts and removes bytes.
    pub fn damage_bytes(&mut self, bytes: &mut Vec<u8>, edits: usize) {
        for _ in 0..edits {
            if bytes.is_empty() || self.is_at_end() {
                return;
            }
            let place = self.below(bytes.len());
            match self.below(4) {
                0 => bytes[place] ^= 1 << self.below(8),
                1 => bytes[place] = self.byte(),
                2 => bytes.insert(place, self.byte()),
                _ => _ = bytes.remove(place),
            }
        }
    }
}

/// Numbers at which readers change their behaviour.
const REMARKABLE: [u32; 16] = [
    0,
    1,
    3,
    4,
    12,
    16,
    127,
    128,
    0xffff,
    0x10000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffec,
    0xffff_fff0,
    0xffff_fffc,
    u32::MAX,
];

//! Linear memory, with checked reads of little-endian words.

use base::units::Address;

/// A borrowed linear memory, or a part of one.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a>(&'a [u8]);

impl<'a> Memory<'a> {
    /// Bytes from address 0 on. Only the first 4 GiB can be read.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The size in bytes: a `u64`, because a full memory has 2^32.
    #[inline]
    pub fn size(self) -> u64 {
        self.0.len() as u64
    }

    /// The u32 at `address`; `None` if any byte of it is outside.
    #[inline]
    pub fn word(self, address: Address) -> Option<u32> {
        self.word_behind(address, 0)
    }

    /// The u32 at this number of bytes behind `address`; `None` if any byte of it is outside.
    #[inline]
    pub fn word_behind(self, address: Address, offset: u32) -> Option<u32> {
        // Where a `usize` has 64 bits, nothing overflows, and one comparison is left.
        let start = (address.0 as usize).checked_add(offset as usize)?;
        let bytes = self.0.get(start..start.checked_add(4)?)?;
        Some(u32::from_le_bytes(*bytes.first_chunk::<4>()?))
    }

    /// `count` u32s from `address` on; `None` if any byte of them is outside.
    #[inline]
    pub fn words_at(self, address: Address, count: u32) -> Option<impl Iterator<Item = u32> + 'a> {
        Some(self.bytes_at(address, count.checked_mul(4)?)?.words())
    }

    /// `length` bytes from `address` on; `None` if any of them is outside.
    #[inline]
    pub fn bytes_at(self, address: Address, length: u32) -> Option<Self> {
        let start = address.0 as usize;
        self.0
            .get(start..start.checked_add(length as usize)?)
            .map(Self)
    }

    /// The same bytes in pieces of this size; the last may be smaller.
    pub fn pieces(self, size: usize) -> impl Iterator<Item = Self> {
        self.0.chunks(size).map(Self)
    }

    /// All whole u32s in order.
    #[inline]
    pub fn words(self) -> impl Iterator<Item = u32> + 'a {
        self.0
            .chunks_exact(4)
            .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// The bytes themselves.
    #[inline]
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }
}

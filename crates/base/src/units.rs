//! Number types of the engine: an address cannot be mistaken for an index, nor a class id for a size.
//!
//! Sizes are plain integers: `u32` for one block (at most 1 GiB), `u64` for sums.

use std::fmt;

use bytemuck::Zeroable;

/// An offset in linear memory. For a managed object it is the address of its payload, the value
/// that a reference to it holds; for a block it is the address of the block's `mmInfo` word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u32);

impl Address {
    /// This address plus `bytes`; `None` past the end of a 4 GiB memory.
    #[inline]
    pub fn checked_add(self, bytes: u32) -> Option<Self> {
        self.0.checked_add(bytes).map(Self)
    }

    /// This address minus `bytes`; `None` below address 0.
    #[inline]
    pub fn checked_sub(self, bytes: u32) -> Option<Self> {
        self.0.checked_sub(bytes).map(Self)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// The number by which a heap names an object: its address, or the id of a snapshot. In a memory of 32 bits, it is an
/// [`Address`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectAddress(pub u64);

impl From<Address> for ObjectAddress {
    fn from(address: Address) -> Self {
        Self(address.0.into())
    }
}

impl fmt::Display for ObjectAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// The form in which the addresses of a heap are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressForm {
    /// `0x9540`: of a dump.
    #[default]
    Hexadecimal,
    /// `@38208`: of a snapshot of V8, whose addresses are the ids that DevTools shows.
    Id,
    /// Of a dump and a snapshot that were joined: from [`FIRST_ID`] on an id, before it an address in the dump.
    Joined,
}

/// In a dump and a snapshot that were joined, the ids of the snapshot are addresses above this one: larger by it.
pub const FIRST_ID: u32 = 1 << 31;

impl AddressForm {
    /// An address in this form.
    pub fn of(self, address: impl Into<u64>) -> ShownAddress {
        ShownAddress(self, address.into())
    }
}

/// An address in a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownAddress(AddressForm, u64);

impl fmt::Display for ShownAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            AddressForm::Hexadecimal => write!(f, "{:#x}", self.1),
            AddressForm::Id => write!(f, "@{}", self.1),
            AddressForm::Joined => match self.1.checked_sub(FIRST_ID.into()) {
                Some(id) => write!(f, "@{id}"),
                None => write!(f, "{:#x}", self.1),
            },
        }
    }
}

/// The runtime id of a class (`rtId` in an object's header, `idof<T>()` in the source).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u32);

impl fmt::Display for ClassId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A wasm global index; imported globals count first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GlobalIndex(pub u32);

impl fmt::Display for GlobalIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Bytes below 1 KiB as they are, above with one decimal.
pub fn format_size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut size = bytes as f64 / 1024.0;
    let mut unit = 0;
    // 1023.95 would be printed as 1024.0.
    while size >= 1023.95 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}

/// The position of an object in the object table: objects are numbered in address order, static objects
/// (which lie below the heap) first. 32 bits are enough: 4 GiB hold at most 134 M objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Zeroable)]
pub struct ObjectIndex(pub u32);

impl ObjectIndex {
    /// For indexing a column.
    #[inline]
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_the_texts_that_javascript_writes() {
        let list = include_str!("../sizes.json").lines();
        let rows = list.filter_map(|line| line.trim().strip_prefix('[')?.split_once(", "));
        let mut count = 0;
        for (bytes, text) in rows {
            let text = text.trim_end_matches([',', ']']).trim_matches('"');
            assert_eq!(format_size(bytes.parse().unwrap()), text, "{bytes}");
            count += 1;
        }
        assert!(count > 20);
    }

    #[test]
    fn an_address_of_joined_heaps_is_that_of_the_dump_or_an_id() {
        let shown = |address| AddressForm::Joined.of(address).to_string();
        assert_eq!(shown(0x93a0), "0x93a0");
        assert_eq!(shown(FIRST_ID - 1), "0x7fffffff");
        assert_eq!(shown(FIRST_ID + 1234), "@1234");
    }
}

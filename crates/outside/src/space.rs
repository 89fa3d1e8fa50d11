//! The address space of a process or of a core file.

use std::ops::Range;

use base::control::Control;
use base::error::Result;

use crate::mapping::Mapping;
use crate::memories::Reservations;

/// How many bytes are read at once.
const PIECE: usize = 1 << 20;
/// The largest mapping that is searched. Sanitizers and collectors map terabytes that are hardly used.
const LARGEST: u64 = 64 << 30;

/// Bytes at addresses.
pub trait AddressSpace {
    /// What is mapped, by address.
    fn mappings(&self) -> &[Mapping];
    /// How reserved addresses are seen.
    fn reservations(&self) -> Reservations;
    /// Reads bytes. Returns how many could be read from the start.
    fn read(&self, address: u64, into: &mut [u8]) -> usize;
    /// The parts of a range that may have anything but zeros, or, of a file, what is in the file.
    fn touched(&self, range: &Range<u64>) -> Vec<Range<u64>>;
}

/// Reads all bytes; `None` if one cannot be read.
pub(crate) fn read_all(space: &dyn AddressSpace, address: u64, into: &mut [u8]) -> Option<()> {
    (space.read(address, into) == into.len()).then_some(())
}

/// Calls `visit` with pieces of a mapping that were written, and their addresses. Pieces begin at a multiple of 8.
/// `overlap` is how many bytes of the next piece each one also has.
pub(crate) fn pieces(
    space: &dyn AddressSpace,
    mapping: &Mapping,
    overlap: usize,
    control: &Control,
    mut visit: impl FnMut(u64, &[u8]),
) -> Result<()> {
    if mapping.size() > LARGEST {
        return Ok(());
    }
    let mut buffer = base::columns::zeros::<u8>(PIECE + overlap)?;
    for part in space.touched(&mapping.range) {
        let mut at = part.start;
        while at < part.end {
            control.check()?;
            let size = (part.end - at).min((PIECE + overlap) as u64) as usize;
            let read = space.read(at, &mut buffer[..size]);
            visit(at, &buffer[..read]);
            at += PIECE as u64;
        }
    }
    Ok(())
}

/// A made-up address space for tests: bytes at addresses, and nothing elsewhere.
#[cfg(test)]
pub(crate) mod made_up {
    use super::*;
    use crate::mapping::parse_mappings;

    /// Pieces of memory, with mappings as the system prints them.
    pub(crate) struct MadeUp {
        mappings: Vec<Mapping>,
        contents: Vec<(u64, Vec<u8>)>,
    }

    impl MadeUp {
        pub(crate) fn new(maps: &str, contents: Vec<(u64, Vec<u8>)>) -> Self {
            Self {
                mappings: parse_mappings(maps),
                contents,
            }
        }

        /// Changes bytes.
        pub(crate) fn put(&mut self, address: u64, bytes: &[u8]) {
            for (start, contents) in &mut self.contents {
                if (*start..*start + contents.len() as u64).contains(&address) {
                    let at = (address - *start) as usize;
                    contents[at..at + bytes.len()].copy_from_slice(bytes);
                }
            }
        }
    }

    impl AddressSpace for MadeUp {
        fn mappings(&self) -> &[Mapping] {
            &self.mappings
        }

        fn reservations(&self) -> Reservations {
            Reservations::Mapped
        }

        fn read(&self, address: u64, into: &mut [u8]) -> usize {
            for (start, contents) in &self.contents {
                if (*start..*start + contents.len() as u64).contains(&address) {
                    let rest = &contents[(address - start) as usize..];
                    let size = rest.len().min(into.len());
                    into[..size].copy_from_slice(&rest[..size]);
                    return size;
                }
            }
            0
        }

        fn touched(&self, range: &Range<u64>) -> Vec<Range<u64>> {
            vec![range.clone()]
        }
    }
}

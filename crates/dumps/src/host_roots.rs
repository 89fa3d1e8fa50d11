//! Pointers that the host of a program holds. They are in no memory: the writer of a dump says them, or its reader.

use base::units::Address;

use crate::Memory;

/// A pointer that the host holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostRoot {
    /// What the host calls it; empty if it has no name.
    pub name: String,
    /// Where it points.
    pub address: Address,
}

/// The pointers in a dump: for each the address, the length of its name in bytes, and the name in UTF-8, followed by up to
/// three bytes so that the next begins at a multiple of 4.
#[derive(Clone, Copy, Debug)]
pub struct HostRoots<'a>(Memory<'a>);

impl<'a> HostRoots<'a> {
    pub(crate) fn new(records: &'a [u8]) -> Self {
        Self(Memory::new(records))
    }

    /// All of them in order. Ends at a record that does not fit.
    pub fn iter(self) -> impl Iterator<Item = HostRoot> + 'a {
        let mut at = 0u32;
        std::iter::from_fn(move || {
            let address = self.0.word(Address(at))?;
            let length = self.0.word_behind(Address(at), 4)?;
            let name = self.0.bytes_at(Address(at.checked_add(8)?), length)?;
            at = at.checked_add(8)?.checked_add(length)?;
            at = at.checked_next_multiple_of(4)?;
            Some(HostRoot {
                name: String::from_utf8_lossy(name.as_bytes()).into_owned(),
                address: Address(address),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_length_are_read_and_a_cut_record_ends_the_list() {
        let mut records = Vec::new();
        for (address, name) in [(16u32, ""), (32, "a"), (48, "four"), (64, "fifth")] {
            records.extend_from_slice(&address.to_le_bytes());
            records.extend_from_slice(&(name.len() as u32).to_le_bytes());
            records.extend_from_slice(name.as_bytes());
            records.resize(records.len().next_multiple_of(4), 0);
        }
        let read = |records| HostRoots::new(records).iter().collect::<Vec<_>>();
        let all = read(&records);
        let names: Vec<_> = all.iter().map(|root| root.name.as_str()).collect();
        assert_eq!(names, ["", "a", "four", "fifth"]);
        assert_eq!(all[3].address, Address(64));
        assert_eq!(read(&records[..records.len() - 4]).len(), 3);
        assert!(read(&[]).is_empty());
        let endless = [0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
        assert!(read(&endless).is_empty());
    }
}

//! What is mapped in a process: `/proc/<pid>/maps`.

use std::ops::Range;

/// A piece of the address space with one protection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// From its first byte to the one after its last.
    pub range: Range<u64>,
    /// What the process may do there.
    pub protection: Protection,
    /// What is mapped.
    pub backing: Backing,
}

/// What a process may do with a mapping, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Nothing: addresses that are reserved.
    Reserved,
    /// Read and write.
    Data,
    /// Read.
    Constant,
    /// Anything else: code.
    Other,
}

/// What is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backing {
    /// Memory that is zero until it is written.
    Zeros,
    /// A file, or memory with a name: what was not written is in the file.
    File,
    /// A device, or a part of the system: reading it may do something.
    Device,
}

impl Mapping {
    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Reads one line; `None` if it is none.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let start = u64::from_str_radix(start, 16).ok()?;
        let end = u64::from_str_radix(end, 16).ok()?;
        let flags = words.next()?.as_bytes();
        let file = words.nth(2)?;
        let name = words.next().unwrap_or("");
        let protection = match flags.get(..3)? {
            b"---" => Protection::Reserved,
            b"rw-" => Protection::Data,
            b"r--" => Protection::Constant,
            _ => Protection::Other,
        };
        let is_device = (name.starts_with("/dev/")
            && !name.starts_with("/dev/zero")
            && !name.starts_with("/dev/shm"))
            || name.starts_with("anon_inode:")
            || name.starts_with("[v");
        let backing = match file {
            _ if is_device => Backing::Device,
            "0" => Backing::Zeros,
            _ => Backing::File,
        };
        (start < end).then_some(Self {
            range: start..end,
            protection,
            backing,
        })
    }
}

/// Reads the mappings of a process, in the order of their addresses. A line that is none is left out, as is one that
/// overlaps the line before it.
pub fn parse_mappings(text: &str) -> Vec<Mapping> {
    let mut all: Vec<Mapping> = Vec::new();
    for mapping in text.lines().filter_map(Mapping::parse) {
        if all
            .last()
            .is_none_or(|last| last.range.end <= mapping.range.start)
        {
            all.push(mapping);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_addresses_protection_and_what_is_mapped() {
        let text = "\
7f34eaf40000-7f34eaf50000 rw-p 00000000 00:00 0 \n\
7f34eaf50000-7f36eaf40000 ---p 00000000 00:00 0 \n\
7ff81a000000-7ff81a001000 rw-p 00000000 00:01 6728                       /memfd:wasm-memory-image (deleted)\n\
7ff91a000000-7ff91a001000 rw-s 00000000 00:01 6728                       /dev/dri/card0\n\
7ffeb1f00000-7ffeb1f20000 rw-p 00000000 00:00 0                          [stack]\n\
7ffeb1f20000-7ffeb1f22000 r-xp 00000000 00:00 0                          [vdso]\n";
        let found = parse_mappings(text);
        let kinds: Vec<_> = found
            .iter()
            .map(|one| (one.size(), one.protection, one.backing))
            .collect();
        assert_eq!(
            kinds,
            [
                (0x1_0000, Protection::Data, Backing::Zeros),
                (0x1_ffff_0000, Protection::Reserved, Backing::Zeros),
                (0x1000, Protection::Data, Backing::File),
                (0x1000, Protection::Data, Backing::Device),
                (0x2_0000, Protection::Data, Backing::Zeros),
                (0x2000, Protection::Other, Backing::Device),
            ]
        );
    }

    #[test]
    fn a_line_that_is_none_is_left_out() {
        for line in [
            "",
            "x",
            "1-",
            "2000-1000 rw-p 0 0:0 0",
            "1000-2000 rw",
            "zz-ff rw-p 0 0:0 0",
            "1000-2000 rw-p 0",
            "-1000-2000 rw-p 0 0:0 0",
        ] {
            assert_eq!(parse_mappings(line), [], "{line:?}");
        }
        let overlapping = "1000-3000 rw-p 0 0:0 0\n2000-4000 rw-p 0 0:0 0\n";
        assert_eq!(parse_mappings(overlapping).len(), 1);
    }
}

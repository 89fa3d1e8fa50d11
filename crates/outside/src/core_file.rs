//! Core files: what a process left when it ended, or what `gcore` wrote of it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use base::error::Result;

use crate::OutsideError;
use crate::mapping::{Backing, Mapping, Protection};
use crate::memories::Reservations;
use crate::space::AddressSpace;

const HEADER: usize = 64;
const SEGMENT: usize = 56;
/// The most segments: Linux allows a process that many mappings by default.
const MOST_SEGMENTS: u64 = 1 << 20;
const CORE: u16 = 4;
const LOAD: u32 = 1;

/// A core file. Only what is asked for is read.
pub struct CoreFile {
    file: Mutex<File>,
    mappings: Vec<Mapping>,
    /// Which addresses are at which offset, by address.
    contents: Vec<(Range<u64>, u64)>,
}

impl CoreFile {
    /// Reads the list of segments.
    ///
    /// # Errors
    /// [`OutsideError::Core`].
    pub fn open(mut file: File) -> Result<Self> {
        let wrong = |why: &str| OutsideError::Core { why: why.into() };
        let mut header = [0; HEADER];
        let read = fill(&mut file, 0, &mut header);
        if header.starts_with(b"MDMP") {
            return Err(wrong("found a minidump, which has no memory of this size; expected an ELF core, as the kernel and gcore write it").into());
        }
        if read < HEADER || !header.starts_with(b"\x7fELF") {
            return Err(wrong("found no ELF header at offset 0").into());
        }
        if header[4..6] != [2, 1] {
            return Err(wrong(
                "found an ELF file of another width or byte order; expected 64 bits, little endian",
            )
            .into());
        }
        if word(&header, 16, 2) != u64::from(CORE) {
            return Err(
                wrong("found an ELF file that is a program or a library; expected a core").into(),
            );
        }
        let table = word(&header, 32, 8);
        let mut count = word(&header, 56, 2);
        if count == 0xffff {
            // More do not fit: the first section has the number.
            let mut section = [0; 64];
            let read = fill(&mut file, word(&header, 40, 8), &mut section);
            count = if read == 64 { word(&section, 44, 4) } else { 0 };
        }
        if count == 0 || count > MOST_SEGMENTS || word(&header, 54, 2) != SEGMENT as u64 {
            return Err(wrong("found no list of segments in the header").into());
        }
        let mut bytes = base::columns::zeros::<u8>(count as usize * SEGMENT)?;
        if fill(&mut file, table, &mut bytes) < bytes.len() {
            return Err(wrong("the file ends in the list of segments: it is truncated").into());
        }
        let mut core = Self {
            file: Mutex::new(file),
            mappings: Vec::new(),
            contents: Vec::new(),
        };
        core.read_segments(&bytes);
        Ok(core)
    }

    fn read_segments(&mut self, bytes: &[u8]) {
        let mut loads: Vec<&[u8]> = bytes
            .chunks_exact(SEGMENT)
            .filter(|segment| word(segment, 0, 4) == u64::from(LOAD))
            .collect();
        loads.sort_by_key(|segment| word(segment, 16, 8));
        for segment in loads {
            let start = word(segment, 16, 8);
            let Some(end) = start.checked_add(word(segment, 40, 8)) else {
                continue;
            };
            let is_behind = |last: &Mapping| last.range.end <= start;
            if start >= end || !self.mappings.last().is_none_or(is_behind) {
                continue;
            }
            self.mappings.push(Mapping {
                range: start..end,
                // Bits: 1 execute, 2 write, 4 read.
                protection: match word(segment, 4, 4) & 7 {
                    0 => Protection::Reserved,
                    6 => Protection::Data,
                    4 => Protection::Constant,
                    _ => Protection::Other,
                },
                backing: Backing::Zeros,
            });
            let in_file = word(segment, 32, 8).min(end - start);
            if in_file > 0 {
                self.contents
                    .push((start..start + in_file, word(segment, 8, 8)));
            }
        }
    }
}

impl AddressSpace for CoreFile {
    fn mappings(&self) -> &[Mapping] {
        &self.mappings
    }

    fn reservations(&self) -> Reservations {
        Reservations::MayBeMissing
    }

    fn read(&self, address: u64, into: &mut [u8]) -> usize {
        let mut done = 0;
        while done < into.len() {
            let at = address + done as u64;
            let after = self.contents.partition_point(|(range, _)| range.end <= at);
            let Some((range, offset)) = self.contents.get(after) else {
                break;
            };
            if !range.contains(&at) {
                break;
            }
            let size = (range.end - at).min((into.len() - done) as u64) as usize;
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            let from = offset.saturating_add(at - range.start);
            let read = fill(&mut file, from, &mut into[done..done + size]);
            done += read;
            if read < size {
                break;
            }
        }
        done
    }

    fn touched(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let inside = |part: &Range<u64>| part.start.max(range.start)..part.end.min(range.end);
        let all = self.contents.iter().map(|(part, _)| inside(part));
        all.filter(|part| part.start < part.end).collect()
    }
}

/// A number of some bytes, little endian.
fn word(bytes: &[u8], at: usize, size: usize) -> u64 {
    let mut number = [0; 8];
    number[..size].copy_from_slice(&bytes[at..at + size]);
    u64::from_le_bytes(number)
}

/// Reads until the end of the file. Returns how many bytes were read.
fn fill(file: &mut File, at: u64, into: &mut [u8]) -> usize {
    if file.seek(SeekFrom::Start(at)).is_err() {
        return 0;
    }
    let mut done = 0;
    while done < into.len() {
        match file.read(&mut into[done..]) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// An ELF core with segments: protection, address, size, bytes.
    fn core(segments: &[(u32, u64, u64, &[u8])]) -> Vec<u8> {
        let mut file = vec![0; HEADER + SEGMENT * segments.len()];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[16..18].copy_from_slice(&CORE.to_le_bytes());
        file[32] = HEADER as u8;
        file[54] = SEGMENT as u8;
        file[56] = segments.len() as u8;
        for (nth, (flags, address, size, bytes)) in segments.iter().enumerate() {
            let at = HEADER + SEGMENT * nth;
            let offset = file.len() as u64;
            file[at..at + 4].copy_from_slice(&LOAD.to_le_bytes());
            file[at + 4..at + 8].copy_from_slice(&flags.to_le_bytes());
            file[at + 8..at + 16].copy_from_slice(&offset.to_le_bytes());
            file[at + 16..at + 24].copy_from_slice(&address.to_le_bytes());
            file[at + 32..at + 40].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
            file[at + 40..at + 48].copy_from_slice(&size.to_le_bytes());
            file.extend(*bytes);
        }
        file
    }

    fn open(bytes: &[u8]) -> Result<CoreFile> {
        let failed = |source| OutsideError::Write { source };
        let name = format!(
            "core-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        );
        let path = std::env::temp_dir().join(name);
        let mut file = File::create(&path).map_err(failed)?;
        file.write_all(bytes).map_err(failed)?;
        let file = File::open(&path).map_err(failed)?;
        _ = std::fs::remove_file(path);
        CoreFile::open(file)
    }

    fn error_of(bytes: &[u8]) -> String {
        open(bytes)
            .map(|_| String::new())
            .unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn bytes_are_at_their_addresses() {
        let bytes = core(&[
            (6, 0x2000, 0x2000, &[2; 0x1000]),
            (6, 0x1000, 0x1000, &[1; 0x1000]),
            (0, 0x4000, 0x9000, &[]),
        ]);
        let core = open(&bytes).ok();
        let Some(core) = core else {
            return assert!(core.is_some());
        };
        let mut read = [0; 0x1800];
        assert_eq!(core.read(0x1800, &mut read), 0x1800);
        assert_eq!(read[0x7ff..0x801], [1, 2]);
        // The file has less than the process had.
        assert_eq!(core.read(0x2fff, &mut read), 1);
        assert_eq!(core.read(0x5000, &mut read), 0);
        assert_eq!(
            core.touched(&(0x1800..0x9000)),
            [0x1800..0x2000, 0x2000..0x3000]
        );
        let kinds: Vec<_> = core
            .mappings()
            .iter()
            .map(|one| (one.size(), one.protection))
            .collect();
        assert_eq!(
            kinds,
            [
                (0x1000, Protection::Data),
                (0x2000, Protection::Data),
                (0x9000, Protection::Reserved)
            ]
        );
    }

    #[test]
    fn what_is_no_core_is_named() {
        let whole = core(&[(6, 0x1000, 0x1000, &[1; 16])]);
        assert!(error_of(b"MDMP").contains("minidump"));
        assert!(error_of(b"").contains("no ELF header"));
        assert!(error_of(&whole[..70]).contains("truncated"));
        let changed = |at: usize, value: u8| {
            let mut bytes = whole.clone();
            bytes[at] = value;
            error_of(&bytes)
        };
        assert!(changed(4, 1).contains("another width"));
        assert!(changed(16, 2).contains("expected a core"));
        assert!(changed(56, 0).contains("no list of segments"));
        assert!(changed(57, 0xff).contains("truncated"));
    }
}

//! What a process has beside its memories: where it keeps the address and the size of each, and modules.

use std::ops::Range;

use base::control::Control;
use base::error::Result;
use memchr::memmem;

use crate::mapping::{Backing, Mapping, Protection};
use crate::memories::candidates;
use crate::space::{AddressSpace, pieces};

/// The most places of one memory, and the most modules.
const MOST: usize = 256;
/// The largest constants in which modules are looked for. In cores, reserved addresses look like constants.
const LARGEST_CONSTANT: u64 = 1 << 30;
/// How the binary format begins.
const MODULE_START: &[u8] = b"\0asm\x01\0\0\0";

/// A linear memory, as the engine that made it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearMemory {
    /// Its addresses in the process.
    pub range: Range<u64>,
    /// Where the engine keeps its address, followed by its size. There is at least one place.
    pub places: Vec<u64>,
}

/// What a search of an address space found.
#[derive(Debug, Default)]
pub struct Sightings {
    /// By address.
    pub memories: Vec<LinearMemory>,
    /// Where modules may begin.
    pub modules: Vec<u64>,
}

/// What to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Memories alone.
    Memories,
    /// Modules too.
    MemoriesAndModules,
}

impl Sightings {
    /// Looks at everything that the process has written. What only has the form of a memory is left out: every engine
    /// keeps a memory's address, followed by its size in bytes.
    pub fn search(space: &dyn AddressSpace, wanted: Wanted, control: &Control) -> Result<Self> {
        let ranges = candidates(space.mappings(), space.reservations());
        let mut found = Self {
            memories: ranges
                .into_iter()
                .map(|range| LinearMemory {
                    range,
                    places: Vec::new(),
                })
                .collect(),
            modules: Vec::new(),
        };
        if found.memories.is_empty() {
            return Ok(found);
        }
        for mapping in space.mappings() {
            // Memories are looked at too: what only has the form of one may be where an engine keeps its own data.
            if mapping.backing != Backing::Device {
                found.look_at(space, mapping, wanted, control)?;
            }
        }
        found.memories.retain(|memory| !memory.places.is_empty());
        Ok(found)
    }

    fn look_at(
        &mut self,
        space: &dyn AddressSpace,
        mapping: &Mapping,
        wanted: Wanted,
        control: &Control,
    ) -> Result<()> {
        let has_modules = wanted == Wanted::MemoriesAndModules;
        let is_data = match mapping.protection {
            Protection::Data => true,
            Protection::Constant if has_modules && mapping.size() <= LARGEST_CONSTANT => false,
            _ => return Ok(()),
        };
        pieces(space, mapping, 8, control, |at, bytes| {
            if is_data {
                self.find_places(at, bytes);
            }
            if has_modules {
                for offset in memmem::find_iter(bytes, MODULE_START) {
                    let module = at + offset as u64;
                    if self.modules.len() < MOST && self.modules.last() != Some(&module) {
                        self.modules.push(module);
                    }
                }
            }
        })
    }

    /// Finds words that are the address of a memory, with its size in the word behind.
    fn find_places(&mut self, at: u64, bytes: &[u8]) {
        let (Some(first), Some(last)) = (self.memories.first(), self.memories.last()) else {
            return;
        };
        let (least, most) = (first.range.start, last.range.start);
        let words = bytes.as_chunks::<8>().0;
        for (nth, pair) in words.windows(2).enumerate() {
            let start = u64::from_le_bytes(pair[0]);
            if start.wrapping_sub(least) > most - least {
                continue;
            }
            let size = u64::from_le_bytes(pair[1]);
            let is_it = |memory: &LinearMemory| {
                memory.range.start == start && memory.range.end - start == size
            };
            let place = at + 8 * nth as u64;
            for memory in self.memories.iter_mut().filter(|memory| is_it(memory)) {
                if memory.places.len() < MOST && !memory.range.contains(&place) {
                    memory.places.push(place);
                }
            }
        }
    }
}

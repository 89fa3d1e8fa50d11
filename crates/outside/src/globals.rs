//! Where the globals of an instance lie.
//!
//! The engine keeps the memory's address in the instance. Nearby, V8 keeps the address of a row with all numeric globals
//! of the instance; in wasmtime, the globals themselves follow. So few places come into question, and the module says
//! which of them can be the right one.

use base::control::Control;
use base::error::Result;

use crate::OutsideError;
use crate::layout::{GlobalLayout, HeaderValues, Packing, PlaceEvidence};
use crate::mapping::{Mapping, Protection};
use crate::sightings::LinearMemory;
use crate::space::{AddressSpace, read_all};

/// V8 keeps the address of the globals within this many bytes of the memory's address.
const NEAR: u64 = 1024;
/// wasmtime keeps the globals within this many bytes after the memory's address.
const BEHIND: u64 = 4096;
/// Where V8 keeps the address of the globals, counted from that of the memory: in Node 20, 22, and 24 to 26 (there also
/// from a second place of the memory).
const USUAL: [u64; 4] = [48, 24, 136, 16];
/// The most bytes of globals.
const MOST_BYTES: usize = 1 << 20;

/// Where globals lie, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GlobalsPlace {
    /// The address of the first.
    pub address: u64,
    /// Whether each takes 16 bytes.
    is_of_slots: bool,
    evidence: PlaceEvidence,
}

impl GlobalsPlace {
    fn packing(self) -> Packing {
        if self.is_of_slots {
            Packing::Slots
        } else {
            Packing::BySize
        }
    }

    /// Which engine's order it is.
    pub fn engine(self) -> &'static str {
        match self.packing() {
            Packing::BySize => "V8",
            Packing::Slots => "wasmtime",
        }
    }

    /// Reads the values, if they can be those of this module.
    pub fn read(
        self,
        space: &dyn AddressSpace,
        layout: &GlobalLayout,
        memory_size: u64,
    ) -> Option<HeaderValues> {
        let size = layout.size(self.packing());
        if size > MOST_BYTES {
            return None;
        }
        let mut bytes = vec![0; size];
        read_all(space, self.address, &mut bytes)?;
        layout.read(self.packing(), &bytes, memory_size, self.evidence)
    }
}

/// The one place that can be that of the globals.
///
/// # Errors
/// [`OutsideError::NoGlobals`] if there is none, or several.
pub fn find_globals(
    space: &dyn AddressSpace,
    memory: &LinearMemory,
    layout: &GlobalLayout,
    control: &Control,
) -> Result<GlobalsPlace> {
    let size = memory.range.end - memory.range.start;
    let mut possible = Vec::new();
    for &place in &memory.places {
        control.check()?;
        possible.extend(pointers_near(space, memory, place));
        let first = (place + 16).next_multiple_of(16);
        possible.extend(
            (first..place + BEHIND)
                .step_by(16)
                .map(|address| GlobalsPlace {
                    address,
                    is_of_slots: true,
                    evidence: PlaceEvidence::ByValues,
                }),
        );
    }
    possible.sort_unstable();
    // What is where V8 keeps it comes first.
    possible.dedup_by_key(|place| (place.address, place.is_of_slots));
    possible.retain(|place| place.read(space, layout, size).is_some());
    let is_by_place = |place: &&GlobalsPlace| place.evidence == PlaceEvidence::ByPlace;
    let is_by_values = |place: &&GlobalsPlace| {
        let strict = GlobalsPlace {
            evidence: PlaceEvidence::ByValues,
            ..**place
        };
        strict.read(space, layout, size).is_some()
    };
    // A place that has both is the one. Otherwise, a place of one kind beside a place of the other is a contradiction.
    let both: Vec<_> = possible
        .iter()
        .filter(is_by_place)
        .filter(is_by_values)
        .collect();
    let missing = |why: String| OutsideError::NoGlobals { why };
    match (&both[..], &possible[..]) {
        ([place], _) => Ok(**place),
        ([], [place]) => Ok(*place),
        ([], []) => Err(missing(
            "no place beside the memory's address has the constants of the module, a stack pointer within its bounds, and three values that tell; known are the orders of V8 and wasmtime".to_owned(),
        )
        .into()),
        _ => Err(missing(format!("{} places have values that fit the module", possible.len())).into()),
    }
}

/// Places to which words near this one point.
fn pointers_near(space: &dyn AddressSpace, memory: &LinearMemory, place: u64) -> Vec<GlobalsPlace> {
    let start = place.saturating_sub(NEAR);
    let Some(mapping) = mapping_at(space.mappings(), place) else {
        return Vec::new();
    };
    let start = start.max(mapping.range.start);
    let end = (place + NEAR).min(mapping.range.end);
    let mut bytes = vec![0; (end - start) as usize];
    let read = space.read(start, &mut bytes);
    let words = bytes[..read].as_chunks::<8>().0.iter();
    let is_data = |mapping: &Mapping| mapping.protection == Protection::Data;
    let pointers = words.enumerate().filter_map(|(nth, word)| {
        let address = u64::from_le_bytes(*word);
        let is_pointer = address.is_multiple_of(4)
            && !memory.range.contains(&address)
            && mapping_at(space.mappings(), address).is_some_and(is_data);
        let distance = (start + 8 * nth as u64).wrapping_sub(place);
        is_pointer.then_some(GlobalsPlace {
            address,
            is_of_slots: false,
            evidence: if USUAL.contains(&distance) {
                PlaceEvidence::ByPlace
            } else {
                PlaceEvidence::ByValues
            },
        })
    });
    pointers.collect()
}

fn mapping_at(mappings: &[Mapping], address: u64) -> Option<&Mapping> {
    let after = mappings.partition_point(|mapping| mapping.range.end <= address);
    mappings
        .get(after)
        .filter(|mapping| mapping.range.contains(&address))
}

//! Which lines of source allocated what is alive in a dump, by the blocks that a profiler sampled.

use serde::{Deserialize, Serialize};

use super::LoadedHeap;
use base::columns;
use base::control::{Control, Phase};
use base::error::{Error, Result};
use base::units::Address;
use heap::{DominatorIndex, Need};
use wasm::symbols::Frame;

/// The blocks that a profiler sampled and that were not freed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SampledBlocks {
    /// The mean number of bytes between two samples; 1 if every block is a sample.
    pub interval: u64,
    /// The lines that allocated.
    pub places: Vec<Frame>,
    /// Address, size and place of each block, one block after the other.
    pub blocks: Vec<u32>,
}

/// What is alive, by the line that allocated it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AllocationSites {
    /// Whether every allocation was recorded, so that all numbers are exact.
    pub exact: bool,
    /// The mean number of bytes between two samples.
    pub interval: u64,
    /// The live bytes of the dump.
    pub total_live_size: u64,
    /// Sampled blocks without an object in the dump: `heap.alloc`, or freed before the dump was taken.
    pub other_blocks: u64,
    /// Their bytes.
    pub other_bytes: u64,
    /// Live objects that were not recorded, of a snapshot of V8: allocated before V8 tracked allocations, or by V8
    /// itself. Absent for a profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_objects: Option<OtherObjects>,
    /// The sites with live objects: retained size ↓, size ↓, then file, line and function.
    pub sites: Vec<AllocationSite>,
}

/// Objects whose allocation was not recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OtherObjects {
    /// Their number.
    pub count: u64,
    /// The sum of their shallow sizes, in bytes.
    pub size: u64,
}

/// A line of source, and what it allocated.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AllocationSite {
    /// The function and its line.
    #[serde(flatten)]
    pub place: Frame,
    /// The sampled objects that are alive.
    pub samples: u64,
    /// The number of its live objects, estimated from the samples.
    pub count: u64,
    /// Their shallow size, estimated from the samples.
    pub size: u64,
    /// The standard error of `size`; 0 if it is exact.
    pub size_error: u64,
    /// The retained size of the sampled objects as a set. Not scaled: the objects that were not sampled may
    /// retain more.
    pub retained_size: u64,
    /// The shallow size of its objects that are garbage, estimated.
    pub garbage_size: u64,
}

#[derive(Clone, Default)]
struct Sums {
    samples: u64,
    count: f64,
    size: f64,
    variance: f64,
    garbage: f64,
    /// Positions of the live objects in preorder of the dominator tree.
    positions: Vec<u32>,
}

/// Finds the objects in the blocks that were sampled.
///
/// # Errors
/// [`Error::NotInSnapshot`]; [`Error::Profile`] if the profile is not of the same run as the dump; [`Error::OutOfMemory`],
/// [`Error::Aborted`], [`Error::Io`].
pub fn allocation_sites(
    loaded: &LoadedHeap,
    sampled: &SampledBlocks,
    control: &Control,
) -> Result<AllocationSites> {
    let heap = &loaded.heap;
    loaded.source.check(Need::Blocks)?;
    let header = loaded.source.blocks().map_or(0, |blocks| blocks.header);
    let dominators = loaded.dominator_index(control)?;
    let step = control.begin(Phase::View, sampled.blocks.len() as u64);
    let mut sums = vec![Sums::default(); sampled.places.len()];
    let mut answer = AllocationSites {
        exact: sampled.interval == 1,
        interval: sampled.interval,
        total_live_size: heap.live_size,
        ..AllocationSites::default()
    };
    let mut differing = 0u64;
    for block in sampled.blocks.chunks_exact(3) {
        let &[address, size, place] = block else {
            continue;
        };
        step.advance(3)?;
        let payload = address.checked_add(header).map(Address);
        let object = payload.and_then(|payload| heap.objects.at(payload));
        let Some(object) = object.filter(|&object| heap.objects.is_on_heap(object)) else {
            answer.other_blocks += 1;
            answer.other_bytes += u64::from(size);
            continue;
        };
        if heap.block_size(object) != size {
            differing += 1;
            continue;
        }
        let Some(sum) = sums.get_mut(place as usize) else {
            return Err(damaged("a block names a place that is not listed"));
        };
        let size = f64::from(size);
        let chance = match sampled.interval {
            1 => 1.0,
            interval => -(-size / interval as f64).exp_m1(),
        };
        match dominators.position(object) {
            Some(position) => {
                sum.samples += 1;
                sum.count += 1.0 / chance;
                sum.size += size / chance;
                sum.variance += (1.0 - chance) * (size / chance).powi(2);
                sum.positions.push(position);
            }
            None => sum.garbage += size / chance,
        }
    }
    if differing > 0 {
        return Err(Error::Profile {
            message: format!(
                "{differing} of its {} blocks have another size in the dump: the profile and the dump are \
                 not of the same moment of the same run; write both without running the program between",
                sampled.blocks.len() / 3
            ),
        });
    }
    finish(
        loaded,
        &mut answer,
        sampled.places.iter().zip(sums),
        dominators,
    );
    Ok(answer)
}

/// The lines that allocated what is alive, as the input itself says it: a snapshot of V8 that was written while it
/// tracked allocations.
///
/// # Errors
/// [`Error::NotInSnapshot`], [`Error::Profile`] if the input does not say it; [`Error::OutOfMemory`],
/// [`Error::Aborted`].
pub fn recorded_sites(loaded: &LoadedHeap, control: &Control) -> Result<AllocationSites> {
    let heap = &loaded.heap;
    let Some(recorded) = loaded.source.allocation_places() else {
        return Err(Error::Profile {
            message: "there is none, and the file does not say where objects were allocated: expected a heap \
                      profile, or a heap snapshot of V8 that was written while it tracked allocations"
                .to_owned(),
        });
    };
    let dominators = loaded.dominator_index(control)?;
    let step = control.begin(Phase::View, heap.objects.len() as u64);
    let mut sums = vec![Sums::default(); recorded.places.len()];
    let mut answer = AllocationSites {
        exact: true,
        interval: 1,
        total_live_size: heap.live_size,
        ..AllocationSites::default()
    };
    let mut others = OtherObjects::default();
    for object in heap.live_heap_objects() {
        step.advance(1)?;
        let size = heap.shallow_size(object);
        let place = recorded.place_of.get(object.at()).copied();
        let sum = place.and_then(|place| sums.get_mut(place as usize));
        match (sum, dominators.position(object)) {
            (Some(sum), Some(position)) => {
                sum.samples += 1;
                sum.count += 1.0;
                sum.size += size as f64;
                columns::push(&mut sum.positions, position)?;
            }
            _ => {
                others.count += 1;
                others.size += size;
            }
        }
    }
    answer.other_objects = Some(others);
    let frames: Vec<Frame> = recorded
        .places
        .iter()
        .map(|place| Frame {
            function: place.function.clone(),
            file: place.file.clone(),
            line: place.line,
        })
        .collect();
    finish(loaded, &mut answer, frames.iter().zip(sums), dominators);
    Ok(answer)
}

/// Adds the sites that have objects, in order.
fn finish<'f>(
    loaded: &LoadedHeap,
    answer: &mut AllocationSites,
    sums: impl Iterator<Item = (&'f Frame, Sums)>,
    dominators: &DominatorIndex,
) {
    let heap = &loaded.heap;
    for (place, sum) in sums {
        let Sums {
            samples,
            mut positions,
            ..
        } = sum;
        if samples == 0 && sum.garbage == 0.0 {
            continue;
        }
        // An object within the range of an earlier one is retained by that.
        positions.sort_unstable();
        let mut end = 0;
        let mut retained_size = 0;
        for position in positions {
            if position >= end {
                end = dominators.end(position);
                let object = dominators.object(position);
                retained_size += heap.retained_size(object);
            }
        }
        answer.sites.push(AllocationSite {
            place: place.clone(),
            samples,
            count: sum.count.round() as u64,
            size: sum.size.round() as u64,
            size_error: sum.variance.sqrt().round() as u64,
            retained_size,
            garbage_size: sum.garbage.round() as u64,
        });
    }
    answer.sites.sort_by(|one, other| {
        let key = |site: &AllocationSite| (site.retained_size, site.size, site.garbage_size);
        let name = |site: &AllocationSite| {
            let Frame {
                function,
                file,
                line,
            } = site.place.clone();
            (file, line, function)
        };
        key(other)
            .cmp(&key(one))
            .then_with(|| name(one).cmp(&name(other)))
    });
}

fn damaged(what: &str) -> Error {
    Error::Profile {
        message: format!("it is damaged: {what}; write it again"),
    }
}

//! Which lines of source allocated what is alive in a dump, by the blocks that a profiler sampled.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::LoadedHeap;
use base::control::{Control, Phase};
use base::error::{Error, Result};
use base::units::Address;
use heap::Need;
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
    /// The sites with live objects: retained size ↓, size ↓, then file, line and function.
    pub sites: Vec<AllocationSite>,
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
    for (place, sum) in sampled.places.iter().zip(sums) {
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
        key(other)
            .cmp(&key(one))
            .then_with(|| line_of(&one.place).cmp(&line_of(&other.place)))
    });
    Ok(answer)
}

/// What the order of lines is by.
fn line_of(place: &Frame) -> (&str, u32, &str) {
    (&place.file, place.line, &place.function)
}

/// What of a line was alive at two moments of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteGrowth {
    /// Whether every allocation was recorded, so that all numbers are exact.
    pub exact: bool,
    /// The live bytes of the dump before.
    pub live_size_before: u64,
    /// The live bytes of the dump after.
    pub live_size_after: u64,
    /// The lines with live objects at one of the moments: change of the size ↓, change of the number ↓, then file, line
    /// and function.
    pub sites: Vec<SiteChange>,
}

/// A line of source, and how much of what it allocated was alive at two moments.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteChange {
    /// The function and its line.
    #[serde(flatten)]
    pub place: Frame,
    /// The number of its live objects before, estimated unless it is exact.
    pub count_before: u64,
    /// The same after.
    pub count_after: u64,
    /// The number after less the number before.
    pub count_change: i64,
    /// The shallow size of its live objects before, in bytes.
    pub size_before: u64,
    /// The same after.
    pub size_after: u64,
    /// The size after less the size before.
    pub size_change: i64,
    /// The standard error of `size_change`; 0 if it is exact.
    pub size_error: u64,
}

/// Compares what of each line was alive at two moments of a run.
pub fn site_growth(before: &AllocationSites, after: &AllocationSites) -> SiteGrowth {
    let mut lines: BTreeMap<(&str, u32, &str), [Option<&AllocationSite>; 2]> = BTreeMap::new();
    for (moment, answer) in [before, after].into_iter().enumerate() {
        for site in answer.sites.iter().filter(|site| site.samples > 0) {
            lines.entry(line_of(&site.place)).or_default()[moment] = Some(site);
        }
    }
    let mut sites: Vec<SiteChange> = lines.values().filter_map(|sites| change(*sites)).collect();
    sites.sort_by(|one, other| {
        let key = |site: &SiteChange| (site.size_change, site.count_change);
        key(other)
            .cmp(&key(one))
            .then_with(|| line_of(&one.place).cmp(&line_of(&other.place)))
    });
    SiteGrowth {
        exact: before.exact && after.exact,
        live_size_before: before.total_live_size,
        live_size_after: after.total_live_size,
        sites,
    }
}

fn change([before, after]: [Option<&AllocationSite>; 2]) -> Option<SiteChange> {
    let place = after.or(before)?.place.clone();
    let counted = |site: Option<&AllocationSite>| {
        site.map_or((0, 0, 0), |site| (site.count, site.size, site.size_error))
    };
    let (count_before, size_before, error_before) = counted(before);
    let (count_after, size_after, error_after) = counted(after);
    let change = |before: u64, after: u64| (i128::from(after) - i128::from(before)) as i64;
    Some(SiteChange {
        place,
        count_before,
        count_after,
        count_change: change(count_before, count_after),
        size_before,
        size_after,
        size_change: change(size_before, size_after),
        size_error: (error_before as f64).hypot(error_after as f64).round() as u64,
    })
}

fn damaged(what: &str) -> Error {
    Error::Profile {
        message: format!("it is damaged: {what}; write it again"),
    }
}

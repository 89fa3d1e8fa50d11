//! Which lines of source allocated what is alive in a dump, by the blocks that a profiler sampled.

mod answer;
mod block_sites;
mod growth;
mod sampled;

use crate::QuestionError;
use crate::lacking::require;
use crate::loaded_heap::LoadedHeap;
pub use answer::{AllocationSite, AllocationSites, OtherObjects, SampledBlocks};
use base::columns;
use base::control::{Control, Phase};
use base::error::{Error, Result};
use base::frame::Frame;
use base::units::Address;
pub(crate) use block_sites::BlockSites;
pub use growth::{SiteChange, SiteGrowth, site_growth};
use heap::DominatorIndex;
use sampled::{BlockMatch, matched};

#[derive(Clone, Default)]
struct SiteSums {
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
/// `ERR_NOT_IN_SNAPSHOT`; [`QuestionError::Profile`] if the profile is not of the same run as the dump; [`Error::OutOfMemory`],
/// [`Error::Aborted`], [`Error::Io`].
pub fn allocation_sites(
    loaded: &LoadedHeap,
    sampled: &SampledBlocks,
    control: &Control,
) -> Result<AllocationSites> {
    let source = &*loaded.source;
    require(source, "sites", source.facts().lacks.blocks)?;
    let mut answer = AllocationSites {
        exact: sampled.interval == 1,
        interval: sampled.interval,
        total_live_size: loaded.heap.total_live_size(),
        ..AllocationSites::default()
    };
    let sums = sums_by_place(loaded, sampled, &mut answer, control)?;
    let dominators = loaded.dominator_index(control)?;
    add_sites(
        loaded,
        dominators,
        sampled.places.iter().zip(sums),
        &mut answer,
    );
    Ok(answer)
}

/// The lines that allocated what is alive, as the input itself says it: a snapshot of V8 that was written while it
/// tracked allocations.
///
/// # Errors
/// [`QuestionError::Profile`] if the input does not say it; [`Error::OutOfMemory`], [`Error::Aborted`].
pub fn recorded_sites(loaded: &LoadedHeap, control: &Control) -> Result<AllocationSites> {
    let heap = &loaded.heap;
    let Some(recorded) = loaded.source.allocation_lines() else {
        return Err(QuestionError::Profile {
            message: format!(
                "there is none, and {} does not say where objects were allocated: expected a heap profile, or a \
                 heap snapshot of V8 that was written while it tracked allocations",
                loaded.dump_name()
            ),
        }.into());
    };
    let dominators = loaded.dominator_index(control)?;
    let step = control.begin(Phase::View, heap.objects.len() as u64);
    let mut sums = vec![SiteSums::default(); recorded.lines.len()];
    let mut others = OtherObjects::default();
    for object in heap.live_heap_objects() {
        step.advance(1)?;
        let size = heap.shallow_size(object);
        let place = recorded.line_of.get(object.at()).copied();
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
    let mut answer = AllocationSites {
        exact: true,
        interval: 1,
        total_live_size: heap.total_live_size(),
        other_objects: Some(others),
        ..AllocationSites::default()
    };
    let frames: Vec<Frame> = recorded
        .lines
        .iter()
        .map(|place| Frame {
            function: place.function.clone(),
            file: place.file.clone(),
            line: place.line,
        })
        .collect();
    add_sites(loaded, dominators, frames.iter().zip(sums), &mut answer);
    Ok(answer)
}

/// The line that allocated an object; `None` if its block was not sampled.
///
/// # Errors
/// `ERR_NOT_IN_SNAPSHOT`; [`QuestionError::Profile`] if the profile is damaged; [`Error::Aborted`].
pub fn allocation_line(
    loaded: &LoadedHeap,
    sampled: &SampledBlocks,
    object: Address,
    control: &Control,
) -> Result<Option<Frame>> {
    let source = &*loaded.source;
    require(source, "sites", source.facts().lacks.blocks)?;
    let blocks = source.memory().map(|memory| memory.blocks());
    let header = blocks.map_or(0, |blocks| blocks.header);
    let step = control.begin(Phase::View, sampled.blocks.len() as u64);
    for block in sampled.blocks.chunks_exact(3) {
        let &[address, _, place] = block else {
            continue;
        };
        step.advance(3)?;
        if address.checked_add(header).map(Address) != Some(object) {
            continue;
        }
        return match sampled.places.get(place as usize) {
            Some(place) => Ok(Some(place.clone())),
            None => Err(unlisted()),
        };
    }
    Ok(None)
}

/// Adds the sites that have objects, in order.
fn add_sites<'f>(
    loaded: &LoadedHeap,
    dominators: &DominatorIndex,
    sums: impl Iterator<Item = (&'f Frame, SiteSums)>,
    answer: &mut AllocationSites,
) {
    for (place, sum) in sums {
        if sum.samples > 0 || sum.garbage != 0.0 {
            answer.sites.push(site(loaded, dominators, place, sum));
        }
    }
    answer.sites.sort_by(|one, other| {
        let key = |site: &AllocationSite| (site.retained_size, site.size, site.garbage_size);
        key(other)
            .cmp(&key(one))
            .then_with(|| line_of(&one.place).cmp(&line_of(&other.place)))
    });
}

/// What the sampled blocks of each place hold. Blocks without an object are counted in the answer.
fn sums_by_place(
    loaded: &LoadedHeap,
    sampled: &SampledBlocks,
    answer: &mut AllocationSites,
    control: &Control,
) -> Result<Vec<SiteSums>> {
    let dominators = loaded.dominator_index(control)?;
    let step = control.begin(Phase::View, sampled.blocks.len() as u64);
    let mut sums = vec![SiteSums::default(); sampled.places.len()];
    let mut differing = 0u64;
    for block in sampled.blocks.chunks_exact(3) {
        let &[address, size, place] = block else {
            continue;
        };
        step.advance(3)?;
        let object = match matched(&loaded.heap, loaded.source(), address, size) {
            BlockMatch::Object(object) => object,
            BlockMatch::OtherSize => {
                differing += 1;
                continue;
            }
            BlockMatch::Missing => {
                answer.other_blocks += 1;
                answer.other_bytes += u64::from(size);
                continue;
            }
        };
        let Some(sum) = sums.get_mut(place as usize) else {
            return Err(unlisted());
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
        return Err(QuestionError::Profile {
            message: format!(
                "{differing} of its {} blocks have another size in the dump: the profile and the dump are \
                 not of the same moment of the same run; write both without running the program between",
                sampled.blocks.len() / 3
            ),
        }.into());
    }
    Ok(sums)
}

/// A line of source, with what its samples stand for.
fn site(
    loaded: &LoadedHeap,
    dominators: &DominatorIndex,
    place: &Frame,
    sum: SiteSums,
) -> AllocationSite {
    let SiteSums {
        samples,
        mut positions,
        ..
    } = sum;
    // An object within the range of an earlier one is retained by that.
    positions.sort_unstable();
    let mut end = 0;
    let mut retained_size = 0;
    for position in positions {
        if position >= end {
            end = dominators.end(position);
            let object = dominators.object(position);
            retained_size += loaded.heap.retained_size(object);
        }
    }
    AllocationSite {
        place: place.clone(),
        samples,
        count: sum.count.round() as u64,
        size: sum.size.round() as u64,
        size_error: sum.variance.sqrt().round() as u64,
        retained_size,
        garbage_size: sum.garbage.round() as u64,
    }
}

/// What the order of lines is by.
fn line_of(place: &Frame) -> (&str, u32, &str) {
    (&place.file, place.line, &place.function)
}

fn unlisted() -> Error {
    Error::from(QuestionError::Profile {
        message: "it is damaged: a block names a place that is not listed; write it again"
            .to_owned(),
    })
}

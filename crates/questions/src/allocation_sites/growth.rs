//! Which line's live objects became more between two moments of a run.

use schemars::JsonSchema;
use std::collections::BTreeMap;

use serde::Serialize;

use super::{AllocationSite, AllocationSites, OtherObjects, line_of};
use base::frame::Frame;

/// The answer to `Heap.sites` with an earlier heap: change of the size ↓, change of the number ↓, then by line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SiteGrowthAnswer")]
pub struct SiteGrowth {
    /// Whether every allocation was recorded, so that all numbers are exact.
    pub exact: bool,
    /// The live bytes of the dump before.
    pub live_size_before: u64,
    /// The live bytes of the dump after.
    pub live_size_after: u64,
    /// Of heap snapshots of V8: live objects that were not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_objects_before: Option<OtherObjects>,
    /// The same after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_objects_after: Option<OtherObjects>,
    /// The lines with live objects at one of the moments: change of the size ↓, change of the number ↓, then file, line
    /// and function.
    pub sites: Vec<SiteChange>,
}

/// How much of what a line allocated was alive at two moments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
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
    /// The standard error of `sizeChange`; 0 if it is exact.
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
        other_objects_before: before.other_objects,
        other_objects_after: after.other_objects,
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

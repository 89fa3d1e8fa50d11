//! Lists of warnings.

use std::collections::BTreeMap;

use crate::warning::Warning;

/// The largest number of listed warnings of one code. A hostile or damaged input could cause one for
/// every global and every class.
const LISTED: u64 = 100;

/// Removes warnings after the first `LISTED` of each code, and adds a warning with their number.
pub fn shorten(warnings: &mut Vec<Warning>) {
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    warnings.retain(|warning| {
        let count = counts.entry(warning.code()).or_default();
        *count += 1;
        *count <= LISTED
    });
    let more = counts.into_iter().filter(|&(_, count)| count > LISTED);
    warnings.extend(more.map(|(code, count)| Warning::More {
        code,
        count: count - LISTED,
    }));
}

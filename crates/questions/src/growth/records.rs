//! What a test runner records of its own: the calls of mocks and spies, and what was printed. It grows with every
//! round of a test, and is no leak of what is tested.
//!
//! Records are recognised by names: by the class and the property, or by an object that has all properties of the
//! state of a mock. What a program holds elsewhere, too, is counted there as ever.

use std::collections::{HashMap, HashSet};

use super::series::Merged;
use crate::place_table::PathStart;
use base::columns;
use base::error::Result;

/// The properties that the state of a mock of vitest and of jest has; each of them is a record.
const MOCK_STATE: [&str; 5] = [
    "calls",
    "contexts",
    "instances",
    "invocationCallOrder",
    "results",
];

/// A further property of that state, which only vitest has.
const SETTLED_RESULTS: &str = "settledResults";

/// Classes of runners with their records: mocks of `node:test`, and the console of jest, which V8 names by its tag or by
/// its constructor.
const RECORDS: [(&str, &str); 3] = [
    ("MockFunctionContext", "#calls"),
    ("BufferedConsole", "_buffer"),
    ("console", "_buffer"),
];

/// By place: whether it is a record, or only a record leads there.
pub(super) fn records(merged: &Merged) -> Result<Vec<bool>> {
    let states = mock_states(merged);
    let mut is_record = columns::repeated(false, merged.places.len())?;
    // A place comes after the one that it continues.
    for (nth, place) in (0u32..).zip(&merged.places) {
        if let PathStart::Step(holder, label) = place.start {
            let class = merged.name(merged.places[holder as usize].class);
            let label = merged.name(label);
            let is_of_mock = states.contains(&holder)
                && (MOCK_STATE.contains(&label) || label == SETTLED_RESULTS);
            is_record[nth as usize] =
                is_record[holder as usize] || is_of_mock || RECORDS.contains(&(class, label));
        }
    }
    Ok(is_record)
}

/// The places whose objects have all properties of the state of a mock.
fn mock_states(merged: &Merged) -> HashSet<u32> {
    let mut found: HashMap<u32, u32> = HashMap::new();
    for place in &merged.places {
        if let PathStart::Step(holder, label) = place.start {
            let label = merged.name(label);
            if let Some(nth) = MOCK_STATE.iter().position(|&name| name == label) {
                *found.entry(holder).or_default() |= 1 << nth;
            }
        }
    }
    let all = (1 << MOCK_STATE.len()) - 1;
    let states = found.into_iter().filter(|&(_, labels)| labels == all);
    states.map(|(holder, _)| holder).collect()
}

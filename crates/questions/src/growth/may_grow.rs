//! Whether anything can still turn out to grow when only the first of the tables are there.

use super::records::records;
use super::series::Merged;
use super::trend::may_rise;
use crate::place_table::{PlaceSum, PlaceTable};
use base::control::Control;
use base::error::Result;

/// Whether [`growth`](super::growth) of `planned` tables may find anything that grows, or that is undecided, if these are
/// the first of them. Only a false answer says something: whatever the others are, nothing grows.
///
/// What was taken as moved from one place to another, and what only gained digits, may be growth in the end, so it
/// counts here.
///
/// # Errors
/// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
pub fn may_grow(
    tables: &[&PlaceTable],
    planned: u64,
    slow: bool,
    control: &Control,
) -> Result<bool> {
    let planned = usize::try_from(planned).unwrap_or(usize::MAX);
    let merged = Merged::new(tables, 0, control)?;
    let is_record = records(&merged)?;
    let may_rise = |series: &[Option<PlaceSum>]| may_rise(series, planned, slow);
    let is_of_engine = |class: u32| merged.engine_classes.contains(&class);
    let is_plain = |class: u32| merged.plain_classes.contains(&class);
    for rows in [&merged.groups, &merged.references] {
        control.check()?;
        for (row, &place) in rows.keys.iter().enumerate() {
            let is_left_out =
                is_of_engine(merged.places[place as usize].class) || is_record[place as usize];
            if !is_left_out && may_rise(rows.series(row)) {
                return Ok(true);
            }
        }
    }
    control.check()?;
    for (row, field) in merged.fields.keys.iter().enumerate() {
        let is_left_out = is_of_engine(field.holder)
            || is_of_engine(field.class)
            || is_plain(field.holder) && is_plain(field.class);
        if !is_left_out && may_rise(merged.fields.series(row)) {
            return Ok(true);
        }
    }
    for (row, &class) in merged.classes.keys.iter().enumerate() {
        let is_left_out = is_of_engine(class) || is_plain(class);
        if !is_left_out && may_rise(merged.classes.series(row)) {
            return Ok(true);
        }
    }
    Ok(may_rise(&merged.raw) || may_rise(&merged.stack))
}

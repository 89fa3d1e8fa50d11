//! What is said of the place tables themselves: their names, their warnings, and whether they are enough.

use super::answer::GrowthDump;
use crate::QuestionError;
use crate::place_table::PlaceTable;
use crate::warning::QuestionWarning;
use crate::warnings::{WarningText, objects_out_of_order};
use base::error::Result;
use base::warning::Warning;

/// Dumps below which chance can look like growth.
pub(super) const FEW_DUMPS: usize = 8;

/// Refuses tables with the bytes of two heaps.
pub(super) fn check_sums(tables: &[&PlaceTable]) -> Result<()> {
    match tables.iter().find(|table| table.is_joined) {
        Some(table) => Err(QuestionError::JoinedTable {
            dump: table.dump_name.clone(),
        }
        .into()),
        None => Ok(()),
    }
}

/// The number of dumps to ignore, if enough are left.
pub(super) fn checked_warmup(tables: &[&PlaceTable], warmup: u64) -> Result<usize> {
    let left = (tables.len() as u64).saturating_sub(warmup);
    match left {
        0 | 1 => Err(QuestionError::InvalidOption {
            name: "dumps",
            found: format!("{} with a warm-up of {warmup}", tables.len()),
            expected: "two dumps or more after the warm-up",
        }
        .into()),
        _ => Ok(warmup as usize),
    }
}

pub(super) fn is_partial(tables: &[&PlaceTable]) -> bool {
    tables.iter().any(|table| table.is_partial)
}

/// What each dump is called: by its number if all have the same name.
fn dump_names(tables: &[&PlaceTable]) -> Vec<String> {
    let first = &tables[0].dump_name;
    if tables.iter().all(|table| table.dump_name == *first) {
        (1..=tables.len())
            .map(|nth| format!("dump {nth}"))
            .collect()
    } else {
        tables.iter().map(|table| table.dump_name.clone()).collect()
    }
}

pub(super) fn dumps(tables: &[&PlaceTable]) -> Vec<GrowthDump> {
    let names = dump_names(tables).into_iter().zip(tables);
    let dumps = names.map(|(name, table)| GrowthDump {
        name,
        total_live_size: table.total_live_size,
    });
    dumps.collect()
}

/// The warnings of all dumps: those that all have once, the others with the name of the dump.
pub(super) fn warnings(tables: &[&PlaceTable]) -> Vec<WarningText> {
    let is_everywhere =
        |warning: &WarningText| tables.iter().all(|table| table.warnings.contains(warning));
    let shared = tables[0].warnings.iter().filter(|one| is_everywhere(one));
    let mut warnings: Vec<WarningText> = shared.cloned().collect();
    let names = dump_names(tables);
    for (name, table) in names.iter().zip(tables) {
        let own = table.warnings.iter().filter(|one| !is_everywhere(one));
        warnings.extend(own.map(|warning| warning.clone().in_dump(name)));
    }
    for (nth, pair) in tables.windows(2).enumerate() {
        if pair[0].module_hash == pair[1].module_hash && pair[1].total_size < pair[0].total_size {
            let shrank = Warning::MemoryShrank {
                before: pair[0].total_size,
                after: pair[1].total_size,
            };
            warnings.push(WarningText::from(&shrank).in_dump(&names[nth + 1]));
        }
    }
    warnings.extend(out_of_order(tables, &names));
    warnings
}

/// The first two dumps of each kind that contradict the order: by the numbers in their names, and by their objects.
fn out_of_order(tables: &[&PlaceTable], names: &[String]) -> Vec<WarningText> {
    let mut pairs = names.windows(2);
    let by_name = pairs.find(|pair| numbers_fall(&pair[0], &pair[1]));
    let by_name = by_name.map(|pair| {
        WarningText::from(
            &QuestionWarning::NamesOutOfOrder {
                before: pair[0].clone(),
                after: pair[1].clone(),
            }
            .into(),
        )
    });
    let mut pairs = names.windows(2).zip(tables.windows(2));
    let by_object = pairs.find_map(|(names, pair)| {
        objects_out_of_order([&names[0], &names[1]], [pair[0].newest, pair[1].newest])
    });
    by_name.into_iter().chain(by_object).collect()
}

/// Whether two names differ in numbers alone, and the first number that differs falls.
fn numbers_fall(before: &str, after: &str) -> bool {
    let [before, after] = [before, after].map(name_parts);
    let is_number = |part: &str| part.starts_with(|first: char| first.is_ascii_digit());
    let is_same_shape = before.len() == after.len()
        && before
            .iter()
            .zip(&after)
            .all(|(one, other)| one == other || is_number(one) && is_number(other));
    let numbers = before
        .iter()
        .zip(&after)
        .filter(|(part, _)| is_number(part));
    // Without zeros at the start, the longer number is the greater one.
    let key = |part: &str| {
        let digits = part.trim_start_matches('0').to_owned();
        (digits.len(), digits)
    };
    is_same_shape
        && numbers
            .map(|(one, other)| key(one).cmp(&key(other)))
            .find(|order| order.is_ne())
            .is_some_and(std::cmp::Ordering::is_gt)
}

/// A name as numbers and what is between them.
fn name_parts(name: &str) -> Vec<&str> {
    let bytes = name.as_bytes();
    let is_start =
        |&at: &usize| at == 0 || bytes[at - 1].is_ascii_digit() != bytes[at].is_ascii_digit();
    let starts: Vec<usize> = (0..bytes.len()).filter(is_start).collect();
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    let parts = starts.iter().zip(ends);
    parts.map(|(&start, end)| &name[start..end]).collect()
}

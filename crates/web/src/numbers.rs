//! Columns of numbers as bytes, which JavaScript reads without parsing.

use base::columns;
use base::error::Result;
use engine::heap::views::{InstanceColumns, NumberColumn};

/// The number of new objects (all, if nothing is compared), and the columns one after the other: addresses, shallow sizes,
/// retained sizes. Each number is a little-endian `f64`, which holds whole numbers up to 2^53.
///
/// # Errors
/// [`base::Error::OutOfMemory`].
pub(crate) fn bytes_of(columns: &InstanceColumns, new_count: usize) -> Result<Vec<u8>> {
    let all = [
        &columns.addresses,
        &columns.shallow_sizes,
        &columns.retained_sizes,
    ];
    let count: usize = all.iter().map(|column| length(column)).sum();
    let mut bytes = columns::with_capacity((count + 1) * size_of::<f64>())?;
    bytes.extend((new_count as f64).to_le_bytes());
    for column in all {
        match column {
            NumberColumn::Narrow(numbers) => {
                bytes.extend(
                    numbers
                        .iter()
                        .flat_map(|&number| f64::from(number).to_le_bytes()),
                );
            }
            NumberColumn::Wide(numbers) => {
                bytes.extend(
                    numbers
                        .iter()
                        .flat_map(|&number| (number as f64).to_le_bytes()),
                );
            }
        }
    }
    Ok(bytes)
}

fn length(column: &NumberColumn) -> usize {
    match column {
        NumberColumn::Narrow(numbers) => numbers.len(),
        NumberColumn::Wide(numbers) => numbers.len(),
    }
}

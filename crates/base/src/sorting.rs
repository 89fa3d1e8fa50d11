//! Sorting that can be cancelled.

use std::cmp::Ordering;

use crate::columns;
use crate::control::Control;
use crate::error::Result;

/// How many values are sorted or merged between two checks for cancellation.
const PIECE: usize = 1 << 12;

/// The values in order; equal ones in their order before. A comparison cannot stop the sort of the standard library,
/// so pieces of the values are sorted by it, and then merged.
///
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Aborted`](crate::Error::Aborted).
pub fn sorted_by<T>(
    mut values: Vec<T>,
    compare: impl Fn(&T, &T) -> Ordering,
    control: &Control,
) -> Result<Vec<T>> {
    if values.len() <= PIECE {
        control.count(values.len() as u64)?;
        values.sort_by(compare);
        return Ok(values);
    }
    let order = sorted_order(
        values.len(),
        |left, right| compare(&values[left as usize], &values[right as usize]),
        control,
    )?;
    let mut unsorted: Vec<Option<T>> = columns::collected(values.into_iter().map(Some))?;
    let mut sorted = columns::with_capacity(order.len())?;
    sorted.extend(
        order
            .iter()
            .filter_map(|&nth| unsorted[nth as usize].take()),
    );
    Ok(sorted)
}

/// The positions of values in their order.
fn sorted_order(
    count: usize,
    compare: impl Fn(u32, u32) -> Ordering,
    control: &Control,
) -> Result<Vec<u32>> {
    let mut order: Vec<u32> = columns::collected(0..count as u32)?;
    for piece in order.chunks_mut(PIECE) {
        control.count(piece.len() as u64)?;
        piece.sort_by(|&left, &right| compare(left, right));
    }
    let mut merged: Vec<u32> = columns::with_capacity(count)?;
    let mut width = PIECE;
    while width < count {
        merged.clear();
        for pair in order.chunks(2 * width) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
            for nth in 0..pair.len() {
                if nth.is_multiple_of(PIECE) {
                    control.count(PIECE as u64)?;
                }
                let is_left = match (left.peek(), right.peek()) {
                    (Some(&&left), Some(&&right)) => compare(left, right).is_le(),
                    (left, _) => left.is_some(),
                };
                merged.extend(if is_left { left.next() } else { right.next() });
            }
        }
        std::mem::swap(&mut order, &mut merged);
        width *= 2;
    }
    Ok(order)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn sorts_as_the_standard_library_does() {
        for count in [
            0,
            1,
            PIECE,
            PIECE + 1,
            3 * PIECE,
            4 * PIECE - 1,
            5 * PIECE + 7,
        ] {
            for different in [1, 7, 1 << 20] {
                let values =
                    (0..count as u64).map(|nth| nth.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40);
                let mut expected: Vec<_> =
                    values.map(|value| value % different).enumerate().collect();
                let by_value = |left: &(usize, u64), right: &(usize, u64)| left.1.cmp(&right.1);
                let sorted = sorted_by(expected.clone(), by_value, &Control::default()).unwrap();
                expected.sort_by(by_value);
                assert_eq!(sorted, expected);
            }
        }
    }

    #[test]
    fn ends_within_a_piece_after_it_was_cancelled() {
        let values: Vec<u32> = (0..1 << 20).rev().collect();
        let whole = Control::default();
        sorted_by(values.clone(), u32::cmp, &whole).unwrap();
        for part in 1..8 {
            let control = Control::cancelling_after(whole.work() * part / 8);
            let result = sorted_by(values.clone(), u32::cmp, &control);
            assert!(matches!(result, Err(Error::Aborted)));
            assert!(control.work() <= whole.work() * part / 8 + PIECE as u64);
        }
    }
}

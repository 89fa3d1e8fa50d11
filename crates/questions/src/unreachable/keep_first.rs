//! The first of many values.

use std::cmp::Ordering;

/// Keeps the first of these values by a total order, sorted.
pub(super) fn keep_first<T>(values: &mut Vec<T>, count: usize, order: impl Fn(&T, &T) -> Ordering) {
    if count < values.len() {
        values.select_nth_unstable_by(count, &order);
        values.truncate(count);
    }
    values.sort_unstable_by(order);
}

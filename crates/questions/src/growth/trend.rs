//! Whether a row of numbers grows.

use crate::place_table::Sum;

/// Dumps that a place needs in which something could hold its objects; all, if there are fewer.
const ENOUGH: usize = 7;

/// What strings may gain each without growth, in bytes: a number in them that gets three more digits.
const DIGITS: u64 = 6;

/// Which way a place goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trend {
    Rises,
    Falls,
    Neither,
}

/// Which way the sums of a place go: `None` where a dump has nothing that could hold its objects. Counts come
/// before bytes. It rises if every sum is greater than the one before; with `slow` it is enough that none is
/// less, and each is greater than the one before the last.
pub(super) fn trend(series: &[Option<Sum>], slow: bool) -> Trend {
    let sums: Vec<Sum> = series.iter().copied().flatten().collect();
    if sums.len() < 2 || sums.len() < series.len().min(ENOUGH) {
        return Trend::Neither;
    }
    let is = |ordered: fn(&Sum, &Sum) -> bool, or_equal: fn(&Sum, &Sum) -> bool| {
        let holds = |distance: usize, ordered: fn(&Sum, &Sum) -> bool| {
            let later = sums.iter().skip(distance);
            sums.iter()
                .zip(later)
                .all(|(sum, later)| ordered(sum, later))
        };
        match slow && sums.len() > 2 {
            true => holds(1, or_equal) && holds(2, ordered),
            false => holds(1, ordered),
        }
    };
    if is(Sum::lt, Sum::le) {
        return Trend::Rises;
    }
    match is(Sum::gt, Sum::ge) {
        true => Trend::Falls,
        false => Trend::Neither,
    }
}

/// Whether as many strings as before gain no more than three digits each. In a cache of keys that are numbered, each
/// key that replaces an older one can be longer, dump after dump.
pub(super) fn gains_digits(series: &[Option<Sum>]) -> bool {
    let bytes = |sum: &Sum| sum.bytes;
    let mut sums = series.iter().flatten();
    let Some(first) = sums.next() else {
        return false;
    };
    let most = sums.map(bytes).max().unwrap_or_default();
    has_equal_counts(series) && most.saturating_sub(first.bytes) <= first.count * DIGITS
}

/// Whether the number of objects is the same in all dumps that count.
pub(super) fn has_equal_counts(series: &[Option<Sum>]) -> bool {
    let mut counts = series.iter().flatten().map(|sum| sum.count);
    let first = counts.next();
    counts.all(|count| Some(count) == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(sums: &[(u64, u64)]) -> Vec<Option<Sum>> {
        let sums = sums.iter();
        sums.map(|&(count, bytes)| Some(Sum { count, bytes }))
            .collect()
    }

    fn counts(counts: &[u64]) -> Vec<Option<Sum>> {
        let counts = counts.iter();
        counts.map(|&count| Some(Sum { count, bytes: 0 })).collect()
    }

    #[test]
    fn a_count_that_rises_in_every_interval_grows() {
        assert_eq!(trend(&counts(&[1, 2, 5, 6]), false), Trend::Rises);
        assert_eq!(trend(&counts(&[1, 2, 2, 6]), false), Trend::Neither);
        assert_eq!(trend(&counts(&[1, 2, 1, 6]), false), Trend::Neither);
        assert_eq!(trend(&counts(&[9, 4, 3, 0]), false), Trend::Falls);
    }

    #[test]
    fn bytes_count_where_the_number_of_objects_is_equal() {
        assert_eq!(
            trend(&series(&[(1, 6), (1, 12), (1, 18)]), false),
            Trend::Rises
        );
        assert_eq!(
            trend(&series(&[(1, 6), (2, 3), (2, 4)]), false),
            Trend::Rises
        );
        assert_eq!(
            trend(&series(&[(2, 6), (1, 12), (1, 18)]), false),
            Trend::Neither
        );
    }

    #[test]
    fn slow_growth_rises_over_every_two_intervals_and_never_falls() {
        for slow in [&[1, 1, 2, 2, 3, 3], &[1, 2, 2, 3, 3, 4]] {
            assert_eq!(trend(&counts(slow), true), Trend::Rises);
            assert_eq!(trend(&counts(slow), false), Trend::Neither);
        }
        assert_eq!(trend(&counts(&[1, 1, 1, 2, 2, 3]), true), Trend::Neither);
        assert_eq!(trend(&counts(&[1, 3, 2, 4, 5, 6]), true), Trend::Neither);
        assert_eq!(trend(&counts(&[3, 3, 2, 2, 1, 1]), true), Trend::Falls);
        assert_eq!(trend(&counts(&[1, 1]), true), Trend::Neither);
    }

    #[test]
    fn dumps_without_a_holder_do_not_count_and_few_others_are_not_enough() {
        let mut sums = counts(&[1, 2, 3, 4, 5, 6, 7]);
        sums.insert(3, None);
        assert_eq!(trend(&sums, false), Trend::Rises);
        sums[0] = None;
        assert_eq!(trend(&sums, false), Trend::Neither);
        assert_eq!(trend(&[None, counts(&[1])[0]], false), Trend::Neither);
    }

    #[test]
    fn strings_that_gain_digits_are_told_from_a_string_that_grows() {
        let keys = series(&[(60, 420), (60, 440), (60, 470), (60, 780)]);
        assert!(gains_digits(&keys));
        assert!(!gains_digits(&series(&[(60, 420), (60, 440), (60, 781)])));
        assert!(!gains_digits(&series(&[(1, 6), (1, 12), (1, 18)])));
        assert!(!gains_digits(&series(&[(60, 420), (61, 421)])));
    }

    #[test]
    fn one_dump_does_not_grow() {
        assert_eq!(trend(&counts(&[1]), false), Trend::Neither);
        assert_eq!(trend(&[], true), Trend::Neither);
    }
}

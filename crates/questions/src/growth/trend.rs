//! Whether a row of numbers grows.
//!
//! A place grows if it rises in every interval. Two kinds of steady places rise as often: strings whose numbers gain
//! digits, and what is still filling. The first are recognised by what each string gains, from the dump on in which
//! their number stopped. Of the second, those that have stopped by the last dumps, or that slow down, are *undecided*:
//! more dumps would tell.

use crate::place_table::PlaceSum;

/// What growth is about: counts, then the bytes of contents. What is retained grows in jumps, as the blocks of
/// containers do.
type TrendKey = (u64, u64);

fn key(sum: &PlaceSum) -> TrendKey {
    (sum.count, sum.bytes)
}

/// In how many dumps something must be able to hold the objects of a place; in all, if there are fewer dumps.
const ENOUGH: usize = 7;

/// By how many characters a text may become longer without growth: a number in it gains up to three digits.
const DIGITS: u64 = 3;

/// How many intervals without growth at the end, after growth in all intervals before, mean that a place does not grow.
const STOPPED: usize = 3;

/// By how much a place must grow in its first interval before the intervals can say that it slows down. Small numbers
/// fall by chance.
const LEAST_TO_SLOW: u64 = 8;

/// How much each of the equal intervals must add, for a smaller last one to be the rest up to a limit.
const LEAST_TO_FILL: u64 = 4;

/// How many equal intervals at the end mean that a place grows steadily, however fast it grew before.
const STEADY: usize = 3;

/// How many times as fast texts must have grown before they only gain digits.
const FASTER: u64 = 4;

/// Intervals that are needed to see growth stop or slow down.
const LEAST_INTERVALS: usize = 4;

/// Which way a place goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trend {
    Rises,
    Falls,
    /// It rose at first.
    Undecided(Undecided),
    Neither,
}

/// Why it is undecided whether something grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Undecided {
    /// It grew in every interval up to the dump at this position, and not after it.
    Stopped(usize),
    /// It grew in every interval, but in none by more than in the one before, as what fills up does.
    Slows,
}

/// How a trend is looked for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TrendOptions {
    /// Whether it is enough that none is less, and each is greater than the one before the last.
    pub(super) slow: bool,
    /// The bytes of a character, if the objects are texts or may be some.
    pub(super) character: Option<u64>,
}

/// Which way the sums of a place go: `None` where a dump has nothing that could hold its objects. Counts come
/// before bytes. It rises if every sum is greater than the one before; with `slow` it is enough that none is
/// less, and each is greater than the one before the last.
pub(super) fn trend(series: &[Option<PlaceSum>], options: TrendOptions) -> Trend {
    let (positions, sums): (Vec<usize>, Vec<PlaceSum>) = series
        .iter()
        .enumerate()
        .filter_map(|(position, sum)| Some((position, (*sum)?)))
        .unzip();
    if sums.len() < 2 || sums.len() < series.len().min(ENOUGH) {
        return Trend::Neither;
    }
    let rises = holds(&sums, options.slow, TrendKey::lt, TrendKey::le);
    if rises && gains_digits(series, options.character) {
        return Trend::Neither;
    }
    match stop(&sums, options) {
        Some(stop) if sums.len() - 1 - stop >= STOPPED => return Trend::Neither,
        Some(stop) => return Trend::Undecided(Undecided::Stopped(positions[stop])),
        None => {}
    }
    if rises {
        return if slows_down(&sums) {
            Trend::Undecided(Undecided::Slows)
        } else {
            Trend::Rises
        };
    }
    if holds(&sums, options.slow, TrendKey::gt, TrendKey::ge) {
        Trend::Falls
    } else {
        Trend::Neither
    }
}

/// Whether a row of `planned` numbers that begins like this may rise or be undecided. With fewer than three numbers,
/// or only two to come, it always may.
pub(super) fn may_rise(beginning: &[Option<PlaceSum>], planned: usize, slow: bool) -> bool {
    let enough = planned.min(ENOUGH);
    let known = beginning.len();
    let missing_at_most = planned - enough;
    // An undecided place rises up to one of the last numbers.
    if known < STOPPED || known + STOPPED - 1 > enough || known <= missing_at_most {
        return true;
    }
    let sums: Vec<PlaceSum> = beginning.iter().copied().flatten().collect();
    let missing = known - sums.len();
    let slow_pair = slow && sums.len() == 2;
    missing <= missing_at_most
        && (slow_pair || holds(&sums, slow, TrendKey::lt, TrendKey::le))
        && (!slow_pair || key(&sums[0]) <= key(&sums[1]))
}

fn holds(
    sums: &[PlaceSum],
    slow: bool,
    ordered: fn(&TrendKey, &TrendKey) -> bool,
    or_equal: fn(&TrendKey, &TrendKey) -> bool,
) -> bool {
    let holds = |distance: usize, ordered: fn(&TrendKey, &TrendKey) -> bool| {
        let later = sums.iter().skip(distance);
        sums.iter()
            .zip(later)
            .all(|(sum, later)| ordered(&key(sum), &key(later)))
    };
    if slow && sums.len() > 2 {
        holds(1, or_equal) && holds(2, ordered)
    } else {
        holds(1, ordered)
    }
}

/// The position of the dump after which a place did not grow any more, if it grew in every interval up to there.
///
/// In a full cache of keys that are numbered, each key that replaces an older one can be longer, dump after dump, so
/// strings may gain digits after it.
fn stop(sums: &[PlaceSum], TrendOptions { slow, character }: TrendOptions) -> Option<usize> {
    let last = *sums.last()?;
    let from_equal = |key: fn(&PlaceSum) -> TrendKey| {
        let equal = sums.iter().rev().take_while(|sum| key(sum) == key(&last));
        sums.len() - equal.count()
    };
    // Where the number of objects is as in the end.
    let of_count = from_equal(|sum| (sum.count, 0));
    let stop = match only_digits_from(sums, of_count, character) {
        Some(stop) => stop,
        None => from_equal(key),
    };
    let tail = sums.len() - 1 - stop;
    // With `slow`, an interval without growth is expected.
    let is_long_enough = tail > usize::from(slow);
    let is_series = sums.len() > LEAST_INTERVALS && stop > 0;
    (is_long_enough && is_series && holds(&sums[..=stop], slow, TrendKey::lt, TrendKey::le))
        .then_some(stop)
}

/// The position of the dump from which on as many texts as in the end, which are there from `of_count` on, only gain
/// digits: where their number stopped, or one text among them that grew much faster, such as a log with a limit.
fn only_digits_from(sums: &[PlaceSum], of_count: usize, character: Option<u64>) -> Option<usize> {
    let last = sums.last()?;
    let allowed = digits(last.count, character);
    (of_count.max(1)..sums.len()).find(|&position| {
        let most = sums[position..].iter().map(|sum| sum.bytes).max();
        let gained = most
            .unwrap_or_default()
            .saturating_sub(sums[position].bytes);
        let before = sums[position].bytes.saturating_sub(sums[0].bytes);
        let [intervals, intervals_before] = [sums.len() - 1 - position, position].map(|n| n as u64);
        let has_slowed = gained
            .saturating_mul(intervals_before)
            .saturating_mul(FASTER)
            <= before.saturating_mul(intervals);
        gained <= allowed && (position == of_count || has_slowed)
    })
}

/// Whether a place that rises in every interval adds less and less, or less in the last interval after adding the
/// same in all others. A leak of random amounts seldom does the first, and one of equal amounts never the second,
/// nor does it where a cache was filled at the same place before.
fn slows_down(sums: &[PlaceSum]) -> bool {
    if sums.len() <= LEAST_INTERVALS {
        return false;
    }
    let added = |value: fn(&PlaceSum) -> u64| -> Vec<u64> {
        let pairs = sums.windows(2);
        pairs
            .map(|pair| value(&pair[1]).saturating_sub(value(&pair[0])))
            .collect()
    };
    let counts = added(|sum| sum.count);
    // Where objects came at first and only their contents grow in the end, neither says that growth slows down.
    let intervals_without = counts.iter().filter(|&&count| count == 0).count();
    let added = match intervals_without {
        0 => counts,
        all if all == counts.len() => added(|sum| sum.bytes),
        _ => return false,
    };
    let (Some((&last, before)), Some(&first)) = (added.split_last(), added.first()) else {
        return false;
    };
    let never_adds_more = added.windows(2).all(|pair| pair[1] <= pair[0]);
    let has_slowed = first >= LEAST_TO_SLOW && last <= first / 2;
    let fills = first >= LEAST_TO_FILL && last < first && before.iter().all(|&one| one == first);
    let is_steady = added.len() > STEADY && added.iter().rev().take(STEADY).all(|&one| one == last);
    (never_adds_more && has_slowed && !is_steady) || fills
}

/// Whether as many strings as before gain no more than three digits each.
fn gains_digits(series: &[Option<PlaceSum>], character: Option<u64>) -> bool {
    let bytes = |sum: &PlaceSum| sum.bytes;
    let mut sums = series.iter().flatten();
    let Some(first) = sums.next() else {
        return false;
    };
    let most = sums.map(bytes).max().unwrap_or_default();
    let gained = most.saturating_sub(first.bytes);
    has_equal_counts(series) && gained <= digits(first.count, character)
}

/// By how many bytes this number of texts may grow together when numbers in them gain digits.
fn digits(count: u64, character: Option<u64>) -> u64 {
    // A table that was read from bytes can have any numbers.
    let each = DIGITS.saturating_mul(character.unwrap_or_default());
    count.saturating_mul(each)
}

/// Whether the number of objects is the same in all dumps that count.
pub(super) fn has_equal_counts(series: &[Option<PlaceSum>]) -> bool {
    let mut counts = series.iter().flatten().map(|sum| sum.count);
    let first = counts.next();
    counts.all(|count| Some(count) == first)
}

#[cfg(test)]
mod tests {
    use super::{Trend, Undecided, gains_digits, may_rise};
    use crate::place_table::PlaceSum;

    fn trend(series: &[Option<PlaceSum>], slow: bool) -> Trend {
        let character = None;
        super::trend(series, super::TrendOptions { slow, character })
    }

    fn trend_of_texts(series: &[Option<PlaceSum>]) -> Trend {
        let (slow, character) = (false, Some(2));
        super::trend(series, super::TrendOptions { slow, character })
    }

    fn series(sums: &[(u64, u64)]) -> Vec<Option<PlaceSum>> {
        let sums = sums.iter();
        sums.map(|&(count, bytes)| {
            Some(PlaceSum {
                count,
                bytes,
                retained: 0,
                objects: 0,
            })
        })
        .collect()
    }

    fn counts(counts: &[u64]) -> Vec<Option<PlaceSum>> {
        let counts = counts.iter();
        counts
            .map(|&count| {
                Some(PlaceSum {
                    count,
                    ..PlaceSum::default()
                })
            })
            .collect()
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
        assert_eq!(
            trend(&counts(&[1, 1, 2, 2, 3, 3, 3]), true),
            Trend::Undecided(Undecided::Stopped(4))
        );
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
        assert!(gains_digits(&keys, Some(2)));
        assert!(!gains_digits(
            &series(&[(60, 420), (60, 440), (60, 781)]),
            Some(2)
        ));
        assert!(!gains_digits(&series(&[(1, 6), (1, 12), (1, 18)]), Some(2)));
        assert!(!gains_digits(&series(&[(60, 420), (61, 421)]), Some(2)));
        assert!(gains_digits(&keys, Some(u64::MAX)));
    }

    /// All rows of this length over few numbers.
    fn rows(length: u32) -> impl Iterator<Item = Vec<Option<PlaceSum>>> {
        let values = [None, Some((1, 0)), Some((1, 9)), Some((2, 0)), Some((3, 1))];
        let sum = |(count, bytes)| PlaceSum {
            count,
            bytes,
            retained: 0,
            objects: 0,
        };
        (0..values.len().pow(length)).map(move |row| {
            let digit = |nth| values[row / values.len().pow(nth) % values.len()].map(sum);
            (0..length).map(digit).collect()
        })
    }

    #[test]
    fn what_may_not_rise_by_its_beginning_neither_rises_nor_is_undecided() {
        let mut refused = 0;
        for length in 2..=6 {
            for row in rows(length) {
                for slow in [false, true] {
                    let is_open = |known: &usize| !may_rise(&row[..*known], row.len(), slow);
                    let Some(known) = (1..=row.len()).find(is_open) else {
                        continue;
                    };
                    refused += 1;
                    for character in [None, Some(2)] {
                        let found = super::trend(&row, super::TrendOptions { slow, character });
                        assert!(
                            matches!(found, Trend::Falls | Trend::Neither),
                            "{row:?} {found:?} after {known}"
                        );
                    }
                }
            }
        }
        assert!(refused > 1000);
    }

    #[test]
    fn eight_numbers_are_decided_by_three_that_do_not_rise() {
        assert!(may_rise(&counts(&[1, 2]), 8, false));
        assert!(may_rise(&counts(&[1, 2, 3]), 8, false));
        assert!(!may_rise(&counts(&[1, 2, 2]), 8, false));
        assert!(may_rise(&counts(&[1, 2, 2]), 8, true));
        assert!(!may_rise(&counts(&[2, 2, 2]), 8, true));
        assert!(!may_rise(&counts(&[1, 2, 3, 4, 4]), 8, false));
        // One of the last numbers may stay.
        assert!(may_rise(&counts(&[1, 2, 3, 4, 5, 5]), 8, false));
        // One may be missing, and of a hundred nearly all.
        assert!(may_rise(
            &[None, counts(&[1])[0], counts(&[2])[0]],
            8,
            false
        ));
        assert!(may_rise(&counts(&[1, 1, 1]), 100, false));
        assert!(!may_rise(&counts(&[1, 1, 1]), 5, false));
        assert!(may_rise(&counts(&[1, 1, 1]), 4, false));
    }

    #[test]
    fn one_dump_does_not_grow() {
        assert_eq!(trend(&counts(&[1]), false), Trend::Neither);
        assert_eq!(trend(&[], true), Trend::Neither);
    }

    #[test]
    fn a_ring_that_is_full_does_not_grow_while_its_strings_gain_digits() {
        let ring: Vec<_> = [90, 120, 128, 128, 128, 128, 128, 128]
            .into_iter()
            .zip([1440, 1920, 2072, 2102, 2132, 2162, 2192, 2222])
            .collect();
        assert_eq!(trend_of_texts(&series(&ring)), Trend::Neither);
        // Of other objects, as many bytes are growth.
        assert_eq!(trend(&series(&ring), false), Trend::Rises);
        let mut text = ring.clone();
        text[7].1 += 1000;
        assert_eq!(trend_of_texts(&series(&text)), Trend::Rises);
    }

    #[test]
    fn a_log_with_a_limit_does_not_grow_while_strings_beside_it_gain_digits() {
        let of_count = |count: u64, bytes: &[u64]| {
            let sums: Vec<_> = bytes.iter().map(|&bytes| (count, bytes)).collect();
            series(&sums)
        };
        let log = of_count(67, &[5474, 6542, 7644, 8470, 8474, 8476, 8478, 8490]);
        assert_eq!(trend_of_texts(&log), Trend::Neither);
        assert_eq!(trend(&log, false), Trend::Rises);
        let late = of_count(67, &[1000, 2000, 3000, 4000, 5000, 6000, 6020, 6030]);
        assert_eq!(
            trend_of_texts(&late),
            Trend::Undecided(Undecided::Stopped(5))
        );
        // The bytes of a text that grows by equal or random amounts rise, among as many others.
        let steady = [0, 64, 128, 192, 256, 320, 384, 448].map(|bytes| 5000 + bytes);
        assert_eq!(trend_of_texts(&of_count(67, &steady)), Trend::Rises);
        let random = [0, 500, 740, 900, 1400, 1590, 1660, 1900].map(|bytes| 5000 + bytes);
        assert_eq!(trend_of_texts(&of_count(67, &random)), Trend::Rises);
        let long: Vec<u64> = (0..40).map(|nth| 5000 + 64 * nth).collect();
        assert_eq!(trend_of_texts(&of_count(67, &long)), Trend::Rises);
    }

    #[test]
    fn what_grows_steadily_after_a_cache_at_its_place_is_full_rises() {
        let leak = counts(&[111, 143, 174, 205, 228, 235, 242, 249]);
        assert_eq!(trend(&leak, false), Trend::Rises);
        let full_late = counts(&[54, 72, 90, 108, 125, 139, 148, 149]);
        assert_eq!(trend(&full_late, false), Trend::Undecided(Undecided::Slows));
    }

    #[test]
    fn what_stopped_growing_in_the_last_intervals_is_undecided() {
        let stopped = |position| Trend::Undecided(Undecided::Stopped(position));
        assert_eq!(trend(&counts(&[1, 2, 3, 4, 5, 6, 7, 7]), false), stopped(6));
        assert_eq!(trend(&counts(&[1, 2, 3, 4, 5, 6, 6, 6]), false), stopped(5));
        assert_eq!(
            trend(&counts(&[1, 2, 3, 4, 5, 5, 5, 5]), false),
            Trend::Neither
        );
        let ring = series(&[(30, 0), (60, 0), (90, 0), (120, 0), (128, 0), (128, 20)]);
        assert_eq!(trend_of_texts(&ring), stopped(4));
        let mut sums = counts(&[1, 2, 3, 4, 5, 6, 7, 7]);
        sums.insert(0, None);
        assert_eq!(trend(&sums, false), stopped(7));
    }

    #[test]
    fn what_adds_less_and_less_is_undecided() {
        let slows = Trend::Undecided(Undecided::Slows);
        assert_eq!(
            trend(&counts(&[72, 98, 118, 134, 147, 158, 166, 173]), false),
            slows
        );
        assert_eq!(
            trend(&counts(&[30, 40, 50, 60, 70, 80, 90, 93]), false),
            slows
        );
        let log = series(&[(1, 10), (1, 110), (1, 210), (1, 310), (1, 410), (1, 470)]);
        assert_eq!(trend(&log, false), slows);
        assert_eq!(
            trend(&counts(&[2, 4, 6, 8, 10, 12, 14, 15]), false),
            Trend::Rises
        );
        assert_eq!(
            trend(&counts(&[9, 22, 30, 41, 60, 63, 70, 72]), false),
            Trend::Rises
        );
    }
}

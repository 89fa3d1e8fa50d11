//! Whether a group of numbers can be addresses of pinned objects by chance.

use heap::{EvidenceKind, HolderEvidence};

/// The part of the different values of a group that must be addresses of pinned objects. Chance alone is not enough of
/// a test: of 10,000 multiples of 16, one fifth were, in a program that had nothing to do with them.
const LEAST_SHARE: f64 = 0.9;
/// The probability below which a group does not count as chance, for all groups that a slot is in together.
const LIMIT: f64 = 1e-6;
/// How many groups a slot is in at most: its container, all containers that one slot holds, its index in these, and its
/// index modulo 2, 3, … 8.
pub(crate) const GROUPS_OF_SLOT: usize = 10;

/// What one group of slots has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupCount {
    /// The number of different values, without 0 and −1.
    pub(crate) values: u64,
    /// Those that are the address of a pinned object.
    pub(crate) hits: u64,
}

/// A bound of the natural logarithm of the probability that at least `hits` of `values` independent numbers are
/// addresses of pinned objects, if each is with probability `density` (Chernoff).
pub(crate) fn tail(GroupCount { values, hits }: GroupCount, density: f64) -> f64 {
    let (n, h) = (values as f64, hits as f64);
    if hits == 0 || h <= density * n {
        return 0.0;
    }
    let share = h / n;
    let misses = if hits >= values {
        0.0
    } else {
        (1.0 - share) * ((1.0 - share) / (1.0 - density)).ln()
    };
    -n * (share * (share / density).ln() + misses)
}

/// The evidence of a group that is no chance.
pub(crate) fn derived(count: GroupCount, density: f64) -> Option<HolderEvidence> {
    let is_pure = count.hits as f64 >= LEAST_SHARE * count.values as f64;
    let is_rare = tail(count, density) < (LIMIT / GROUPS_OF_SLOT as f64).ln();
    (is_pure && is_rare).then_some(HolderEvidence {
        kind: EvidenceKind::Derived,
        hits: count.hits,
        values: count.values,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn least_full(density: f64) -> u64 {
        let is_enough = |n: &u64| {
            derived(
                GroupCount {
                    values: *n,
                    hits: *n,
                },
                density,
            )
            .is_some()
        };
        (1..100).find(is_enough).unwrap_or_default()
    }

    #[test]
    fn fewer_values_are_enough_where_pins_are_rare() {
        assert_eq!(least_full(0.01), 4);
        assert_eq!(least_full(0.05), 6);
        assert_eq!(least_full(0.145), 9);
    }

    #[test]
    fn a_fifth_of_many_values_is_rare_and_still_no_evidence() {
        let count = GroupCount {
            values: 10_000,
            hits: 2_010,
        };
        assert!(tail(count, 0.145) < -100.0);
        assert_eq!(derived(count, 0.145), None);
    }

    #[test]
    fn the_bound_is_not_below_the_probability() {
        for (values, hits, density) in [(6_u32, 6_u32, 0.2_f64), (8, 7, 0.3), (20, 18, 0.5)] {
            let choose = |k: u32| {
                (0..k).fold(1.0, |product, nth| {
                    product * f64::from(values - nth) / f64::from(nth + 1)
                })
            };
            let exact: f64 = (hits..=values)
                .map(|k| {
                    choose(k) * density.powi(k as i32) * (1.0 - density).powi((values - k) as i32)
                })
                .sum();
            let count = GroupCount {
                values: values.into(),
                hits: hits.into(),
            };
            assert!(
                tail(count, density) >= exact.ln(),
                "{values} {hits} {density}"
            );
        }
    }
}

//! Something that grows: what it is, and how much of it each dump has.

use super::answer::Rate;
use super::series::FieldNames;
use super::trend::Undecided;
use crate::place_table::PlaceSum;

/// What a growing thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The objects of a group of paths.
    Group(u32),
    /// What references from a group, or roots, lead to.
    Reference(u32),
    /// What references of a class lead to.
    Field(FieldNames),
    /// A class as a whole.
    Class(u32),
    /// The raw blocks.
    Raw,
    /// The stack in memory, of which a caller did not give back what it took.
    Stack,
}

impl What {
    /// The field that it is, if it is one.
    pub(super) fn field(self) -> Option<FieldNames> {
        match self {
            Self::Field(field) => Some(field),
            Self::Group(_) | Self::Reference(_) | Self::Class(_) | Self::Raw | Self::Stack => None,
        }
    }

    /// Its place; `None` if it has no path.
    pub(super) fn place(self) -> Option<u32> {
        match self {
            Self::Group(place) | Self::Reference(place) => Some(place),
            Self::Field(_) | Self::Class(_) | Self::Raw | Self::Stack => None,
        }
    }
}

/// Something that grows.
pub(super) struct GrowingThing<'m> {
    pub(super) what: What,
    pub(super) class: Option<u32>,
    pub(super) series: &'m [Option<PlaceSum>],
    /// The dumps that count.
    pub(super) counted: &'m [Option<PlaceSum>],
    pub(super) rate: Rate,
    /// Why it may have stopped growing; `None` if it grows.
    pub(super) undecided: Option<Undecided>,
}

impl GrowingThing<'_> {
    /// A number of each dump.
    pub(super) fn column(&self, value: fn(PlaceSum) -> u64) -> Vec<Option<u64>> {
        let sums = self.series.iter();
        sums.map(|sum| sum.map(value)).collect()
    }
}

pub(super) fn last(counted: &[Option<PlaceSum>]) -> PlaceSum {
    counted
        .iter()
        .rev()
        .copied()
        .flatten()
        .next()
        .unwrap_or_default()
}

/// The mean growth per interval from the first dump that counts and has a sum to the last one. Dumps without a sum in
/// between have intervals, too.
pub(super) fn rate(counted: &[Option<PlaceSum>]) -> Rate {
    let sums = || {
        (0u32..)
            .zip(counted)
            .filter_map(|(nth, sum)| Some((nth, (*sum)?)))
    };
    let (start, first) = sums().next().unwrap_or_default();
    let (end, last) = sums().last().unwrap_or_default();
    let intervals = f64::from(end - start);
    let mean = |first: u64, last: u64| {
        let mean = (last as f64 - first as f64) / intervals.max(1.0);
        (mean * 1000.0).round() / 1000.0
    };
    Rate {
        count: mean(first.count, last.count),
        bytes: mean(first.bytes, last.bytes),
        retained: mean(first.retained, last.retained),
    }
}

#[cfg(test)]
mod tests {
    use super::rate;
    use crate::place_table::PlaceSum;

    #[test]
    fn a_rate_is_per_interval_between_dumps_also_where_dumps_have_no_sum() {
        let sum = |count, retained| {
            Some(PlaceSum {
                count,
                bytes: 10 * count,
                retained,
                objects: 0,
            })
        };
        let whole = rate(&[sum(1, 90), sum(2, 80), sum(3, 70), sum(4, 60)]);
        assert_eq!(
            (whole.count, whole.bytes, whole.retained),
            (1.0, 10.0, -10.0)
        );
        let with_a_gap = rate(&[None, sum(1, 90), None, sum(3, 70), sum(4, 60)]);
        assert_eq!(with_a_gap, whole);
        assert_eq!(rate(&[None, sum(7, 7)]).count, 0.0);
        assert_eq!(rate(&[None, None]).count, 0.0);
    }
}

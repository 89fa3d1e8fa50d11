//! Groups objects by the value of an expression.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::answer::Size;
use super::answer::{FoundGroup, FoundGroups};
use super::options::{FindOptions, FindSort};
use super::sum::sums;
use crate::QuestionError;
use crate::loaded_heap::LoadedHeap;
use crate::parts::page::Page;
use crate::parts::sums::{ByteSum, GroupedObjects};
use base::columns;
use base::control::Phase;
use base::error::{Error, Result};
use base::units::ObjectIndex;
use expression::{BATCH, Compiled, Evaluator, Failure, Scope, Value};
use heap::ShownValue as Shown;
use heap::literal::literal;

/// The largest number of groups.
const MOST_GROUPS: usize = 1 << 20;
/// Texts that are longer are one group: the memory for the texts of a million groups is bounded.
const MOST_UNITS: usize = 1000;

/// The value of a group, in the order in which groups of one size are listed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GroupKey {
    Bool(bool),
    Integer(i128),
    /// The bits of a number that is no integer, so that negative ones are first.
    Double(u64),
    Text(String),
    Object(ObjectIndex),
    Null,
    LongText,
    Absent,
    Failed(Failure),
}

/// Numbers groups in the order in which they are found.
#[derive(Default)]
pub(super) struct Groups {
    numbers: BTreeMap<GroupKey, u32>,
}

impl Groups {
    pub(super) fn number(&mut self, key: GroupKey) -> Result<u32> {
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if self.numbers.len() > MOST_GROUPS {
            return Err(Error::from(QuestionError::InvalidOption {
                name: "groupBy",
                found: "an expression with more than 1,048,576 values".to_owned(),
                expected: "one with fewer values",
            }));
        }
        Ok(number)
    }

    /// The values of the groups with their numbers, in the order of the values.
    pub(super) fn into_keys(self) -> impl ExactSizeIterator<Item = (GroupKey, u32)> {
        self.numbers.into_iter()
    }

    /// The number of groups.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }
}

impl GroupKey {
    /// The group of a value.
    pub(super) fn new(evaluator: &mut Evaluator<'_>, value: Value) -> Result<Self> {
        if let Some((text, is_whole)) = evaluator.text(value, MOST_UNITS)? {
            return Ok(if is_whole {
                Self::Text(text)
            } else {
                Self::LongText
            });
        }
        Ok(match value {
            Value::Absent => Self::Absent,
            Value::Failed(failure) => Self::Failed(failure),
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Integer(value) => Self::Integer(value.into()),
            Value::Unsigned(value) => Self::Integer(value.into()),
            Value::Double(value) => Self::Double(ordered_bits(value)),
            Value::Object(object) => Self::Object(object),
            Value::Text(_) => Self::Failed(Failure::Unknown),
        })
    }

    /// The value, and its text.
    pub(super) fn shown(&self, loaded: &LoadedHeap) -> (Shown, String) {
        let value = match self {
            Self::Bool(value) => Shown::Bool(*value),
            Self::Integer(value) => match i32::try_from(*value) {
                Ok(small) => Shown::Integer(small.into()),
                Err(_) => Shown::Text(value.to_string()),
            },
            Self::Double(bits) => match double(*bits) {
                value if value.is_finite() => Shown::Double(value),
                value if value.is_nan() => Shown::Text("NaN".to_owned()),
                value => Shown::Text(if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()),
            },
            Self::Text(text) => {
                return (
                    Shown::Text(text.clone()),
                    literal(text.encode_utf16(), true),
                );
            }
            Self::Object(object) => {
                let shown = loaded.shown(*object);
                Shown::Text(format!("{} {shown}", loaded.class_name(*object)))
            }
            Self::Null => Shown::Null,
            Self::LongText => {
                return (
                    Shown::Null,
                    "(texts of more than 1,000 characters)".to_owned(),
                );
            }
            Self::Absent => return (Shown::Null, "(no such field)".to_owned()),
            Self::Failed(failure) => return (Shown::Null, format!("({})", failure.reason())),
        };
        let text = value.to_string();
        (value, text)
    }
}

/// The bits of a number, of which larger ones are of larger numbers. Zero has one form, and so has NaN.
fn ordered_bits(value: f64) -> u64 {
    let value = if value.is_nan() {
        f64::NAN
    } else {
        value + 0.0
    };
    let bits = value.to_bits();
    if bits >> 63 == 0 {
        bits | 1 << 63
    } else {
        !bits
    }
}

fn double(ordered: u64) -> f64 {
    f64::from_bits(if ordered >> 63 == 1 {
        ordered & !(1 << 63)
    } else {
        !ordered
    })
}

/// The objects by the value of an expression: sum ↓, count ↓, value, unless the options say another order.
pub(super) fn grouped(
    loaded: &LoadedHeap,
    group_by: &Compiled,
    scope: Scope<'_>,
    objects: &[ObjectIndex],
    options: &FindOptions,
    page: Page,
) -> Result<FoundGroups> {
    let size = options.sum;
    check_sort(options)?;
    let control = scope.control;
    let (groups, group_of) = groups_of(group_by, scope, objects)?;
    let mut counts = columns::zeros::<u64>(groups.len())?;
    for &group in &group_of {
        counts[group as usize] += 1;
    }
    let grouped = GroupedObjects {
        objects,
        group_of: &group_of,
        groups: groups.len(),
    };
    let sums = match size {
        Some(size) => sums(loaded, size, grouped, control)?,
        None => columns::repeated(ByteSum::default(), groups.len())?,
    };
    let total = groups.len() as u64;
    let mut ordered = columns::collected(groups.into_keys())?;
    // Groups of one size stay in the order of their values.
    match options.sort {
        Some(FindSort::Name) => {}
        sort => ordered.sort_by_key(|(_, number)| {
            let number = *number as usize;
            let (bytes, count) = (sums[number].bytes, counts[number]);
            Reverse(if sort == Some(FindSort::Count) {
                (count, bytes)
            } else {
                (bytes, count)
            })
        }),
    }
    let rows = page.of(ordered).map(|(key, number)| {
        let (value, text) = key.shown(loaded);
        FoundGroup {
            value,
            text,
            count: counts[number as usize],
            bytes: size.map(|_| sums[number as usize].bytes),
            parts: sums[number as usize].parts,
        }
    });
    Ok(FoundGroups {
        total,
        rows: rows.collect(),
    })
}

/// Groups have the size that is added up, and no other.
fn check_sort(options: &FindOptions) -> Result<()> {
    let (wanted, found) = match options.sort {
        Some(FindSort::Shallow) => (Size::Shallow, "shallow, without sum: shallow"),
        Some(FindSort::Retained) => (Size::Retained, "retained, without sum: retained"),
        Some(FindSort::Count | FindSort::Name) | None => return Ok(()),
    };
    if options.sum == Some(wanted) {
        return Ok(());
    }
    Err(Error::from(QuestionError::InvalidOption {
        name: "sort",
        found: found.to_owned(),
        expected: "count, name, or the size that the option sum adds up",
    }))
}

/// The groups, and by object the number of its group.
fn groups_of(
    group_by: &Compiled,
    scope: Scope<'_>,
    objects: &[ObjectIndex],
) -> Result<(Groups, Vec<u32>)> {
    let step = scope.control.begin(Phase::View, objects.len() as u64);
    let mut evaluator = Evaluator::new(group_by, scope)?;
    let mut groups = Groups::default();
    let mut group_of = columns::with_capacity(objects.len())?;
    for batch in objects.chunks(BATCH) {
        step.advance(batch.len() as u64)?;
        for value in evaluator.values(batch)? {
            group_of.push(groups.number(GroupKey::new(&mut evaluator, value)?)?);
        }
    }
    Ok((groups, group_of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_keep_their_order_and_their_value() {
        let values = [f64::NEG_INFINITY, -1.5, -1.0, 0.0, 0.5, 2.0, f64::INFINITY];
        let bits = values.map(ordered_bits);
        assert!(bits.is_sorted());
        assert_eq!(bits.map(double), values);
        assert_eq!(ordered_bits(-0.0), ordered_bits(0.0));
    }

    #[test]
    fn more_groups_than_the_bound_are_refused() {
        let mut groups = Groups::default();
        for value in 0..MOST_GROUPS as i128 {
            groups.number(GroupKey::Integer(value)).unwrap();
        }
        assert!(groups.number(GroupKey::Integer(1)).is_ok());
        let error = groups.number(GroupKey::Null).unwrap_err();
        assert_eq!(error.code(), "ERR_INVALID_OPTION");
    }
}

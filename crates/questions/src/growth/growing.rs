//! All that grows, and how an answer shows it.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, HashMap};

use super::answer::{FoldedPlace, GrowingPlace};
use super::find::growing_things;
use super::growing_thing::{GrowingThing, What, last};
use super::series::{Field, Merged};
use crate::parts::labels::after_class;
use crate::parts::page::Page;
use crate::parts::path_text::{LEFT_OUT, PathText};
use crate::place_table::{PlaceTable, Sum};
use base::control::Control;
use base::error::Result;

/// Sites that are listed as folded into one.
const MOST_FOLDED: usize = 1000;

/// The class of the thing that raw blocks form.
const RAW_BLOCKS: &str = "(raw blocks)";

/// All that grows.
pub(super) struct Growing<'m> {
    pub(super) merged: &'m Merged,
    pub(super) things: Vec<GrowingThing<'m>>,
}

impl<'m> Growing<'m> {
    pub(super) fn find(
        merged: &'m Merged,
        tables: &[&PlaceTable],
        warmup: usize,
        slow: bool,
        control: &Control,
    ) -> Result<Self> {
        let things = growing_things(merged, tables, warmup, slow, control)?;
        Ok(Self { merged, things })
    }

    /// The name of the class of a thing.
    pub(super) fn class_name(&self, thing: &GrowingThing<'_>) -> &str {
        thing
            .class
            .map_or(RAW_BLOCKS, |class| self.merged.name(class))
    }

    /// What a thing reads like, which its fingerprint is a hash of.
    pub(super) fn text(&self, thing: &GrowingThing<'_>) -> PathText {
        let merged = self.merged;
        let class_name = self.class_name(thing);
        let (text, is_stable) = match thing.what {
            What::Group(place) | What::Reference(place) => return merged.path(place).1,
            What::Field(field) => {
                let label = self.field_label(field);
                let text = format!("{LEFT_OUT} > {label} > {class_name}");
                (text, merged.is_field_stable(field))
            }
            What::Class(class) => {
                let text = format!("{LEFT_OUT} > {class_name}");
                (text, merged.is_class_stable(class))
            }
            What::Raw => (class_name.to_owned(), true),
        };
        PathText { text, is_stable }
    }

    pub(super) fn field_label(&self, field: Field) -> String {
        let [holder, label] = [field.holder, field.label].map(|name| self.merged.name(name));
        format!("{holder}{}", after_class(label))
    }

    pub(super) fn label(&self, thing: &GrowingThing<'_>) -> Option<String> {
        match thing.what {
            What::Reference(place) => self.merged.label(place).map(str::to_owned),
            What::Field(field) => Some(self.field_label(field)),
            What::Group(_) | What::Class(_) | What::Raw => None,
        }
    }

    /// What the things of a page look like in an answer, and how many there are. Each group is a thing and what
    /// is folded into it.
    pub(super) fn shown(
        &self,
        groups: BTreeMap<usize, Vec<usize>>,
        page: Page,
    ) -> (u64, Vec<GrowingPlace>) {
        let mut groups: Vec<(f64, usize, Vec<usize>)> = groups
            .into_iter()
            .map(|(thing, folded)| (self.weight(thing, &folded), thing, folded))
            .collect();
        let order = |left: &GrowingThing<'_>, right: &GrowingThing<'_>| {
            let by_count = right.rate.count.total_cmp(&left.rate.count);
            by_count.then_with(|| self.text(left).text.cmp(&self.text(right).text))
        };
        groups.sort_by(|left, right| {
            let by_weight: Ordering = right.0.total_cmp(&left.0);
            by_weight.then_with(|| order(&self.things[left.1], &self.things[right.1]))
        });
        let total = groups.len() as u64;
        let shown = page
            .of(groups)
            .map(|(_, thing, folded)| self.thing(thing, folded));
        (total, shown.collect())
    }

    /// The bytes by which a thing grows with what is folded into it. What is at one place counts once.
    pub(super) fn weight(&self, thing: usize, folded: &[usize]) -> f64 {
        let mut bytes: HashMap<Option<u32>, f64> = HashMap::new();
        for &one in [thing].iter().chain(folded) {
            let one = &self.things[one];
            let known = bytes.entry(one.what.place()).or_default();
            *known = known.max(one.rate.bytes);
        }
        let mut bytes: Vec<f64> = bytes.into_values().collect();
        // Sums of fractions depend on their order.
        bytes.sort_by(f64::total_cmp);
        bytes.iter().sum()
    }

    pub(super) fn thing(&self, thing: usize, mut folded: Vec<usize>) -> GrowingPlace {
        let thing = &self.things[thing];
        let text = self.text(thing);
        let fingerprint = text.fingerprint();
        folded.sort_by_cached_key(|&one| {
            let thing = &self.things[one];
            let sum = last(thing.counted);
            (Reverse((sum.bytes, sum.count)), self.text(thing).text, one)
        });
        folded.truncate(MOST_FOLDED);
        let folded = folded.into_iter().map(|one| {
            let thing = &self.things[one];
            let text = self.text(thing);
            FoldedPlace {
                class_name: self.class_name(thing).to_owned(),
                label: self.label(thing),
                fingerprint: text.fingerprint(),
                path: thing.what.place().map(|_| text.text),
                count: last(thing.counted).count,
            }
        });
        let column = |value: fn(Sum) -> u64| {
            let sums = thing.series.iter();
            sums.map(|sum| sum.map(value)).collect()
        };
        GrowingPlace {
            root: thing.what.place().map(|place| self.merged.path(place).0),
            label: self.label(thing),
            class_name: self.class_name(thing).to_owned(),
            fingerprint,
            stable: text.is_stable,
            path: thing.what.place().map(|_| text.text),
            counts: column(|sum| sum.count),
            bytes: column(|sum| sum.bytes),
            per_interval: thing.rate,
            folded: folded.collect(),
        }
    }
}

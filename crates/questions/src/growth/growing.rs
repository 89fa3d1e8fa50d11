//! All that grows, and how an answer shows it.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, HashMap, HashSet};

use super::answer::{FoldedPlace, GrowingPlace, LiveGrowth, STACK, UndecidedPlace};
use super::find::{FoundGrowth, growing_things};
use super::fold::fold;
use super::growing_thing::{GrowingThing, What, last};
use super::same::without_doubles;
use super::series::{FieldNames, Merged};
use super::tables::warnings;
use super::trend::Undecided;
use crate::parts::labels::after_class;
use crate::parts::page::Page;
use crate::parts::path_text::{LEFT_OUT, PathText};
use crate::place_table::PlaceTable;
use crate::warnings::WarningText;
use base::control::Control;
use base::error::Result;

/// Sites that are listed as folded into one.
const MOST_FOLDED: usize = 1000;

/// Undecided places that are listed.
const MOST_UNDECIDED: usize = 1000;

/// The class of the thing that raw blocks form.
const RAW_BLOCKS: &str = "(raw blocks)";

pub(super) struct Growing<'m> {
    pub(super) merged: &'m Merged,
    pub(super) things: Vec<GrowingThing<'m>>,
    /// What grew at first, and may have stopped.
    undecided: Vec<GrowingThing<'m>>,
}

/// How growth is looked for in some tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct GrowthRules {
    pub(super) warmup: usize,
    pub(super) slow: bool,
    /// Whether what may have stopped growing counts as growing.
    pub(super) strict: bool,
}

impl<'m> Growing<'m> {
    pub(super) fn find(
        merged: &'m Merged,
        tables: &[&PlaceTable],
        search: GrowthRules,
        control: &Control,
    ) -> Result<Self> {
        let GrowthRules {
            warmup,
            slow,
            strict,
        } = search;
        let FoundGrowth {
            growing: mut things,
            mut undecided,
            ..
        } = growing_things(merged, tables, warmup, slow, control)?;
        if strict {
            things.append(&mut undecided);
        }
        Ok(Self {
            merged,
            things,
            undecided,
        })
    }

    /// The warnings of the tables, without those that functions were running if their stack only was not given back.
    pub(super) fn warnings(&self, tables: &[&PlaceTable]) -> Vec<WarningText> {
        let mut warnings = warnings(tables);
        let mut things = self.things.iter();
        if things.any(|thing| thing.what == What::Stack) {
            warnings.retain(|warning| warning.code != "WARN_FRAMES_ACTIVE");
        }
        warnings
    }

    /// How live bytes grow over the tables that count, and what all that grows has of it. `accepted` says of each thing
    /// whether it is left out.
    pub(super) fn live_growth(&self, counted: &[&PlaceTable], accepted: &[bool]) -> LiveGrowth {
        let is_kept = |nth: &usize| !accepted.get(*nth).copied().unwrap_or_default();
        let kept = (0..self.things.len()).filter(is_kept);
        let whats: Vec<What> = kept.map(|nth| self.things[nth].what).collect();
        let places: HashSet<u32> = whats.iter().filter_map(|what| what.place()).collect();
        let fields: HashSet<FieldNames> = whats.iter().filter_map(|what| what.field()).collect();
        let class = |what: &What| match *what {
            What::Class(class) => Some(class),
            _ => None,
        };
        let classes: HashSet<u32> = whats.iter().filter_map(class).collect();
        let mut explained = 0.0;
        // By place: whether it, or one on the way to it, grows. A place comes after the one that it continues.
        let mut is_in = vec![false; self.merged.places.len()];
        for place in 0..is_in.len() as u32 {
            let node = self.merged.places[place as usize];
            let holder = self.merged.holder(place);
            let field = self.merged.field(place);
            is_in[place as usize] = holder.is_some_and(|holder| is_in[holder as usize])
                || places.contains(&place)
                || classes.contains(&node.class)
                || field.is_some_and(|field| fields.contains(&field));
            if is_in[place as usize] {
                let [first, last] = self.merged.sizes[place as usize];
                explained += last as f64 - first as f64;
            }
        }
        let [first, last] = [counted.first(), counted.last()]
            .map(|table| table.map_or(0.0, |table| table.total_live_size as f64));
        let intervals = counted.len().saturating_sub(1).max(1) as f64;
        let mean = |bytes: f64| (bytes / intervals * 1000.0).round() / 1000.0;
        LiveGrowth {
            live: mean(last - first),
            explained: mean(explained),
        }
    }

    /// What may have stopped growing, and is not held by what grows: bytes in the last dump ↓, text ↑. What one of
    /// them explains is left out, as of what grows.
    pub(super) fn undecided(&self) -> Result<Vec<UndecidedPlace>> {
        let growing: HashSet<u32> = self
            .things
            .iter()
            .filter_map(|thing| thing.what.place())
            .collect();
        let is_held = |thing: &GrowingThing<'_>| {
            let mut place = thing.what.place();
            while let Some(holder) = place {
                if growing.contains(&holder) {
                    return true;
                }
                place = self.merged.holder(holder);
            }
            false
        };
        let heads = fold(self.merged, &self.undecided)?.into_keys();
        let mut things: Vec<_> = heads
            .map(|nth| &self.undecided[nth])
            .filter(|thing| !is_held(thing))
            .collect();
        things.sort_by_cached_key(|thing| {
            let sum = last(thing.counted);
            (Reverse((sum.bytes, sum.count)), self.text(thing).text)
        });
        things.truncate(MOST_UNDECIDED);
        Ok(things
            .into_iter()
            .map(|thing| self.undecided_place(thing))
            .collect())
    }

    fn undecided_place(&self, thing: &GrowingThing<'_>) -> UndecidedPlace {
        let text = self.text(thing);
        let warmup = thing.series.len() - thing.counted.len();
        UndecidedPlace {
            path: thing.what.place().map(|_| text.text.clone()),
            label: self.label(thing),
            class_name: self.class_name(thing).to_owned(),
            fingerprint: text.fingerprint(),
            counts: thing.column(|sum| sum.count),
            bytes: thing.column(|sum| sum.bytes),
            stopped_after: match thing.undecided {
                Some(Undecided::Stopped(position)) => Some((warmup + position + 1) as u64),
                Some(Undecided::Slows) | None => None,
            },
        }
    }

    pub(super) fn class_name(&self, thing: &GrowingThing<'_>) -> &str {
        match (thing.class, thing.what) {
            (Some(class), _) => self.merged.name(class),
            (None, What::Stack) => STACK,
            (None, _) => RAW_BLOCKS,
        }
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
            What::Raw | What::Stack => (class_name.to_owned(), true),
        };
        PathText { text, is_stable }
    }

    pub(super) fn field_label(&self, field: FieldNames) -> String {
        let [holder, label] = [field.holder, field.label].map(|name| self.merged.name(name));
        format!("{holder}{}", after_class(label))
    }

    pub(super) fn label(&self, thing: &GrowingThing<'_>) -> Option<String> {
        match thing.what {
            What::Reference(place) => self.merged.label(place).map(str::to_owned),
            What::Field(field) => Some(self.field_label(field)),
            What::Group(_) | What::Class(_) | What::Raw | What::Stack => None,
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
        let retained = |group: &(f64, usize, Vec<usize>)| self.things[group.1].rate.retained;
        groups.sort_by(|left, right| {
            let by_retained: Ordering = retained(right).total_cmp(&retained(left));
            let by_weight = by_retained.then_with(|| right.0.total_cmp(&left.0));
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
        let all: Vec<usize> = std::iter::once(thing)
            .chain(folded.iter().copied())
            .collect();
        for one in without_doubles(&self.things, &all) {
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
        folded.insert(0, thing);
        let mut folded = without_doubles(&self.things, &folded).split_off(1);
        let hint = self.hint(thing, &folded);
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
        GrowingPlace {
            hint,
            root: thing.what.place().map(|place| self.merged.path(place).0),
            label: self.label(thing),
            class_name: self.class_name(thing).to_owned(),
            source: thing
                .class
                .and_then(|class| self.merged.class_places.get(&class).cloned()),
            fingerprint,
            stable: text.is_stable,
            path: thing.what.place().map(|_| text.text),
            counts: thing.column(|sum| sum.count),
            bytes: thing.column(|sum| sum.bytes),
            retained: thing.column(|sum| sum.retained),
            per_interval: thing.rate,
            folded: folded.collect(),
        }
    }
}

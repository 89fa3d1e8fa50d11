//! Finds what grows from table to table.

use std::collections::{HashMap, HashSet};

use super::growing_thing::{GrowingThing, What, rate};
use super::series::{Field, Merged};
use super::trend::{Trend, gains_digits, trend};
use crate::place_table::{PlaceTable, Sum};
use base::control::Control;
use base::error::Result;

/// What grows over these tables, after the first `warmup` ones: places first, then the fields and the classes that
/// no place names.
pub(super) fn growing_things<'m>(
    merged: &'m Merged,
    tables: &[&PlaceTable],
    warmup: usize,
    slow: bool,
    control: &Control,
) -> Result<Vec<GrowingThing<'m>>> {
    let first_hash = tables[0].module_hash;
    let search = Search {
        merged,
        warmup,
        slow,
        // Names that are made of numbers mean something else in another build.
        is_one_build: tables.iter().all(|table| table.module_hash == first_hash),
    };
    let mut things = search.places(control)?;
    control.check()?;
    let mut is_named: HashSet<u32> = things.iter().filter_map(|thing| thing.class).collect();
    let fields = search.fields(&is_named);
    is_named.extend(fields.iter().filter_map(|field| field.class));
    things.extend(fields);
    things.extend(search.classes(&is_named));
    things.extend(search.raw_blocks());
    Ok(things)
}

struct Search<'m> {
    merged: &'m Merged,
    warmup: usize,
    slow: bool,
    is_one_build: bool,
}

impl<'m> Search<'m> {
    fn trend(&self, class: Option<u32>, series: &[Option<Sum>]) -> Trend {
        let counted = &series[self.warmup..];
        let is_text = class.is_some_and(|class| self.merged.text_classes.contains(&class));
        match trend(counted, self.slow) {
            Trend::Rises if is_text && gains_digits(counted) => Trend::Neither,
            trend => trend,
        }
    }

    fn thing(&self, what: What, class: Option<u32>, series: &'m [Option<Sum>]) -> GrowingThing<'m> {
        let counted = &series[self.warmup..];
        GrowingThing {
            what,
            class,
            series,
            counted,
            rate: rate(counted),
        }
    }

    /// Groups of paths, and what references lead to. What rises while the same objects leave another place has
    /// only moved.
    fn places(&self, control: &Control) -> Result<Vec<GrowingThing<'m>>> {
        let merged = self.merged;
        let mut things = Vec::new();
        // By class: the place that falls; `None` if there are several.
        let mut falling: HashMap<u32, Option<u32>> = HashMap::new();
        let kinds = [(&merged.groups, false), (&merged.references, true)];
        for (rows, is_reference) in kinds {
            control.check()?;
            for (row, &place) in rows.keys.iter().enumerate() {
                let node = merged.places[place as usize];
                if !(self.is_one_build || node.is_stable) {
                    continue;
                }
                let series = rows.series(row);
                match self.trend(Some(node.class), series) {
                    Trend::Rises => {
                        let what = if is_reference {
                            What::Reference(place)
                        } else {
                            What::Group(place)
                        };
                        things.push(self.thing(what, Some(node.class), series));
                    }
                    Trend::Falls => {
                        let only = falling.entry(node.class).or_insert(Some(place));
                        *only = only.filter(|&other| other == place);
                    }
                    Trend::Neither => {}
                }
            }
        }
        things.retain(|thing: &GrowingThing<'_>| {
            let falling = thing.class.and_then(|class| falling.get(&class));
            falling.is_none_or(|only| only.is_some() && *only == thing.what.place())
        });
        Ok(things)
    }

    /// Fields, of classes that have no name yet.
    fn fields(&self, is_named: &HashSet<u32>) -> Vec<GrowingThing<'m>> {
        let merged = self.merged;
        let mut fields: Vec<(Field, &'m [Option<Sum>])> = Vec::new();
        let mut falling: HashSet<u32> = HashSet::new();
        for (row, &field) in merged.fields.keys.iter().enumerate() {
            if !(self.is_one_build || merged.is_field_stable(field)) {
                continue;
            }
            match self.trend(Some(field.class), merged.fields.series(row)) {
                Trend::Rises => fields.push((field, merged.fields.series(row))),
                Trend::Falls => _ = falling.insert(field.class),
                Trend::Neither => {}
            }
        }
        fields.retain(|(Field { class, .. }, _)| {
            !falling.contains(class) && !is_named.contains(class)
        });
        let fields = fields.into_iter();
        fields
            .map(|(field, series)| self.thing(What::Field(field), Some(field.class), series))
            .collect()
    }

    /// Classes as a whole, of those that have no name yet.
    fn classes(&self, is_named: &HashSet<u32>) -> Vec<GrowingThing<'m>> {
        let merged = self.merged;
        let mut things = Vec::new();
        for (row, &class) in merged.classes.keys.iter().enumerate() {
            let series = merged.classes.series(row);
            let is_comparable = self.is_one_build || merged.is_class_stable(class);
            let has_risen = self.trend(Some(class), series) == Trend::Rises;
            if is_comparable && has_risen && !is_named.contains(&class) {
                things.push(self.thing(What::Class(class), Some(class), series));
            }
        }
        things
    }

    fn raw_blocks(&self) -> Option<GrowingThing<'m>> {
        let series = &self.merged.raw;
        let has_risen = self.trend(None, series) == Trend::Rises;
        has_risen.then(|| self.thing(What::Raw, None, series))
    }
}

//! Finds what grows from table to table.

use std::collections::{HashMap, HashSet};

use super::growing_thing::{GrowingThing, What, rate};
use super::records::records;
use super::series::{FieldNames, Merged};
use super::trend::{Trend, TrendOptions, has_equal_counts, trend};
use crate::place_table::{PlaceSum, PlaceTable};
use base::control::Control;
use base::error::Result;

/// What was found over some tables.
#[derive(Default)]
pub(super) struct FoundGrowth<'m> {
    pub(super) growing: Vec<GrowingThing<'m>>,
    /// What grew at first, and may have stopped.
    pub(super) undecided: Vec<GrowingThing<'m>>,
    /// Classes of which a test runner records more and more. What grows of them without a path is not told apart.
    recorded: HashSet<u32>,
}

impl FoundGrowth<'_> {
    fn class_names(&self) -> HashSet<u32> {
        let things = self.growing.iter().chain(&self.undecided);
        let classes = things.filter_map(|thing| thing.class);
        classes.chain(self.recorded.iter().copied()).collect()
    }
}

/// What grows over these tables, after the first `warmup` ones: places first, then the fields and the classes that
/// no place names.
pub(super) fn growing_things<'m>(
    merged: &'m Merged,
    tables: &[&PlaceTable],
    warmup: usize,
    slow: bool,
    control: &Control,
) -> Result<FoundGrowth<'m>> {
    let first_hash = tables[0].module_hash;
    let search = TableSearch {
        merged,
        warmup,
        slow,
        // Names that are made of numbers mean something else in another build.
        is_one_build: tables.iter().all(|table| table.module_hash == first_hash),
    };
    let mut found = FoundGrowth::default();
    search.places(&mut found, control)?;
    control.check()?;
    search.fields(&mut found);
    search.classes(&mut found);
    search.raw_blocks(&mut found);
    search.stack(&mut found);
    Ok(found)
}

struct TableSearch<'m> {
    merged: &'m Merged,
    warmup: usize,
    slow: bool,
    is_one_build: bool,
}

impl<'m> TableSearch<'m> {
    fn trend(&self, class: Option<u32>, series: &[Option<PlaceSum>]) -> Trend {
        let options = TrendOptions {
            slow: self.slow,
            character: class.and_then(|class| self.merged.text_classes.get(&class).copied()),
        };
        trend(&series[self.warmup..], options)
    }

    /// Adds a thing to what grows or to what is undecided, if it is one of these. What the engine makes for itself
    /// is none.
    fn add(
        &self,
        found: &mut FoundGrowth<'m>,
        trend: Trend,
        (what, class): (What, Option<u32>),
        series: &'m [Option<PlaceSum>],
    ) {
        if class.is_some_and(|class| self.merged.engine_classes.contains(&class)) {
            return;
        }
        let counted = &series[self.warmup..];
        // The variables of a module hold what grows, and have a fixed number.
        if what
            .place()
            .is_some_and(|place| self.merged.is_named_start(place))
            && has_equal_counts(counted)
        {
            return;
        }
        let (list, undecided) = match trend {
            Trend::Rises => (&mut found.growing, None),
            Trend::Undecided(why) => (&mut found.undecided, Some(why)),
            Trend::Falls | Trend::Neither => return,
        };
        list.push(GrowingThing {
            what,
            class,
            series,
            counted,
            rate: rate(counted),
            undecided,
        });
    }

    /// Groups of paths, and what references lead to. What rises while the same objects leave another place has
    /// only moved.
    fn places(&self, found: &mut FoundGrowth<'m>, control: &Control) -> Result<()> {
        let merged = self.merged;
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
                let trend = self.trend(Some(node.class), series);
                if trend == Trend::Falls {
                    let only = falling.entry(node.class).or_insert(Some(place));
                    *only = only.filter(|&other| other == place);
                }
                let what = if is_reference {
                    What::Reference(place)
                } else {
                    What::Group(place)
                };
                self.add(found, trend, (what, Some(node.class)), series);
            }
        }
        let has_come_to_be = |thing: &GrowingThing<'_>| {
            let falling = thing.class.and_then(|class| falling.get(&class));
            falling.is_none_or(|only| only.is_some() && *only == thing.what.place())
        };
        found.growing.retain(has_come_to_be);
        found.undecided.retain(has_come_to_be);
        let is_record = records(merged)?;
        let is_of_program = |thing: &GrowingThing<'_>| {
            let place = thing.what.place();
            !place.is_some_and(|place| is_record[place as usize])
        };
        found.growing.retain(is_of_program);
        found.undecided.retain(is_of_program);
        found.recorded = self.recorded(&is_record);
        Ok(())
    }

    /// Classes of which there are more and more records, on all paths together: V8 gives plain objects on the way to them
    /// another name when it changes how it keeps them.
    fn recorded(&self, is_record: &[bool]) -> HashSet<u32> {
        let merged = self.merged;
        let mut by_class: HashMap<u32, Vec<Option<PlaceSum>>> = HashMap::new();
        for rows in [&merged.groups, &merged.references] {
            for (row, &place) in rows.keys.iter().enumerate() {
                if !is_record[place as usize] {
                    continue;
                }
                let series = rows.series(row);
                let sums = by_class.entry(merged.places[place as usize].class);
                let sums = sums.or_insert_with(|| vec![None; series.len()]);
                for (sum, &more) in sums.iter_mut().zip(series) {
                    if let Some(more) = more {
                        sum.get_or_insert_default().add(more);
                    }
                }
            }
        }
        let grows = by_class.into_iter().filter(|(class, sums)| {
            let trend = self.trend(Some(*class), sums);
            matches!(trend, Trend::Rises | Trend::Undecided(_))
        });
        grows.map(|(class, _)| class).collect()
    }

    /// Fields, of classes that have no name yet. Neither holder nor target says anything of the program if both are of
    /// classes that are used for everything. What the engine makes for itself refers to objects as it sees fit.
    fn fields(&self, found: &mut FoundGrowth<'m>) {
        let merged = self.merged;
        let is_named = found.class_names();
        let mut fields: Vec<(FieldNames, Trend, &'m [Option<PlaceSum>])> = Vec::new();
        let mut falling: HashSet<u32> = HashSet::new();
        for (row, &field) in merged.fields.keys.iter().enumerate() {
            let is_of_engine = merged.engine_classes.contains(&field.holder);
            let is_plain = [field.holder, field.class]
                .iter()
                .all(|class| merged.plain_classes.contains(class));
            if is_of_engine || is_plain || !(self.is_one_build || merged.is_field_stable(field)) {
                continue;
            }
            let series = merged.fields.series(row);
            match self.trend(Some(field.class), series) {
                Trend::Falls => _ = falling.insert(field.class),
                trend => fields.push((field, trend, series)),
            }
        }
        for (field, trend, series) in fields {
            if !falling.contains(&field.class) && !is_named.contains(&field.class) {
                self.add(
                    found,
                    trend,
                    (What::Field(field), Some(field.class)),
                    series,
                );
            }
        }
    }

    /// Classes as a whole, of those that have no name yet, and are not used for everything.
    fn classes(&self, found: &mut FoundGrowth<'m>) {
        let merged = self.merged;
        let is_named = found.class_names();
        for (row, &class) in merged.classes.keys.iter().enumerate() {
            let series = merged.classes.series(row);
            let is_plain = merged.plain_classes.contains(&class);
            let is_comparable = !is_plain && (self.is_one_build || merged.is_class_stable(class));
            if is_comparable && !is_named.contains(&class) {
                let trend = self.trend(Some(class), series);
                self.add(found, trend, (What::Class(class), Some(class)), series);
            }
        }
    }

    fn raw_blocks(&self, found: &mut FoundGrowth<'m>) {
        let series = &self.merged.raw;
        let trend = self.trend(None, series);
        self.add(found, trend, (What::Raw, None), series);
    }

    fn stack(&self, found: &mut FoundGrowth<'m>) {
        let series = &self.merged.stack;
        let trend = self.trend(None, series);
        self.add(found, trend, (What::Stack, None), series);
    }
}

//! Which growing thing explains which others.
//!
//! - What a growing thing holds, over a path that passes through it, is folded into it.
//! - A container that grows only because it refers to more objects is folded into what grows of these; the keys
//!   of a map into what grows of its values.
//! - Of what references lead to and the group of the same objects the first stays. If both are at one place
//!   and count different objects, because some of these have a shorter path over another container, the one that has
//!   more of them in the last dump stays, and the other is not listed: it has the same path and the same fingerprint.
//! - Of places with the same objects the one whose path is the first to name: see [`same`](super::same).
//! - What grows only without regard to paths is folded into what grows of its holder's class.

use std::collections::{BTreeMap, HashMap};

use super::growing_thing::{GrowingThing, What, last};
use super::same::same_growth;
use super::series::Merged;
use super::trend::has_equal_counts;
use base::columns;
use base::error::Result;

/// The label of elements and of values.
const ELEMENT: &str = "[*]";

const KEY: &str = "key [*]";

const MEMBER: &str = "member [*]";

/// A container is folded into its elements if they retain at least a quarter of its growth: the growth divided by this.
const LEAST_PART: f64 = 4.0;

/// Growing things by what explains them: each that stays, with what is folded into it.
pub(super) type Explanations = BTreeMap<usize, Vec<usize>>;

/// Groups growing things by what explains them.
pub(super) fn fold(merged: &Merged, things: &[GrowingThing<'_>]) -> Result<Explanations> {
    let mut folding = Folding {
        merged,
        things,
        by_place: HashMap::new(),
        elements: HashMap::new(),
        into: (0..things.len()).collect(),
    };
    for nth in 0..things.len() {
        folding.place(nth);
    }
    let outermost = folding.outermost()?;
    for nth in 0..things.len() {
        folding.fold_with_path(nth, &outermost);
    }
    let stays = |nth: &usize| folding.into[*nth] == *nth;
    let heads: Vec<usize> = (0..things.len()).filter(stays).collect();
    for (nth, into) in same_growth(merged, things, &heads) {
        folding.into[nth] = into;
    }
    folding.fold_without_path();
    let mut groups = Explanations::new();
    for nth in 0..things.len() {
        let last = folding.last(nth);
        let folded = groups.entry(last).or_default();
        if last != nth && !folding.is_double(nth) {
            folded.push(nth);
        }
    }
    Ok(groups)
}

/// Where nothing grows on the way.
const NOTHING: u32 = u32::MAX;

struct Folding<'f, 'm> {
    merged: &'m Merged,
    things: &'f [GrowingThing<'m>],
    /// By place: what grows there. Of two things the one that has more objects.
    by_place: HashMap<u32, usize>,
    /// By place of a container: what it refers to more and more of.
    elements: HashMap<u32, usize>,
    /// What each thing is folded into; itself if it stays.
    into: Vec<usize>,
}

impl Folding<'_, '_> {
    /// Puts a thing at its place.
    fn place(&mut self, nth: usize) {
        let Some(place) = self.things[nth].what.place() else {
            return;
        };
        let winner = match self.by_place.get(&place) {
            Some(&other) => self.larger(nth, other),
            None => nth,
        };
        self.by_place.insert(place, winner);
        let is_element = matches!(self.merged.label(place), Some(ELEMENT | KEY | MEMBER));
        if let (true, Some(holder)) = (
            is_element && self.grows_in_number(nth),
            self.merged.holder(place),
        ) {
            let winner = match self.elements.get(&holder) {
                Some(&other) => self.better_element(nth, other),
                None => nth,
            };
            self.elements.insert(holder, winner);
        }
    }

    fn grows_in_number(&self, nth: usize) -> bool {
        !has_equal_counts(self.things[nth].counted)
    }

    /// The one that has more objects in the end; of equals what references lead to.
    fn larger(&self, one: usize, other: usize) -> usize {
        let key = |nth: usize| {
            let GrowingThing { what, counted, .. } = self.things[nth];
            (last(counted).count, matches!(what, What::Reference(_)))
        };
        if key(one) >= key(other) { one } else { other }
    }

    /// Values come before keys, then what there is more of, then what comes first.
    fn better_element(&self, one: usize, other: usize) -> usize {
        let is_value = |nth: usize| {
            let place = self.things[nth].what.place();
            place.and_then(|place| self.merged.label(place)) == Some(ELEMENT)
        };
        match (is_value(one), is_value(other)) {
            (true, false) => one,
            (false, true) => other,
            _ => {
                if self.larger(other, one) == other {
                    other
                } else {
                    one
                }
            }
        }
    }

    /// Whether a thing at a place grows only because it refers to more objects.
    fn element_of(&self, place: u32) -> Option<usize> {
        let nth = *self.by_place.get(&place)?;
        let element = *self.elements.get(&place)?;
        // If its elements retain little of what it grew by, other parts of it grow: a promise has more and more waiters.
        let [whole, part] = [nth, element].map(|nth| self.things[nth].rate.retained);
        let explains = part * LEAST_PART >= whole;
        (!self.grows_in_number(nth) && explains).then_some(element)
    }

    /// By place: the outermost thing that grows there or on the way there, but none that is folded into what
    /// it holds.
    fn outermost(&self) -> Result<Vec<u32>> {
        let count = self.merged.places.len();
        let mut outermost = columns::repeated(NOTHING, count)?;
        // A place comes after the one that it continues.
        for place in 0..count as u32 {
            let before = self
                .merged
                .holder(place)
                .map_or(NOTHING, |holder| outermost[holder as usize]);
            outermost[place as usize] = match before {
                NOTHING if self.element_of(place).is_none() => {
                    self.by_place.get(&place).map_or(NOTHING, |&nth| nth as u32)
                }
                before => before,
            };
        }
        Ok(outermost)
    }

    fn fold_with_path(&mut self, nth: usize, outermost: &[u32]) {
        let Some(place) = self.things[nth].what.place() else {
            return;
        };
        let winner = self.by_place[&place];
        if winner != nth {
            self.into[nth] = winner;
            return;
        }
        let holder = self.merged.holder(place);
        let outermost = holder.map_or(NOTHING, |holder| outermost[holder as usize]);
        if outermost != NOTHING {
            self.into[nth] = outermost as usize;
        } else if let Some(element) = self.element_of(place) {
            self.into[nth] = element;
        } else if self.merged.label(place) == Some(KEY)
            && let Some(holder) = self.merged.holder(place)
            && let Some(&value) = self.elements.get(&holder)
        {
            self.into[nth] = value;
        }
    }

    fn fold_without_path(&mut self) {
        let mut by_class: HashMap<u32, usize> = HashMap::new();
        for nth in 0..self.things.len() {
            let thing = &self.things[nth];
            if let (Some(class), Some(_)) = (thing.class, thing.what.place()) {
                let last = self.last(nth);
                by_class.entry(class).or_insert(last);
            }
        }
        let field = |nth: usize| match self.things[nth].what {
            What::Field(field) => Some(field),
            _ => None,
        };
        let all = 0..self.things.len();
        let fields: Vec<usize> = all.filter(|&nth| field(nth).is_some()).collect();
        let mut of_class: HashMap<u32, Vec<usize>> = HashMap::new();
        for &nth in &fields {
            if let Some(class) = self.things[nth].class {
                of_class.entry(class).or_default().push(nth);
            }
        }
        // By class of the holder.
        let mut held: HashMap<u32, Vec<usize>> = HashMap::new();
        for &nth in &fields {
            if let Some(field) = field(nth).filter(|field| field.holder != field.class) {
                held.entry(field.holder).or_default().push(nth);
            }
        }
        let mut is_done = vec![false; self.things.len()];
        // First those whose holders nothing explains; then, where classes hold one another, any.
        let is_first = |nth: usize| {
            let holder = field(nth).map(|field| field.holder);
            holder.is_none_or(|holder| {
                !of_class.contains_key(&holder) && !by_class.contains_key(&holder)
            })
        };
        let mut folds: Vec<(usize, usize)> = Vec::new();
        for (&class, &last) in &by_class {
            for &nth in held.get(&class).into_iter().flatten() {
                folds.push((nth, last));
            }
        }
        folds.sort_unstable();
        let mut starts: Vec<(usize, usize)> = folds;
        starts.extend(
            fields
                .iter()
                .filter(|&&nth| is_first(nth))
                .map(|&nth| (nth, nth)),
        );
        starts.extend(fields.iter().map(|&nth| (nth, nth)));
        for (start, into) in starts {
            if is_done[start] {
                continue;
            }
            is_done[start] = true;
            self.into[start] = into;
            let mut pending = vec![start];
            while let Some(nth) = pending.pop() {
                let class = self.things[nth].class;
                let below = class.and_then(|class| held.get(&class));
                for &next in below.into_iter().flatten() {
                    if !std::mem::replace(&mut is_done[next], true) {
                        self.into[next] = into;
                        pending.push(next);
                    }
                }
            }
        }
    }

    /// What a thing is folded into in the end.
    fn last(&self, mut nth: usize) -> usize {
        while self.into[nth] != nth {
            nth = self.into[nth];
        }
        nth
    }

    /// Whether something else stands for the place of a thing: the same objects, or more of them.
    fn is_double(&self, nth: usize) -> bool {
        let place = self.things[nth].what.place();
        let other = place.and_then(|place| self.by_place.get(&place));
        other.is_some_and(|&other| other != nth)
    }
}

//! Which growing thing explains which others.
//!
//! - What a growing thing holds, over a path that passes through it, is folded into it.
//! - A container that grows only because it refers to more objects is folded into the site of these; the keys
//!   of a map into the site of its values.
//! - Of a site and the group of the same objects the site stays. If both are at one place and count
//!   different objects, the one that has more of them in the last dump stays.
//! - What grows only without regard to paths is folded into what grows of its holder's class.

use std::collections::{BTreeMap, HashMap};

use super::growing_thing::{GrowingThing, What, last};
use super::series::Merged;
use super::trend::has_equal_counts;
use base::columns;
use base::error::Result;

/// The label of elements and of values.
const ELEMENT: &str = "[*]";
const KEY: &str = "key [*]";
const MEMBER: &str = "member [*]";

/// Groups growing things by what explains them: each that stays, with what is folded into it. Things in
/// `accepted` are left out, and explain nothing.
pub(super) fn fold(
    merged: &Merged,
    sites: &[GrowingThing<'_>],
    accepted: &[bool],
) -> Result<BTreeMap<usize, Vec<usize>>> {
    let is_accepted = |site: usize| accepted.get(site).copied().unwrap_or_default();
    let mut folding = Folding {
        merged,
        sites,
        by_place: HashMap::new(),
        elements: HashMap::new(),
        into: (0..sites.len()).collect(),
    };
    let kept = || (0..sites.len()).filter(|&site| !is_accepted(site));
    for site in kept() {
        folding.place(site);
    }
    let outermost = folding.outermost()?;
    for site in kept() {
        folding.fold_with_path(site, &outermost);
    }
    folding.fold_without_path(&kept().collect::<Vec<_>>());
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for site in kept() {
        let last = folding.last(site);
        let folded = groups.entry(last).or_default();
        if last != site && !folding.is_double(site) {
            folded.push(site);
        }
    }
    Ok(groups)
}

/// Where nothing grows on the way.
const NOTHING: u32 = u32::MAX;

struct Folding<'f, 'm> {
    merged: &'m Merged,
    sites: &'f [GrowingThing<'m>],
    /// By place: what grows there. Of two things the one that has more objects.
    by_place: HashMap<u32, usize>,
    /// By place of a container: what it refers to more and more of.
    elements: HashMap<u32, usize>,
    /// What each thing is folded into; itself if it stays.
    into: Vec<usize>,
}

impl Folding<'_, '_> {
    /// Puts a thing at its place.
    fn place(&mut self, site: usize) {
        let Some(place) = self.sites[site].what.place() else {
            return;
        };
        let winner = match self.by_place.get(&place) {
            Some(&other) => self.larger(site, other),
            None => site,
        };
        self.by_place.insert(place, winner);
        let is_element = matches!(self.merged.label(place), Some(ELEMENT | KEY | MEMBER));
        if let (true, Some(holder)) = (
            is_element && self.grows_in_number(site),
            self.merged.holder(place),
        ) {
            let winner = match self.elements.get(&holder) {
                Some(&other) => self.better_element(site, other),
                None => site,
            };
            self.elements.insert(holder, winner);
        }
    }

    fn grows_in_number(&self, site: usize) -> bool {
        !has_equal_counts(self.sites[site].counted)
    }

    /// The one that has more objects in the end; of equals the site.
    fn larger(&self, one: usize, other: usize) -> usize {
        let key = |site: usize| {
            let GrowingThing { what, counted, .. } = self.sites[site];
            (last(counted).count, matches!(what, What::Site(_)))
        };
        match key(one) >= key(other) {
            true => one,
            false => other,
        }
    }

    /// Values come before keys, then what there is more of, then what comes first.
    fn better_element(&self, one: usize, other: usize) -> usize {
        let is_value = |site: usize| {
            let place = self.sites[site].what.place();
            place.and_then(|place| self.merged.label(place)) == Some(ELEMENT)
        };
        match (is_value(one), is_value(other)) {
            (true, false) => one,
            (false, true) => other,
            _ => match self.larger(other, one) == other {
                true => other,
                false => one,
            },
        }
    }

    /// Whether a thing at a place grows only because it refers to more objects.
    fn element_of(&self, place: u32) -> Option<usize> {
        let site = *self.by_place.get(&place)?;
        let element = *self.elements.get(&place)?;
        (!self.grows_in_number(site)).then_some(element)
    }

    /// By place: the outermost thing that grows there or on the way there, but none that is folded into what
    /// it holds.
    fn outermost(&self) -> Result<Vec<u32>> {
        let count = self.merged.places.len();
        let mut outermost = columns::repeated(NOTHING, count)?;
        // A place comes after the one that it continues.
        for place in 0..count as u32 {
            let before = self.merged.holder(place);
            let before = before.map_or(NOTHING, |holder| outermost[holder as usize]);
            outermost[place as usize] = match before {
                NOTHING if self.element_of(place).is_none() => self
                    .by_place
                    .get(&place)
                    .map_or(NOTHING, |&site| site as u32),
                before => before,
            };
        }
        Ok(outermost)
    }

    fn fold_with_path(&mut self, site: usize, outermost: &[u32]) {
        let Some(place) = self.sites[site].what.place() else {
            return;
        };
        let winner = self.by_place[&place];
        if winner != site {
            self.into[site] = winner;
            return;
        }
        let holder = self.merged.holder(place);
        let outermost = holder.map_or(NOTHING, |holder| outermost[holder as usize]);
        if outermost != NOTHING {
            self.into[site] = outermost as usize;
        } else if let Some(element) = self.element_of(place) {
            self.into[site] = element;
        } else if self.merged.label(place) == Some(KEY)
            && let Some(holder) = self.merged.holder(place)
            && let Some(&value) = self.elements.get(&holder)
        {
            self.into[site] = value;
        }
    }

    fn fold_without_path(&mut self, kept: &[usize]) {
        let mut by_class: HashMap<u32, usize> = HashMap::new();
        for &site in kept {
            let thing = &self.sites[site];
            if let (Some(class), Some(_)) = (thing.class, thing.what.place()) {
                let last = self.last(site);
                by_class.entry(class).or_insert(last);
            }
        }
        let field = |site: usize| match self.sites[site].what {
            What::Field(field) => Some(field),
            _ => None,
        };
        let fields: Vec<usize> = kept
            .iter()
            .copied()
            .filter(|&site| field(site).is_some())
            .collect();
        let mut of_class: HashMap<u32, Vec<usize>> = HashMap::new();
        for &site in &fields {
            if let Some(class) = self.sites[site].class {
                of_class.entry(class).or_default().push(site);
            }
        }
        // By class of the holder.
        let mut held: HashMap<u32, Vec<usize>> = HashMap::new();
        for &site in &fields {
            if let Some(field) = field(site).filter(|field| field.holder != field.class) {
                held.entry(field.holder).or_default().push(site);
            }
        }
        let mut is_done = vec![false; self.sites.len()];
        // First those whose holders nothing explains; then, where classes hold one another, any.
        let is_first = |site: usize| {
            let holder = field(site).map(|field| field.holder);
            holder.is_none_or(|holder| {
                !of_class.contains_key(&holder) && !by_class.contains_key(&holder)
            })
        };
        let mut folds: Vec<(usize, usize)> = Vec::new();
        for (&class, &last) in &by_class {
            for &site in held.get(&class).into_iter().flatten() {
                folds.push((site, last));
            }
        }
        folds.sort_unstable();
        let mut starts: Vec<(usize, usize)> = folds;
        starts.extend(
            fields
                .iter()
                .filter(|&&site| is_first(site))
                .map(|&site| (site, site)),
        );
        starts.extend(fields.iter().map(|&site| (site, site)));
        for (start, into) in starts {
            if is_done[start] {
                continue;
            }
            is_done[start] = true;
            self.into[start] = into;
            let mut pending = vec![start];
            while let Some(site) = pending.pop() {
                let class = self.sites[site].class;
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
    fn last(&self, mut site: usize) -> usize {
        while self.into[site] != site {
            site = self.into[site];
        }
        site
    }

    /// Whether something else at the place of a thing counts the same objects.
    fn is_double(&self, site: usize) -> bool {
        let place = self.sites[site].what.place();
        let other = place.and_then(|place| self.by_place.get(&place));
        other.is_some_and(|&other| {
            other != site && self.sites[other].series == self.sites[site].series
        })
    }
}

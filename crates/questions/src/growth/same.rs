//! Growing places that are one: those with the same objects, the texts by which a container finds its values, and what
//! the engine makes for each object of another place.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::growing_thing::GrowingThing;
use super::series::Merged;
use crate::place_table::PlaceSum;
use heap::{ENGINE_MODULE, RootKind};

/// The label of elements and of values.
const ELEMENT: &str = "[*]";

/// How classes of things begin that a host, such as Node, makes for objects of the program.
const HOST_CLASS: &str = "Node / ";

/// Which of these things are folded into which: pairs. Nothing is folded into what is folded itself.
pub(super) fn same_growth(
    merged: &Merged,
    things: &[GrowingThing<'_>],
    heads: &[usize],
) -> Vec<(usize, usize)> {
    let place = |nth: usize| things[nth].what.place();
    let mut heads: Vec<(Rank, usize)> = heads
        .iter()
        .filter_map(|&nth| Some((rank(merged, place(nth)?), nth)))
        .collect();
    heads.sort();
    let mut folds = Vec::new();
    let mut first: HashMap<ObjectsKey, usize> = HashMap::new();
    let mut lists: HashMap<ListKey, usize> = HashMap::new();
    heads.retain(|&(_, nth)| {
        let same = objects_key(&things[nth]).map(|key| *first.entry(key).or_insert(nth));
        let list = list_key(merged, &things[nth]).map(|key| *lists.entry(key).or_insert(nth));
        let into = same.filter(|&same| same != nth).or(list).unwrap_or(nth);
        if into != nth {
            folds.push((nth, into));
        }
        into == nth
    });
    // The texts and what the engine makes come last, so that what they are folded into stays.
    let is_value =
        |class: Option<u32>| class.is_some_and(|class| merged.plain_classes.contains(&class));
    let mut by_steps: HashMap<Vec<i128>, Vec<usize>> = HashMap::new();
    for &(_, nth) in &heads {
        if let Some(steps) = steps(things[nth].counted) {
            by_steps.entry(steps).or_default().push(nth);
        }
    }
    for (rank, nth) in &heads {
        let class = things[*nth].class;
        let name = class.map_or("", |class| merged.name(class));
        let is_text = name.starts_with('(') && is_value(class);
        let is_of_host =
            rank.start > RootOwner::Program && (name.starts_with(HOST_CLASS) || is_text);
        let variable = |nth: usize| engine_variable(merged, place(nth)?);
        let own_variable = variable(*nth);
        if !is_text && !is_of_host && own_variable.is_none() {
            continue;
        }
        let retained = |nth: usize| {
            things[nth]
                .counted
                .iter()
                .flatten()
                .last()
                .map(|sum| sum.retained)
        };
        let in_step = steps(things[*nth].counted).and_then(|steps| by_steps.get(&steps));
        let holder = |nth: usize| {
            let place = place(nth)?;
            (merged.label(place) == Some(ELEMENT)).then_some(merged.holder(place)?)
        };
        let is_reason = |other: &&usize| {
            let name = things[**other].class.map_or("", |class| merged.name(class));
            let is_one_by_itself = !name.starts_with('(') && !name.starts_with(HOST_CLASS);
            let is_keyed = is_text && holder(*nth).is_some() && holder(*nth) == holder(**other);
            // What hangs on one variable of the engine, and grows in step with something larger there.
            let is_part = own_variable.is_some()
                && own_variable == variable(**other)
                && (retained(**other), Reverse(**other)) > (retained(*nth), Reverse(*nth));
            is_one_by_itself && (is_of_host || is_keyed || is_part)
        };
        let reasons = in_step.into_iter().flatten().filter(is_reason);
        if let Some(&into) = reasons.max_by_key(|&&other| (retained(other), Reverse(other))) {
            folds.push((*nth, into));
        }
    }
    folds
}

/// Growing things without those that have the same objects as an earlier one.
pub(super) fn without_doubles(things: &[GrowingThing<'_>], all: &[usize]) -> Vec<usize> {
    let mut seen: HashMap<ObjectsKey, ()> = HashMap::new();
    let is_first = |nth: &usize| match objects_key(&things[*nth]) {
        Some(key) => seen.insert(key, ()).is_none(),
        None => true,
    };
    all.iter().copied().filter(is_first).collect()
}

/// Where a path begins, from what people know best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RootOwner {
    Program,
    Engine,
    System,
}

/// Which of several paths to the same objects is shown: the first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    start: RootOwner,
    length: usize,
    text: String,
}

fn rank(merged: &Merged, place: u32) -> Rank {
    let (root, path) = merged.path(place);
    let start = match (root.kind, root.name.as_deref()) {
        (RootKind::Global, Some(ENGINE_MODULE)) => RootOwner::Engine,
        (RootKind::System, _) => RootOwner::System,
        _ => RootOwner::Program,
    };
    let length = std::iter::successors(Some(place), |&place| merged.holder(place)).count();
    Rank {
        start,
        length,
        text: path.text,
    }
}

/// The class of objects, and by dump that counts their number and a hash of which they are.
type ObjectsKey = (Option<u32>, Vec<(u64, u64)>);

/// `None` if it is not known which objects a thing has.
fn objects_key(thing: &GrowingThing<'_>) -> Option<ObjectsKey> {
    thing.what.place()?;
    let objects: Option<Vec<(u64, u64)>> = thing
        .counted
        .iter()
        .map(|sum| sum.map(|sum| (sum.count, sum.objects)))
        .collect();
    let objects = objects?;
    let is_known = objects.iter().all(|&(count, hash)| count == 0 || hash != 0);
    let has_any = objects.iter().any(|&(count, _)| count > 0);
    (is_known && has_any).then_some((thing.class, objects))
}

/// The place of a list, the class of its items, and by dump their number.
type ListKey = (u32, u32, Vec<u64>);

/// What tells a list that is linked both ways, from its head on by one field and by another one: from the head to each
/// next item leads the same field.
fn list_key(merged: &Merged, thing: &GrowingThing<'_>) -> Option<ListKey> {
    let item = thing.what.place()?;
    let first = merged.holder(item)?;
    let class = |place: u32| merged.places[place as usize].class;
    let field = merged.label(item)?;
    let is_list = class(first) == class(item) && merged.label(first) == Some(field);
    let counts: Option<Vec<u64>> = thing
        .counted
        .iter()
        .map(|sum| Some((*sum)?.count))
        .collect();
    is_list.then_some((merged.holder(first)?, class(item), counts?))
}

/// The variable of the engine at which a path begins.
fn engine_variable(merged: &Merged, place: u32) -> Option<u32> {
    let chain: Vec<u32> =
        std::iter::successors(Some(place), |&place| merged.holder(place)).collect();
    let variable = *chain.iter().rev().nth(1)?;
    let is_variable = merged.label(variable)?.starts_with("->");
    let (root, _) = merged.path(*chain.last()?);
    (is_variable && root.name.as_deref() == Some(ENGINE_MODULE)).then_some(variable)
}

/// By how many objects a thing grows in each interval; `None` if not in all of them.
fn steps(counted: &[Option<PlaceSum>]) -> Option<Vec<i128>> {
    let counts: Option<Vec<i128>> = counted
        .iter()
        .map(|sum| sum.map(|sum| i128::from(sum.count)))
        .collect();
    let steps: Vec<i128> = counts?.windows(2).map(|pair| pair[1] - pair[0]).collect();
    steps.iter().all(|&step| step > 0).then_some(steps)
}

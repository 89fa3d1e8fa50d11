//! Place tables of random heaps against their definition, and growth over tables against its own.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::random::{class_name, open, path_text, plain_label, plans};
use crate::support::{ARRAY_BUFFER, STRING, Scene};
use engine::Control;
use engine::outputs::formats::TableOptions;
use engine::questions::{GrowthOptions, LoadedHeap, PlaceTable, growth};

/// What the retained sizes of a table are of: each kind of row, with its text.
type Retained = BTreeMap<String, u64>;

/// The retained bytes of all rows of a table.
fn retained_by(table: &PlaceTable) -> Retained {
    let table: Value = serde_json::from_slice(&table.to_bytes()).unwrap();
    let name = |number: &Value| {
        table["names"][number.as_u64().unwrap() as usize]
            .as_str()
            .unwrap()
    };
    let retained = |row: &Value| row["retained"].as_u64().unwrap();
    let mut rows = Retained::new();
    for row in table["fields"].as_array().unwrap() {
        let [holder, label, class] = ["holder", "label", "class"].map(|key| name(&row[key]));
        rows.insert(format!("{holder} {label} {class}"), retained(&row["sum"]));
    }
    for row in table["classes"].as_array().unwrap() {
        rows.insert(name(&row["class"]).to_owned(), retained(&row["sum"]));
    }
    rows
}

fn table(heap: &LoadedHeap) -> PlaceTable {
    engine::questions::place_table(heap, &Control::default()).unwrap()
}

/// Objects and the bytes of their contents.
type Sum = (u64, u64);

/// A place table, read from its bytes: sums by path text, by holders' path text with label and class, by
/// holder's class with label and class, and by class.
#[derive(Debug, Default, PartialEq)]
struct Rows {
    groups: BTreeMap<String, Sum>,
    places: BTreeMap<(String, String, String), Sum>,
    rooted: BTreeMap<String, Sum>,
    fields: BTreeMap<(String, String, String), Sum>,
    classes: BTreeMap<String, Sum>,
    /// By path text: that of the group that it continues; none at a root.
    holders: BTreeMap<String, Option<String>>,
    module: u64,
}

fn after_class(label: &str) -> String {
    match label {
        label if label.starts_with(['[', '+', '(']) => label.to_owned(),
        label if label.contains(' ') => format!(" {label}"),
        label => format!(".{label}"),
    }
}

/// A path that continues another with a reference.
fn continued(holders: &str, label: &str, class: &str) -> String {
    format!("{holders}{} > {class}", after_class(label))
}

impl Rows {
    fn of(table: &PlaceTable) -> Self {
        let table: Value = serde_json::from_slice(&table.to_bytes()).unwrap();
        let name = |number: &Value| {
            let number = number.as_u64().unwrap() as usize;
            table["names"][number].as_str().unwrap().to_owned()
        };
        let sum = |sum: &Value| {
            (
                sum["count"].as_u64().unwrap(),
                sum["bytes"].as_u64().unwrap(),
            )
        };
        let list = |key: &str| table[key].as_array().unwrap().clone();
        let mut rows = Self {
            module: table["moduleHash"].as_u64().unwrap(),
            ..Self::default()
        };
        let mut texts: Vec<String> = Vec::new();
        for path in list("paths") {
            let class = name(&path["class"]);
            let (holder, text) = match &path["start"] {
                Value::String(kind) => (None, format!("{} > {class}", kind.to_lowercase())),
                start if start.get("Global").is_some() => {
                    let global = name(&start["Global"]);
                    (None, format!("global {global} > {class}"))
                }
                start => {
                    let step = &start["Step"];
                    let before = texts[step[0].as_u64().unwrap() as usize].clone();
                    let text = continued(&before, &name(&step[1]), &class);
                    (Some(before), text)
                }
            };
            rows.holders.insert(text.clone(), holder);
            texts.push(text);
        }
        let text = |path: &Value| texts[path.as_u64().unwrap() as usize].clone();
        for (kind, into) in [("groups", &mut rows.groups), ("rooted", &mut rows.rooted)] {
            into.extend(list(kind).iter().map(|row| (text(&row[0]), sum(&row[1]))));
        }
        for row in list("places") {
            let key = (
                text(&row["holders"]),
                name(&row["label"]),
                name(&row["class"]),
            );
            rows.places.insert(key, sum(&row["sum"]));
        }
        for row in list("fields") {
            let key = (
                name(&row["holder"]),
                name(&row["label"]),
                name(&row["class"]),
            );
            rows.fields.insert(key, sum(&row["sum"]));
        }
        for row in list("classes") {
            rows.classes.insert(name(&row["class"]), sum(&row["sum"]));
        }
        rows
    }
}

fn counts<K: Clone + Ord>(rows: &BTreeMap<K, Sum>) -> BTreeMap<K, usize> {
    let present = rows.iter().filter(|(_, sum)| sum.0 > 0);
    present
        .map(|(key, sum)| (key.clone(), sum.0 as usize))
        .collect()
}

fn sizes<K: Clone + Ord, T>(sets: &BTreeMap<K, BTreeSet<T>>) -> BTreeMap<K, usize> {
    sets.iter()
        .map(|(key, set)| (key.clone(), set.len()))
        .collect()
}

/// The class of a path.
fn class_of(text: &str) -> String {
    text.rsplit(" > ").next().unwrap().to_owned()
}

/// What grew, by the text of its path: a sum by table, where it is known.
type Grown = BTreeMap<String, Vec<Option<Sum>>>;

/// The rows that grow, by their definition: those with a path, and fields of the others.
fn grown(tables: &[Rows]) -> (Grown, BTreeSet<String>) {
    // The name of a class that nothing describes means something else in another module.
    let is_one_module = tables.iter().all(|table| table.module == tables[0].module);
    let is_comparable = |name: &str| is_one_module || !name.contains("Class#");
    let is_trend = |series: &[Option<Sum>], ordered: fn(&Sum, &Sum) -> bool| {
        let sums: Vec<Sum> = series.iter().flatten().copied().collect();
        sums.len() >= series.len().min(7)
            && sums.len() > 1
            && sums.windows(2).all(|pair| ordered(&pair[0], &pair[1]))
    };
    let gains_digits = |class: &str, series: &[Option<Sum>]| {
        let sums: Vec<Sum> = series.iter().flatten().copied().collect();
        let digits = match class.rsplit('/').next() {
            Some("String") => 6,
            Some("ArrayBuffer") => 3,
            _ => return false,
        };
        sums.iter().all(|sum| sum.0 == sums[0].0)
            && sums[sums.len() - 1].1 - sums[0].1 <= digits * sums[0].0
    };
    // Class, text, kind, and the sums.
    let mut rows: Vec<(String, String, Vec<Option<Sum>>)> = Vec::new();
    let has_group = |table: &Rows, holder: Option<&String>| {
        holder.is_none_or(|holder| table.groups.contains_key(holder))
    };
    for is_site in [false, true] {
        let mut texts: BTreeMap<String, Option<String>> = BTreeMap::new();
        for table in tables {
            let of_table = if is_site {
                &table.rooted
            } else {
                &table.groups
            };
            for text in of_table.keys() {
                texts.insert(text.clone(), table.holders[text].clone());
            }
            for (holders, label, class) in table.places.keys().filter(|_| is_site) {
                texts.insert(continued(holders, label, class), Some(holders.clone()));
            }
        }
        for (text, holder) in texts {
            if !is_comparable(&text) {
                continue;
            }
            let series = tables.iter().map(|table| {
                let sum = if is_site {
                    table.rooted.get(&text).copied().or_else(|| {
                        let mut places = table.places.iter();
                        let found = places.find(|((holders, label, class), _)| {
                            continued(holders, label, class) == text
                        });
                        found.map(|(_, &sum)| sum)
                    })
                } else {
                    table.groups.get(&text).copied()
                };
                let is_possible = has_group(table, holder.as_ref());
                sum.or(is_possible.then_some((0, 0)))
            });
            rows.push((class_of(&text), text.clone(), series.collect()));
        }
    }
    let falling: Vec<(String, String)> = rows
        .iter()
        .filter(|(_, _, series)| is_trend(series, |one, next| one > next))
        .map(|(class, text, _)| (class.clone(), text.clone()))
        .collect();
    let growing = rows.iter().filter(|(class, text, series)| {
        let mut falling = falling.iter();
        is_trend(series, |one, next| one < next)
            && !gains_digits(class, series)
            && !falling.any(|(other, at)| other == class && at != text)
    });
    let with_path: Grown = growing
        .map(|(_, text, series)| (text.clone(), series.clone()))
        .collect();
    let classes_with_path: BTreeSet<String> = with_path.keys().map(|text| class_of(text)).collect();

    let keys: BTreeSet<_> = tables
        .iter()
        .flat_map(|table| table.fields.keys())
        .filter(|(holder, _, class)| is_comparable(holder) && is_comparable(class))
        .collect();
    let series_of = |key: &(String, String, String)| -> Vec<Option<Sum>> {
        let series = tables.iter().map(|table| {
            let is_possible = table.classes.get(&key.0).is_some_and(|sum| sum.0 > 0);
            let sum = table.fields.get(key).copied();
            sum.or(is_possible.then_some((0, 0)))
        });
        series.collect()
    };
    let falling: BTreeSet<&String> = keys
        .iter()
        .filter(|key| is_trend(&series_of(key), |one, next| one > next))
        .map(|key| &key.2)
        .collect();
    let fields = keys.iter().filter(|key| {
        let series = series_of(key);
        is_trend(&series, |one, next| one < next)
            && !gains_digits(&key.2, &series)
            && !falling.contains(&key.2)
            && !classes_with_path.contains(&key.2)
    });
    let fields: BTreeSet<String> = fields
        .map(|(holder, label, class)| format!("{holder}{} > {class}", after_class(label)))
        .collect();
    (with_path, fields)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_site_counts_every_object_that_its_references_lead_to_once(plans in plans()) {
        let (heap, truth) = open(&plans);
        let rows = Rows::of(&table(&heap));
        let live = truth.reached(|_| true);
        let class = |object| class_name(&heap, object);
        let path = |object| path_text(&heap, &truth, &truth.path(object).unwrap());
        let mut groups: BTreeMap<String, BTreeSet<_>> = BTreeMap::new();
        let mut places: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        let mut fields: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        let mut classes: BTreeMap<String, BTreeSet<_>> = BTreeMap::new();
        for &holder in &live {
            groups.entry(path(holder)).or_default().insert(holder);
            classes.entry(class(holder)).or_default().insert(holder);
            for (label, target) in &truth.labelled[&holder] {
                let label = plain_label(&class(holder), label);
                let (holder_class, target_class) = (class(holder), class(*target));
                if holder_class != target_class {
                    let key = (path(holder), label.clone(), target_class.clone());
                    places.entry(key).or_default().insert(*target);
                }
                let key = (holder_class, label, target_class);
                fields.entry(key).or_default().insert(*target);
            }
        }
        let mut rooted: BTreeMap<String, BTreeSet<_>> = BTreeMap::new();
        for (kind, object) in &truth.root_slots {
            let text = format!("{} > {}", super::random::root_text(*kind), class(*object));
            rooted.entry(text).or_default().insert(*object);
        }
        prop_assert_eq!(counts(&rows.groups), sizes(&groups));
        prop_assert_eq!(counts(&rows.places), sizes(&places));
        prop_assert_eq!(counts(&rows.fields), sizes(&fields));
        prop_assert_eq!(counts(&rows.classes), sizes(&classes));
        prop_assert_eq!(counts(&rows.rooted), sizes(&rooted));
    }

    #[test]
    fn objects_retain_what_deletion_of_those_that_no_other_of_them_dominates_frees(plans in plans()) {
        let (heap, truth) = open(&plans);
        let found = retained_by(&table(&heap));
        let live = truth.reached(|_| true);
        let class = |object| class_name(&heap, object);
        let mut sets: BTreeMap<String, BTreeSet<_>> = BTreeMap::new();
        for &holder in &live {
            sets.entry(class(holder)).or_default().insert(holder);
            for (label, target) in &truth.labelled[&holder] {
                let label = plain_label(&class(holder), label);
                let key = format!("{} {label} {}", class(holder), class(*target));
                sets.entry(key).or_default().insert(*target);
            }
        }
        let live_size = truth.reached_size(|_| true);
        for (key, set) in sets {
            let tops = set.iter().filter(|&&object| {
                let dominators = truth.dominators(object, |_| true);
                !dominators[1..].iter().any(|dominator| set.contains(dominator))
            });
            let freed = tops.map(|&object| {
                let into = truth.references_to(object);
                live_size - truth.reached_size(|reference| !into.contains(&reference))
            });
            prop_assert_eq!((&key, found[&key]), (&key, freed.sum::<u64>()));
        }
    }

    #[test]
    fn the_bytes_of_all_groups_together_are_the_live_bytes(plans in plans()) {
        let (heap, _) = open(&plans);
        let table: Value = serde_json::from_slice(&table(&heap).to_bytes()).unwrap();
        let sizes = table["sizes"].as_array().unwrap().iter();
        let sum: u64 = sizes.map(|size| size.as_u64().unwrap()).sum();
        prop_assert_eq!(Some(sum), table["totalLiveSize"].as_u64());
    }

    #[test]
    fn what_grows_is_what_its_definition_says(
        heaps in prop::collection::vec(plans(), 2..5),
    ) {
        let mut heaps: Vec<_> = heaps.iter().map(|plans| open(plans).0).collect();
        // Larger and larger, so that something grows.
        heaps.sort_by_key(|heap| heap.heap().live_size);
        let tables: Vec<PlaceTable> = heaps.iter().map(table).collect();
        let rows: Vec<Rows> = tables.iter().map(Rows::of).collect();
        let (with_path, fields) = grown(&rows);
        let answer = grown_by(&tables, json!({ "limit": 100_000 }));
        let mut found_paths = BTreeSet::new();
        let mut found_fields = BTreeSet::new();
        for place in answer["places"].as_array().unwrap() {
            for one in place["folded"].as_array().unwrap().iter().chain([place]) {
                let class = one["className"].as_str().unwrap();
                match (one["path"].as_str(), one["label"].as_str()) {
                    (Some(path), _) => _ = found_paths.insert(path.to_owned()),
                    (None, Some(label)) => _ = found_fields.insert(format!("{label} > {class}")),
                    (None, None) => {}
                }
            }
        }
        prop_assert!(found_paths.iter().all(|path| with_path.contains_key(path)));
        for (path, series) in &with_path {
            // Of places with the same objects, one is listed.
            let has_same = |other: &String| {
                class_of(other) == class_of(path) && &with_path[other] == series
            };
            prop_assert!(found_paths.contains(path) || found_paths.iter().any(has_same));
        }
        prop_assert_eq!(found_fields, fields);
    }

    #[test]
    fn bytes_of_a_table_make_the_same_table_and_other_bytes_none(
        plans in plans(), place in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let table = table(&open(&plans).0);
        let mut bytes = table.to_bytes();
        prop_assert_eq!(&PlaceTable::from_bytes(&bytes).unwrap(), &table);
        let place = place.index(bytes.len());
        bytes[place] = byte;
        // Whatever they are, the comparison does not panic.
        if let Ok(other) = PlaceTable::from_bytes(&bytes) {
            let tables = [table, other];
            _ = growth(&tables.each_ref(), &options(json!({})), &Control::default());
        }
    }
}

fn options(options: Value) -> GrowthOptions {
    serde_json::from_value(options).unwrap()
}

fn grown_by(tables: &[PlaceTable], wanted: Value) -> Value {
    let tables: Vec<&PlaceTable> = tables.iter().collect();
    let answer = growth(&tables, &options(wanted), &Control::default()).unwrap();
    serde_json::to_value(answer).unwrap()
}

#[test]
fn contents_are_lengths_elements_entries_and_fields_and_no_blocks() {
    let mut scene = Scene::new();
    let holder = scene.class("assembly/index/Holder");
    let numbers = scene.generic("~lib/array/Array<i32>", &[&"i32"]);
    let map = scene.generic("~lib/map/Map<i32,f64>", &[&"i32", &"f64"]);
    for (nth, class) in [STRING, numbers, map, ARRAY_BUFFER].into_iter().enumerate() {
        scene.field(holder, &format!("field{nth}"), nth as u32 * 4, class);
    }
    let text = scene.object_of(STRING, &[0x0062_0061, 0x0064_0063]);
    // Room for 8 numbers, of which 3 are there.
    let storage = scene.object_of(ARRAY_BUFFER, &[0; 8]);
    let array = scene.object_of(numbers, &[storage.0, storage.0, 32, 3]);
    let buckets = scene.object_of(ARRAY_BUFFER, &[0; 4]);
    let entries = scene.object_of(ARRAY_BUFFER, &[0; 24]);
    // 4 entries were used, of which 2 are deleted.
    let table_object = scene.object_of(map, &[buckets.0, 3, entries.0, 4, 4, 2]);
    let buffer = scene.object_of(ARRAY_BUFFER, &[0; 5]);
    let words = [text.0, array.0, table_object.0, buffer.0];
    let object = scene.object_of(holder, &words);
    scene.global("assembly/index/holder", holder, object);
    let rows = Rows::of(&table(&scene.open()));
    let bytes = |class: &str| rows.classes[class];
    assert_eq!(bytes("~lib/string/String"), (1, 8));
    assert_eq!(bytes("~lib/array/Array<i32>"), (1, 16 + 3 * 4));
    assert_eq!(bytes("~lib/map/Map<i32,f64>"), (1, 24 + 2 * 12));
    // Three are storage of containers, and count with these.
    assert_eq!(bytes("~lib/arraybuffer/ArrayBuffer"), (4, 20));
    assert_eq!(bytes("assembly/index/Holder"), (1, 16));
}

/// What grows over dumps that have this many words on the stack.
fn growth_of_stacks(words: &[u32]) -> engine::questions::Answer {
    let tables: Vec<PlaceTable> = words
        .iter()
        .map(|&words| {
            let mut scene = Scene::new();
            for _ in 0..words {
                scene.push_on_stack(0u32);
            }
            table(&scene.open())
        })
        .collect();
    let tables: Vec<&PlaceTable> = tables.iter().collect();
    let options: GrowthOptions = serde_json::from_value(json!({})).unwrap();
    growth(&tables, &options, &Control::default()).unwrap()
}

#[test]
fn a_stack_that_is_not_given_back_grows() {
    let answer = growth_of_stacks(&[0, 4, 8, 12, 16, 20, 24, 28]);
    let json = serde_json::to_value(&answer).unwrap();
    assert_eq!(json["total"], 1);
    let place = &json["places"][0];
    assert_eq!(place["className"], "(stack)");
    assert_eq!(
        place["perInterval"],
        json!({ "count": 0, "bytes": 16, "retained": 16 })
    );
    let text = engine::outputs::formats::render_text(&answer, TableOptions::default());
    let sentence =
        "the stack grows by 16 B per interval: a caller takes stack and does not give it back";
    assert!(text.contains(sentence), "{text}");
}

#[test]
fn a_stack_that_is_given_back_does_not_grow() {
    for stacks in [
        [0; 8],
        [12; 8],
        [0, 4, 8, 4, 8, 12, 16, 20],
        [8, 7, 6, 5, 4, 3, 2, 1],
    ] {
        let json = serde_json::to_value(growth_of_stacks(&stacks)).unwrap();
        assert_eq!(json["total"], 0, "{stacks:?}");
    }
}

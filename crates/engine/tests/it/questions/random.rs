//! Every answer about random heaps against its definition.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::naive::Reference;
use crate::strategies::any_plan;
use crate::support::random_heap::{Plan, Truth, build};
use crate::support::{Object, ask, ask_with};
use engine::Address;
use engine::base::units::format_size;
use engine::heap::RootKind;
use engine::questions::LoadedHeap;

pub(super) fn plans() -> impl Strategy<Value = Vec<Plan>> {
    prop::collection::vec(any_plan(), 1..25)
}

pub(super) fn open(plans: &[Plan]) -> (LoadedHeap, Truth) {
    let (scene, truth) = build(plans);
    (scene.open(), truth)
}

fn kind_name(kind: RootKind) -> &'static str {
    match kind {
        RootKind::Global => "global",
        RootKind::Stack => "stack",
        RootKind::Pinned => "pinned",
        RootKind::System => "system",
        RootKind::Host => "host",
        RootKind::Unreferenced => "unreferenced",
    }
}

/// Whether a label is the expected one. The expected labels do not contain the keys in brackets.
fn is_label(found: &Value, expected: &str) -> bool {
    let found = found.as_str().unwrap();
    match expected {
        "key" | "member" => found.starts_with(&format!("{expected} [")),
        expected => found == expected,
    }
}

fn is_edge(edge: &Value, truth: &Truth, reference: Reference) -> bool {
    match reference {
        Reference::Root(nth) => {
            edge["root"]["kind"] == kind_name(truth.root_slots[nth].0) && edge["address"].is_null()
        }
        Reference::Slot(source, nth) => {
            edge["address"] == source.0 && is_label(&edge["label"], &truth.labelled[&source][nth].0)
        }
    }
}

pub(super) fn class_name(heap: &LoadedHeap, object: Object) -> String {
    let index = heap.heap().objects.index.get(Address(object.0)).unwrap();
    heap.heap().objects.class_of(index).name.clone()
}

/// A label without index or key.
pub(super) fn plain_label(holder: &str, label: &str) -> String {
    match label {
        "key" | "member" => format!("{label} [*]"),
        index if index.starts_with('[') && holder != "~lib/tuple/SmallTuple" => "[*]".to_owned(),
        other => other.to_owned(),
    }
}

/// What all paths from roots of a kind begin with. Globals have one name.
pub(super) fn root_text(kind: RootKind) -> &'static str {
    match kind {
        RootKind::Global => "global assembly/index/root",
        kind => kind_name(kind),
    }
}

/// What a path reads like, by its two rules.
pub(super) fn path_text(heap: &LoadedHeap, truth: &Truth, path: &[Reference]) -> String {
    let Reference::Root(root) = path[0] else {
        panic!("a path begins at a root")
    };
    let mut steps: Vec<(String, String)> = Vec::new();
    for step in &path[1..] {
        let &Reference::Slot(source, nth) = step else {
            panic!("the rest of a path are references of objects")
        };
        let (label, target) = &truth.labelled[&source][nth];
        let (holder, class) = (class_name(heap, source), class_name(heap, *target));
        let label = match plain_label(&holder, label) {
            label if label.starts_with(['[', '(']) => label,
            label if label.contains(' ') => format!(" {label}"),
            field => format!(".{field}"),
        };
        let step = (format!("{holder}{label}"), class);
        if holder == step.1 {
            continue;
        }
        match steps.iter().position(|earlier| *earlier == step) {
            Some(first) => steps.truncate(first + 1),
            None => steps.push(step),
        }
    }
    let kind = root_text(truth.root_slots[root].0);
    let end = class_name(heap, truth.end(path));
    let steps = steps.iter().map(|(step, _)| step.as_str());
    let parts: Vec<&str> = [kind]
        .into_iter()
        .chain(steps)
        .chain([end.as_str()])
        .collect();
    parts.join(" > ")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn paths_are_the_first_of_the_shortest_from_the_first_kind_of_root(plans in plans()) {
        let (heap, truth) = open(&plans);
        for &object in truth.edges.keys() {
            let answer = ask(&heap, json!({ "question": "paths", "objects": [object.0] }));
            let Some(expected) = truth.path(object) else {
                prop_assert_eq!(&answer["path"], &Value::Null);
                continue;
            };
            let path = &answer["path"];
            let Reference::Root(root) = expected[0] else { panic!("a path begins at a root") };
            prop_assert_eq!(&path["root"]["kind"], kind_name(truth.root_slots[root].0));
            // Equal references in a row are one step.
            let mut at = 0;
            for (nth, step) in path["steps"].as_array().unwrap().iter().enumerate() {
                let repeat = step["repeat"].as_u64().unwrap() as usize;
                at += if nth == 0 { 1 } else { repeat };
                prop_assert_eq!(&step["address"], truth.end(&expected[..at]).0, "{} {:?}", path, expected);
                if let Reference::Slot(source, slot) = expected[at - 1] {
                    prop_assert!(is_label(&step["label"], &truth.labelled[&source][slot].0), "{} {:?}", path, expected);
                } else {
                    prop_assert_eq!(&step["label"], &Value::Null);
                }
            }
            prop_assert_eq!(at, expected.len());
            prop_assert_eq!(&path["text"], &path_text(&heap, &truth, &expected));
        }
    }

    #[test]
    fn referrers_are_all_live_references_and_the_independent_ones_are_marked(plans in plans()) {
        let (heap, truth) = open(&plans);
        let live = truth.reached(|_| true);
        for &object in truth.edges.keys() {
            let mut expected = truth.references_to(object);
            expected.retain(|reference| match reference {
                Reference::Root(_) => true,
                Reference::Slot(source, _) => live.contains(source),
            });
            let independent = truth.independent(object, |_| true);
            let question = json!({ "question": "referrers", "address": object.0, "limit": 1000 });
            let answer = ask(&heap, question);
            prop_assert_eq!(&answer["total"], expected.len());
            let edges = answer["referrers"].as_array().unwrap();
            prop_assert_eq!(edges.len(), expected.len());
            for (edge, &reference) in edges.iter().zip(&expected) {
                prop_assert!(is_edge(edge, &truth, reference), "{} {:?}", edge, reference);
                if live.contains(&object) {
                    prop_assert_eq!(&edge["independent"], independent.contains(&reference));
                }
            }
        }
    }

    #[test]
    fn a_heap_that_is_opened_with_all_indexes_gives_the_same_answers(plans in plans()) {
        let (scene, truth) = build(&plans);
        let (heap, prepared) = (scene.open(), scene.open_prepared());
        let about = |&object: &Object| {
            let of = move |question| json!({ "question": question, "address": object.0 });
            ["object", "referrers", "dominators"].map(of).into_iter().chain([
                json!({ "question": "paths", "objects": [object.0] }),
            ])
        };
        let about_all = ["dominators", "suspects", "unreachable", "waste"];
        let about_all = about_all.map(|question| json!({ "question": question }));
        for question in truth.edges.keys().flat_map(about).chain(about_all) {
            prop_assert_eq!(ask(&prepared, question.clone()), ask(&heap, question));
        }
    }

    #[test]
    fn cutting_frees_the_bytes_in_the_answer(plans in plans()) {
        let (heap, truth) = open(&plans);
        let live = truth.reached(|_| true);
        let live_size = truth.reached_size(|_| true);
        let is_stack = |reference: Reference| {
            matches!(reference, Reference::Root(nth) if truth.root_slots[nth].0 == RootKind::Stack)
        };
        let on_stack = truth.reached(|reference| !matches!(reference, Reference::Root(_)) || is_stack(reference));
        let size_after_return = truth.reached_size(|reference| !is_stack(reference));
        for &object in &live {
            let question = json!({ "question": "paths", "objects": [object.0], "limit": 1000 });
            let answer = ask(&heap, question);
            let independent = truth.independent(object, |_| true);
            let freed_by = |cut: &[Reference]| live_size - truth.reached_size(|reference| !cut.contains(&reference));
            let edges = answer["independentReferrers"]["edges"].as_array().unwrap();
            prop_assert_eq!(&answer["independentReferrers"]["total"], independent.len());
            for (edge, &reference) in edges.iter().zip(&independent) {
                prop_assert!(is_edge(edge, &truth, reference), "{} {:?}", edge, reference);
            }
            prop_assert_eq!(&answer["freedByCuttingAll"], freed_by(&independent));
            match independent[..] {
                [only] => prop_assert_eq!(&answer["freedByCutting"], freed_by(&[only])),
                _ => {
                    prop_assert_eq!(&answer["freedByCutting"], &Value::Null);
                    for &one in &independent {
                        prop_assert_eq!(freed_by(&[one]), 0);
                    }
                }
            }
            let dominators = truth.dominators(object, |_| true);
            prop_assert_eq!(dominators[0], object);
            let dominator = dominators.get(1).map(|dominator| dominator.0);
            prop_assert_eq!(answer["dominator"]["address"].as_u64(), dominator.map(u64::from));
            let cut = dominators.iter().find_map(|&dominator| match truth.independent(dominator, |_| true)[..] {
                [only] => Some(only),
                _ => None,
            });
            // A cut that frees much more than the object is no advice about it.
            let most = freed_by(&independent) * 3 / 2;
            let Some(cut) = cut.filter(|&cut| freed_by(&[cut]) <= most) else {
                prop_assert_eq!(&answer["cut"], &Value::Null);
                if cut.is_some() {
                    prop_assert_eq!(&answer["freedAfterReturn"], &Value::Null);
                }
                continue;
            };
            prop_assert_eq!(&answer["cut"]["freed"], freed_by(&[cut]));
            if let Reference::Slot(source, nth) = cut {
                prop_assert!(is_label(&answer["cut"]["label"], &truth.labelled[&source][nth].0));
            }
            if on_stack.contains(&object) {
                let rest = truth.reached_size(|reference| !is_stack(reference) && reference != cut);
                prop_assert_eq!(&answer["freedAfterReturn"], size_after_return - rest);
            } else {
                prop_assert_eq!(&answer["freedAfterReturn"], &Value::Null);
            }
        }
    }

    #[test]
    fn an_object_dominates_its_children_in_the_tree(plans in plans()) {
        let (heap, truth) = open(&plans);
        let live = truth.reached(|_| true);
        let mut expected: std::collections::BTreeMap<Option<Object>, Vec<u32>> = Default::default();
        for &object in &live {
            let dominator = truth.dominators(object, |_| true).get(1).copied();
            expected.entry(dominator).or_default().push(object.0);
        }
        for parent in live.iter().copied().map(Some).chain([None]) {
            let address = parent.map(|parent| parent.0);
            let question = json!({ "question": "dominators", "address": address, "limit": 1000 });
            let answer = ask(&heap, question);
            let children = answer["children"].as_array().unwrap();
            let mut found: Vec<u32> = children.iter().map(|child| child["address"].as_u64().unwrap() as u32).collect();
            found.sort_unstable();
            prop_assert_eq!(found, expected.remove(&parent).unwrap_or_default());
            let order = |child: &Value| {
                let number = |key: &str| child[key].as_i64().unwrap();
                (-number("retainedSize"), -number("shallowSize"), number("address"))
            };
            prop_assert!(children.is_sorted_by_key(order));
        }
    }

    #[test]
    fn the_paths_of_a_set_are_merged_without_losing_any(plans in plans(), wanted in prop::collection::vec(any::<bool>(), 40), limit in 1usize..5) {
        let (heap, truth) = open(&plans);
        let live = truth.reached(|_| true);
        let set: Vec<Object> = live.iter().copied().zip(wanted.iter().cycle()).filter(|(_, wanted)| **wanted).map(|(object, _)| object).collect();
        if set.len() < 2 {
            return Ok(());
        }
        let addresses: Vec<u32> = set.iter().map(|object| object.0).collect();
        let answer = ask(&heap, json!({ "question": "paths", "objects": addresses, "limit": limit }));
        let size = |objects: &[Object]| objects.iter().map(|object| u64::from(truth.sizes[object])).sum::<u64>();
        prop_assert_eq!(&answer["count"], set.len());
        prop_assert_eq!(&answer["shallowSize"], size(&set));

        let into_set: Vec<Reference> = set.iter().flat_map(|&object| truth.references_to(object)).collect();
        let rest = truth.reached_size(|reference| !into_set.contains(&reference));
        let freed = truth.reached_size(|_| true) - rest;
        prop_assert_eq!(&answer["freedByRemovingAll"], freed);
        let tops = set.iter().filter(|&&object| {
            let dominators = truth.dominators(object, |_| true);
            !dominators[1..].iter().any(|dominator| set.contains(dominator))
        });
        let retained = tops.map(|&object| {
            let into = truth.references_to(object);
            truth.reached_size(|_| true) - truth.reached_size(|reference| !into.contains(&reference))
        });
        let retained: u64 = retained.sum();
        prop_assert_eq!(&answer["retainedSetSize"], retained);
        prop_assert!(retained <= freed);

        let mut held = [0; 3];
        for &object in &set {
            let Some(Reference::Root(root)) = truth.path(object).map(|path| path[0]) else { panic!("it is alive") };
            held[truth.root_slots[root].0 as usize] += u64::from(truth.sizes[&object]);
        }
        let expected = json!({ "global": held[0], "stack": held[1], "pinned": held[2] });
        prop_assert_eq!(&answer["heldBy"], &expected);
        let total = sum(answer["tree"].as_array().unwrap(), &answer["more"]);
        prop_assert_eq!(total, (set.len() as u64, size(&set)));
        for branch in answer["tree"].as_array().unwrap() {
            check_branch(branch)?;
        }
    }

    #[test]
    fn suspects_are_objects_or_classes_that_no_other_object_dominates(plans in plans(), percent in 3u32..40) {
        let (heap, truth) = open(&plans);
        let live = truth.reached(|_| true);
        let live_size = truth.reached_size(|_| true);
        let fraction = f64::from(percent) / 100.0;
        let answer = ask(&heap, json!({ "question": "suspects", "threshold": fraction, "limit": 1000 }));
        let threshold = answer["threshold"].as_u64().unwrap();
        prop_assert!(threshold as f64 >= live_size as f64 * fraction);
        let retained = |object: Object| {
            let into = truth.references_to(object);
            live_size - truth.reached_size(|reference| !into.contains(&reference))
        };
        let tops: Vec<Object> = live.iter().copied().filter(|&object| truth.dominators(object, |_| true).len() == 1).collect();
        let suspects = answer["suspects"].as_array().unwrap();
        let addresses: Vec<u32> = suspects.iter().filter_map(|suspect| Some(suspect["address"].as_u64()? as u32)).collect();
        let mut by_class: std::collections::BTreeMap<String, (u64, u64)> = Default::default();
        for &top in &tops {
            let size = retained(top);
            if size >= threshold {
                prop_assert!(addresses.contains(&top.0));
            } else {
                let index = heap.heap().objects.index.get(Address(top.0)).unwrap();
                let name = heap.heap().objects.class_of(index).name.clone();
                let sum = by_class.entry(name).or_default();
                sum.0 += size;
                sum.1 += 1;
            }
        }
        by_class.retain(|_, sum| sum.0 >= threshold);
        for suspect in suspects {
            let size = suspect["retainedSize"].as_u64().unwrap();
            prop_assert!(size >= threshold);
            match suspect["address"].as_u64() {
                Some(address) => {
                    let object = Object(address as u32);
                    prop_assert_eq!(size, retained(object));
                    let end = Object(suspect["accumulation"]["address"].as_u64().unwrap() as u32);
                    prop_assert!(truth.dominators(end, |_| true).contains(&object));
                }
                None => {
                    let class_name = suspect["className"].as_str().unwrap();
                    let expected = by_class.remove(class_name);
                    prop_assert_eq!(expected, Some((size, suspect["count"].as_u64().unwrap())));
                }
            }
        }
        prop_assert!(by_class.is_empty());
        let unique: std::collections::BTreeSet<_> = addresses.iter().collect();
        prop_assert_eq!(unique.len(), addresses.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_sentence_of_a_suspect_is_true(plans in plans(), earlier in 0usize..25) {
        let (heap, truth) = open(&plans);
        let (before, _) = open(&plans[..earlier.min(plans.len())]);
        for before in [None, Some(&before)] {
            let question = json!({ "question": "suspects", "threshold": 0.05, "limit": 1000 });
            let answer = ask_with(&heap, before, question);
            for suspect in answer["suspects"].as_array().unwrap() {
                check_sentences(&heap, &truth, suspect)?;
            }
        }
    }
}

/// Whether what a paragraph says in numbers about objects with an address is so, by deletion.
fn check_sentences(heap: &LoadedHeap, truth: &Truth, suspect: &Value) -> Result<(), TestCaseError> {
    let text = suspect["text"].as_str().unwrap();
    let live = truth.reached(|_| true);
    let live_size = truth.reached_size(|_| true);
    let freed =
        |cut: &[Reference]| live_size - truth.reached_size(|reference| !cut.contains(&reference));
    let into = |objects: &[Object]| -> Vec<Reference> {
        let references = objects.iter().map(|&object| truth.references_to(object));
        references.flatten().collect()
    };
    // One object at an address retains so much.
    if let Some(address) = between(text, " at ", " retains ").and_then(parsed) {
        let (size, _) = between(text, " retains ", " % of")
            .unwrap()
            .rsplit_once(", ")
            .unwrap();
        prop_assert_eq!(size, format_size(freed(&into(&[address]))), "{}", text);
    }
    let Some(place) = between(text, "It accumulates in ", ":") else {
        return Ok(());
    };
    let end = Object(suspect["accumulation"]["address"].as_u64().unwrap() as u32);
    prop_assert!(live.contains(&end));
    match place.split_once(" such as ") {
        // Several objects: all of them together free at least so much.
        Some((several, _)) => {
            let (count, class) = several.split_once(' ').unwrap();
            let of_class = live.iter().copied();
            let of_class: Vec<Object> = of_class
                .filter(|&object| class_name(heap, object) == class)
                .collect();
            prop_assert!(
                count.parse::<usize>().unwrap() <= of_class.len(),
                "{}",
                text
            );
            let together = &suspect["accumulation"]["together"]["retainedSize"];
            let together = together.as_u64().unwrap();
            let sentence = format!("frees at least {}.", format_size(together));
            prop_assert!(text.contains(&sentence), "{}", text);
            prop_assert!(together <= freed(&into(&of_class)), "{}", text);
        }
        // One object, which has all that accumulates.
        None => {
            let together = &suspect["accumulation"]["together"];
            prop_assert!(together.is_null(), "{}", text);
        }
    }
    if let Some(size) = text.rsplit_once(" frees ").map(|(_, size)| size)
        && text.contains(" Cutting ")
    {
        let path = truth.path(end).unwrap();
        let on_path = path.iter().map(|&reference| freed(&[reference]));
        let sizes: Vec<String> = on_path.map(|bytes| format_size(bytes) + ".").collect();
        prop_assert!(sizes.iter().any(|one| one == size), "{} {:?}", text, sizes);
    }
    Ok(())
}

/// The text between two others.
fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after)?.0)
}

fn parsed(address: &str) -> Option<Object> {
    let digits = address.strip_prefix("0x")?;
    u32::from_str_radix(digits, 16).ok().map(Object)
}

/// The objects and bytes of some branches and of the ones that are left out.
fn sum(branches: &[Value], more: &Value) -> (u64, u64) {
    let numbers = |value: &Value| {
        (
            value["count"].as_u64().unwrap_or(0),
            value["shallowSize"].as_u64().unwrap_or(0),
        )
    };
    let all = branches.iter().chain([more]).map(numbers);
    all.fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1))
}

/// No branch has less than its children.
fn check_branch(branch: &Value) -> Result<(), TestCaseError> {
    let children = branch["children"].as_array().unwrap();
    let below = sum(children, &branch["more"]);
    prop_assert!(below.0 <= branch["count"].as_u64().unwrap());
    prop_assert!(below.1 <= branch["shallowSize"].as_u64().unwrap());
    children.iter().try_for_each(check_branch)
}

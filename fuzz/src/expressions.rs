//! Properties of expressions of `find`, for any text.

use std::sync::LazyLock;

use engine::questions::{LoadedHeap, Question};
use engine::{Control, Result};
use serde_json::{Value, json};

use crate::support::{ARRAY_BUFFER, Object, STRING, Scene};

/// A heap with fields of every type, containers, and globals that refer to them.
static HEAP: LazyLock<LoadedHeap> = LazyLock::new(|| scene().open());

fn text(scene: &mut Scene, text: &str) -> Object {
    let units: Vec<u16> = text.encode_utf16().collect();
    let object = scene.object(STRING, units.len() as u32 * 2);
    let words = units.chunks(2).map(|pair| {
        let second = pair.get(1).copied().unwrap_or_default();
        u32::from(pair[0]) | u32::from(second) << 16
    });
    scene.write(object.0, &words.collect::<Vec<_>>());
    object
}

fn scene() -> Scene {
    let mut scene = Scene::new();
    let strings = ["", "a", "guest 1", "\u{1f600}"].map(|part| text(&mut scene, part));
    let item = scene.class("assembly/index/Item");
    let list = scene.generic("~lib/array/Array<assembly/index/Item>", &[&item]);
    scene.field(item, "open", 0, "bool");
    scene.field(item, "key", 4, "i32");
    scene.field(item, "large", 8, "u64");
    scene.field(item, "ratio", 16, "f64");
    scene.field(item, "name", 24, STRING);
    scene.field(item, "next", 28, item);
    scene.field(item, "all", 32, list);
    let mut items: Vec<Object> = Vec::new();
    for nth in 0..12u32 {
        let ratio = [0.0, -1.5, f64::NAN, 1e300][nth as usize % 4].to_bits();
        let name = match nth % 5 {
            4 => 0,
            nth => strings[nth as usize].0,
        };
        let next = items.last().map_or(0, |next| next.0);
        let large = if nth % 3 == 0 { u32::MAX } else { nth };
        let words = [
            nth % 2,
            nth.wrapping_sub(3),
            nth,
            large,
            ratio as u32,
            (ratio >> 32) as u32,
        ];
        items.push(scene.object_of(item, &[&words[..], &[name, next, 0]].concat()));
    }
    let all = scene.array(list, &items);
    for &one in &items[..6] {
        scene.set(one, 32, all);
    }
    scene.global("assembly/index/all", "u32", all);
    let order = scene.generic("~lib/array/Array<i32>", &[&"i32"]);
    let buffer = scene.object_of(ARRAY_BUFFER, &[1, 3, 5]);
    let order = scene.object_of(order, &[buffer.0, buffer.0, 12, 3]);
    scene.global("assembly/index/order", "u32", order);
    scene
}

/// Asks `find` with one more option.
fn find(option: &str, expression: &str) -> Result<Value> {
    let mut question = json!({ "question": "find", "class": "*/Item", "count": true });
    question[option] = expression.into();
    let question: Question = serde_json::from_value(question).unwrap();
    let answer = engine::questions::ask(&HEAP, &question, Some(&HEAP), &Control::default())?;
    Ok(serde_json::to_value(answer).unwrap())
}

/// Of the objects: for how many a condition is true, false, and neither.
fn counts(condition: &str) -> Result<[u64; 3]> {
    let answer = find("where", condition)?;
    let found = answer["total"].as_u64().unwrap();
    let result = &answer["where"];
    let failed = result["failed"].as_array().unwrap().iter();
    let missing = result["withoutField"].as_u64().unwrap()
        + failed
            .map(|one| one["count"].as_u64().unwrap())
            .sum::<u64>();
    let examined = result["examined"].as_u64().unwrap();
    Ok([found, examined - found - missing, missing])
}

/// Asks for objects and for groups with this expression. The text of the answers.
pub fn check(expression: &str) -> String {
    let condition = counts(expression);
    let groups = find("groupBy", expression);
    for error in [condition.as_ref().err(), groups.as_ref().err()]
        .into_iter()
        .flatten()
    {
        check_error(expression, error);
    }
    let Ok([found, not_found, missing]) = condition else {
        let shown = condition.map_or_else(|error| error.to_string(), |_| String::new());
        return shown + &groups.map_or_else(|error| error.to_string(), |answer| answer.to_string());
    };
    // A condition has the same values in other places. A comment ends with its line.
    for (other, expected) in [
        (format!("!({expression}\n)"), [not_found, found, missing]),
        (
            format!("({expression}\n) && true"),
            [found, not_found, missing],
        ),
        (
            format!("false || ({expression}\n)"),
            [found, not_found, missing],
        ),
        (
            format!("true ? ({expression}\n) : false"),
            [found, not_found, missing],
        ),
    ] {
        match counts(&other) {
            Ok(counts) => assert_eq!(counts, expected, "{other}"),
            Err(error) => assert!(is_too_large(&error), "{other}: {error}"),
        }
    }
    let groups = groups.unwrap();
    let rows = groups["groups"]["rows"].as_array().unwrap();
    for (value, expected) in [("true", found), ("false", not_found)] {
        let row = rows.iter().find(|row| row["text"] == value);
        let count = row.map_or(0, |row| row["count"].as_u64().unwrap());
        assert_eq!(count, expected, "{expression}");
    }
    format!("{found} {not_found} {missing} {groups}")
}

/// Whether an expression is refused for its size alone.
fn is_too_large(error: &engine::Error) -> bool {
    let message = error.to_string();
    [
        "nested deeper",
        "bytes",
        "inside of each other",
        "recursion",
    ]
    .iter()
    .any(|part| message.contains(part))
}

/// An error names a character of the expression, or the one after its end, and its text is short.
fn check_error(expression: &str, error: &engine::Error) {
    let message = error.to_string();
    assert_eq!(error.code(), "ERR_WHERE", "{expression}: {message}");
    let column = message.split("character ").nth(1);
    let column = column.and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
    let column = column.unwrap_or_else(|| panic!("no place: {message}"));
    let length = expression.chars().count();
    assert!(
        (1..=length + 1).contains(&column),
        "{expression}: {message}"
    );
    assert!(message.len() < 2000 + expression.len(), "{message}");
}

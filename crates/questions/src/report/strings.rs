//! The texts of a report: each once, and all together of bounded size.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde_json::Value;

use super::answer::Report;
use crate::parts::short_names::short_class;

/// Bytes of all texts as JSON, without sentences.
const ROOM: usize = 200_000;

/// Characters of a text that are kept at most: the first of these with which all texts fit.
const LIMITS: [usize; 5] = [240, 120, 60, 30, 16];

/// The last of these.
const LEAST_LIMIT: usize = LIMITS[LIMITS.len() - 1];

/// The keys of texts that are whole sentences, with names in them that were cut already, and of addresses.
const WHOLE: [&str; 3] = ["text", "addressText", "addressTexts"];

/// Characters of a sentence that are kept at most.
const SENTENCE: usize = 1200;

/// Puts the texts of a value into a table.
pub(super) fn packed(value: &impl Serialize) -> Report {
    // Numbers, strings and lists of them always serialize.
    let mut body = serde_json::to_value(value).unwrap_or_default();
    let mut whole = Vec::new();
    collect(&body, &mut whole);
    whole.sort_unstable();
    whole.dedup();
    let fits = |&limit: &usize| {
        let bytes = whole.iter().map(|text| json_size(&cut(text, limit)));
        bytes.sum::<usize>() <= ROOM
    };
    let limit = LIMITS.into_iter().find(fits).unwrap_or(LEAST_LIMIT);
    let mut table = StringTable {
        limit,
        numbers: HashMap::new(),
        strings: Vec::new(),
        short_names: BTreeMap::new(),
    };
    table.replace(&mut body, limit);
    Report {
        strings: table.strings,
        short_names: table.short_names.into_iter().collect(),
        body,
    }
}

/// The texts that are no sentences.
fn collect<'v>(value: &'v Value, into: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(values) => values.iter().for_each(|value| collect(value, into)),
        Value::Object(entries) => {
            let others = entries.iter().filter(|(key, _)| !is_whole(key));
            others.for_each(|(_, value)| collect(value, into));
        }
        _ => {}
    }
}

fn is_whole(key: &str) -> bool {
    WHOLE.contains(&key)
}

struct StringTable {
    limit: usize,
    numbers: HashMap<String, usize>,
    strings: Vec<String>,
    /// The short forms of names, by the number of the text.
    short_names: BTreeMap<usize, String>,
}

impl StringTable {
    /// Replaces texts of a value by their numbers.
    fn replace(&mut self, value: &mut Value, limit: usize) {
        match value {
            Value::String(text) => {
                let text = cut(text, limit);
                let number = match self.numbers.get(&text) {
                    Some(&number) => number,
                    None => {
                        self.strings.push(text.clone());
                        self.numbers.insert(text, self.strings.len() - 1);
                        self.strings.len() - 1
                    }
                };
                let text = &self.strings[number];
                if limit == self.limit && text.contains("~lib/") {
                    let short = || short_class(text);
                    self.short_names.entry(number).or_insert_with(short);
                }
                *value = Value::String(number.to_string());
            }
            Value::Array(values) => {
                for value in values {
                    self.replace(value, limit);
                }
            }
            Value::Object(entries) => {
                for (key, value) in entries {
                    let limit = if is_whole(key) { SENTENCE } else { self.limit };
                    self.replace(value, limit);
                }
            }
            _ => {}
        }
    }
}

/// A text of at most `limit` characters: a longer one loses its middle, and keeps more of its end than of its
/// start.
fn cut(text: &str, limit: usize) -> String {
    if text.chars().nth(limit).is_none() {
        return text.to_owned();
    }
    let first = limit / 3;
    let last = limit - first - 1;
    let offset = |found: Option<(usize, char)>| found.map_or(0, |(at, _)| at);
    let start = &text[..offset(text.char_indices().nth(first))];
    let end = &text[offset(text.char_indices().nth_back(last - 1))..];
    format!("{start}…{end}")
}

/// The bytes that a text takes as a JSON string.
fn json_size(text: &str) -> usize {
    let escaped = text.chars().map(|character| match character {
        '"' | '\\' => 2,
        character if character < ' ' => 6,
        character => character.len_utf8(),
    });
    escaped.sum::<usize>() + 3
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_text_is_in_the_table_once() {
        let report = packed(&json!({ "a": ["x", 7, "y", null], "b": { "c": "x" } }));
        assert_eq!(report.strings, ["x", "y"]);
        assert_eq!(
            report.body,
            json!({ "a": ["0", 7, "1", null], "b": { "c": "0" } })
        );
    }

    #[test]
    fn names_with_modules_of_the_standard_library_have_a_short_form_but_sentences_do_not() {
        let name = "~lib/array/Array<a/B>";
        let report =
            packed(&json!({ "text": "One ~lib/array/Array", "name": name, "other": "a/B" }));
        let [(number, short)] = &report.short_names[..] else {
            unreachable!("{report:?}");
        };
        assert_eq!(
            (report.strings[*number].as_str(), short.as_str()),
            (name, "Array<a/B>")
        );
    }

    #[test]
    fn long_texts_keep_their_start_and_their_end() {
        let name = format!("assembly/{}/Node", "é".repeat(1000));
        let report = packed(&json!([name]));
        let shown = &report.strings[0];
        assert_eq!(shown.chars().count(), LIMITS[0]);
        assert!(shown.starts_with("assembly/é") && shown.ends_with("é/Node"));
        assert!(shown.contains('…'));
    }

    #[test]
    fn many_long_texts_are_cut_until_they_fit() {
        let names: Vec<String> = (0..4000)
            .map(|nth| format!("{nth}{}", "x".repeat(300)))
            .collect();
        let report = packed(&names);
        assert_eq!(report.strings.len(), 4000);
        let bytes: usize = report.strings.iter().map(|text| json_size(text)).sum();
        assert!(bytes <= ROOM && bytes > ROOM / 4, "{bytes}");
    }

    #[test]
    fn sentences_are_not_cut_like_names() {
        let text = "a word ".repeat(100);
        let report = packed(&json!({ "text": text, "name": text }));
        assert!(report.strings.contains(&text));
        assert_eq!(report.strings.len(), 2);
    }
}

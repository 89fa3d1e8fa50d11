//! A sentence about what grows, and the names of the program for what Node or V8 holds.

use super::growing::Growing;
use super::growing_thing::{GrowingThing, last};
use super::trend::has_equal_counts;
use crate::parts::pattern::{Grown, pattern};
use heap::{ENGINE_MODULE, LAST_MATCH};

/// How many names of the program are listed.
const MOST_NAMES: usize = 3;

/// How the files of Node's own modules begin.
const ENGINE_SCRIPT: &str = "node:";

impl Growing<'_> {
    /// The sentence about a thing, and about what is folded into it.
    pub(super) fn hint(&self, thing: usize, folded: &[usize]) -> Option<String> {
        let grown = &self.things[thing];
        grown.what.place()?;
        let path = self.text(grown).text;
        let sum = last(grown.counted);
        let file = |thing: &GrowingThing<'_>| {
            let place = self.merged.class_places.get(&thing.class?)?;
            Some(place.file.as_str())
        };
        let sentence = pattern(Grown {
            path: &path,
            class_name: self.class_name(grown),
            is_more: !has_equal_counts(grown.counted),
            count: sum.count,
            bytes: sum.bytes,
            retained: sum.retained,
            file: file(grown),
        });
        let is_of_engine = [ENGINE_MODULE, LAST_MATCH, "system "]
            .iter()
            .any(|start| path.starts_with(start));
        let names = if is_of_engine {
            self.names_of_program(folded)
        } else {
            Vec::new()
        };
        match (sentence, names.is_empty()) {
            (sentence, true) => sentence,
            (Some(sentence), false) => Some(format!("{sentence}; they hold {}", names.join(", "))),
            (None, false) => Some(format!("of the program, they hold {}", names.join(", "))),
        }
    }

    /// Classes, functions and scopes of the program among what is folded into a thing: those of which there are most bytes.
    fn names_of_program(&self, folded: &[usize]) -> Vec<String> {
        let mut found: Vec<(u64, String)> = Vec::new();
        for &nth in folded {
            let thing = &self.things[nth];
            let name = self.class_name(thing);
            let place = thing
                .class
                .and_then(|class| self.merged.class_places.get(&class));
            let is_code = name.starts_with("function ") || name.starts_with("scope ");
            let shown = match place {
                Some(place) if place.file.starts_with(ENGINE_SCRIPT) => continue,
                Some(place) if is_code => format!("{name}, line {}", place.line),
                Some(place) => {
                    let file = place.file.rsplit(['/', '\\']).next().unwrap_or_default();
                    format!("{name} ({file}:{})", place.line)
                }
                None if is_code || name.starts_with("module ") => name.to_owned(),
                None => continue,
            };
            let retained = last(thing.counted).retained;
            match found.iter_mut().find(|(_, known)| *known == shown) {
                Some((known, _)) => *known = (*known).max(retained),
                None => found.push((retained, shown)),
            }
        }
        found.sort_by(|left, right| right.0.cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
        found.truncate(MOST_NAMES);
        found.into_iter().map(|(_, name)| name).collect()
    }
}

//! References as a program has them: `cache`, `[42]`, `(closure)`. V8's own objects, such as the table of a map, have
//! no name in the program.

use super::names::SnapshotNames;
use super::strings::text;
use base::units::ObjectIndex;
use heap::{EdgeLabel, Edges, LabelKind, WideLabel};

/// The most characters of a key of a map that are shown.
const MOST_KEY: usize = 64;

/// Objects of Chromium that stand for something that programs know by another name.
const KNOWN: [(&str, &str); 2] = [
    ("EventTargetData", "eventListeners"),
    ("DOMTimerCoordinator", "timers"),
];
/// Containers of Chromium, which stand between an object and its parts.
const CONTAINERS: [&str; 4] = [
    "blink::HeapHashTableBacking<",
    "blink::HeapVectorBacking<",
    "blink::BasicHeapVector<",
    "blink::HeapLinkedHashSet<",
];

impl SnapshotNames {
    /// The name of a reference with this label; `None` if it leads to a container's own contents.
    pub(crate) fn program_name(
        &self,
        edges: &Edges,
        (holder, target): (ObjectIndex, ObjectIndex),
        label: &str,
    ) -> Option<String> {
        if let Some(variable) = label.strip_prefix("->") {
            return Some(variable.to_owned());
        }
        if let Some(name) = between(label, "{", "}") {
            return match name.parse() {
                Ok(index) => Some(self.entry_name(edges, (holder, target), index)),
                Err(_) => internal_name(name),
            };
        }
        if let Some(inside) = between(label, "[", "]") {
            return match serde_json::from_str::<String>(inside) {
                // A property whose name is in quotes, because it has blanks.
                Ok(name) => Some(name),
                Err(_) if self.is_native(holder) => self.native_name(target),
                Err(_) => Some(label.to_owned()),
            };
        }
        Some(label.to_owned())
    }

    /// What a table of V8 refers to at an index: by its key, if that is a string.
    fn entry_name(
        &self,
        edges: &Edges,
        (holder, target): (ObjectIndex, ObjectIndex),
        index: u32,
    ) -> String {
        let by_index = || format!("[{index}]");
        // The words of an entry are its key, its value and the number of the next entry, which is no object. So a
        // word after a reference is a value.
        let (Some(at_key), Some(at_end)) = (index.checked_sub(1), index.checked_sub(2)) else {
            return by_index();
        };
        let key = target_at(edges, holder, at_key);
        let is_value = target_at(edges, holder, at_end).is_none();
        let name = |object| Some(text(self.whole_name(object)?.1).into_owned());
        match (is_value, key.and_then(name), name(target)) {
            (true, Some(key), _) => in_brackets(&key),
            // It is the key itself.
            (_, None, Some(own)) if key.is_none() => in_brackets(&own),
            _ => by_index(),
        }
    }

    /// The name of a part of an object of the browser.
    fn native_name(&self, target: ObjectIndex) -> Option<String> {
        let name = self.name(target);
        if CONTAINERS
            .iter()
            .any(|container| name.starts_with(container))
        {
            return None;
        }
        let known = KNOWN.iter().find(|(class, _)| name.ends_with(class));
        Some(match known {
            Some((_, known)) => (*known).to_owned(),
            None => format!("({})", name.split(" / ").next().unwrap_or_default()),
        })
    }
}

/// The name of an internal reference.
fn internal_name(name: &str) -> Option<String> {
    match name {
        "elements" | "table" | "properties" | "backing_store" | "internal_hash" | "previous" => {
            None
        }
        "context" => Some("(closure)".to_owned()),
        other => Some(format!("({other})")),
    }
}

fn between<'l>(label: &'l str, start: &str, end: &str) -> Option<&'l str> {
    label.strip_prefix(start)?.strip_suffix(end)
}

fn in_brackets(key: &str) -> String {
    let shown: String = key.chars().take(MOST_KEY).collect();
    let rest = if shown.len() < key.len() { "…" } else { "" };
    format!("[{:?}]", shown + rest)
}

/// What an object refers to at this index. V8 writes indexes in order.
fn target_at(edges: &Edges, holder: ObjectIndex, index: u32) -> Option<ObjectIndex> {
    let range = edges.range(holder);
    let index_at = |position: u32| {
        let is_hidden = edges.label(position).map(EdgeLabel::kind) == Some(LabelKind::Hidden);
        let index = edges.wide_label(position).and_then(WideLabel::index);
        index.filter(|_| is_hidden)
    };
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        // References with names come first.
        match index_at(middle) {
            Some(found) if found >= index => high = middle,
            _ => low = middle + 1,
        }
    }
    (low < range.end && index_at(low) == Some(index)).then(|| edges.target(low))
}

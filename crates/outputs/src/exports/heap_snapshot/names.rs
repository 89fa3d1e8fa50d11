//! The names that belong to the program or to a class. They have the first numbers.

use std::collections::HashMap;

use super::super::output::Output;
use base::error::Result;
use heap::{EdgeLabel, RootSlot, RootSlots};
use questions::LoadedHeap;

/// Names in front of all others: those of the fixed nodes, in their order.
const FIXED: [&str; 6] = [
    "",
    "(GC roots)",
    "(globals)",
    "(stack)",
    "(pinned)",
    "(garbage)",
];

pub(super) struct NumberedNames {
    all: Vec<String>,
    /// By class slot.
    classes: Vec<u32>,
    /// By class slot: where its fields begin in `fields`.
    first_fields: Vec<usize>,
    fields: Vec<u32>,
    /// By the number of a global.
    globals: Vec<u32>,
    /// By word.
    words: Vec<u32>,
    pub(super) any_element: u32,
    pub(super) any_key: u32,
    pub(super) any_member: u32,
    pub(super) far_field: u32,
}

#[derive(Default)]
struct Numbered {
    all: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Numbered {
    fn number(&mut self, name: String) -> u32 {
        let Self { all, numbers } = self;
        *numbers.entry(name).or_insert_with_key(|name| {
            all.push(name.clone());
            all.len() as u32 - 1
        })
    }
}

impl NumberedNames {
    /// The names of a heap whose labels are offsets up to `last_word`.
    pub(super) fn new(heap: &LoadedHeap, last_word: Option<u32>) -> Result<Self> {
        let mut numbered = Numbered::default();
        for name in FIXED {
            numbered.number(name.to_owned());
        }
        let classes = heap
            .heap()
            .objects
            .classes
            .iter()
            .map(|class| numbered.number(shown_class(&class.name)))
            .collect();
        let mut first_fields = Vec::new();
        let mut fields = Vec::new();
        for slot in 0..heap.heap().objects.classes.len() as u32 {
            first_fields.push(fields.len());
            let contents = heap.source().all_contents();
            let count = contents.map_or(0, |all| all.class_naming(slot).fields);
            // More are not told apart by their labels.
            let labels = (0..count as usize).map(EdgeLabel::field);
            let names = labels.map(|label| heap.source().class_label(slot, label));
            fields.extend(names.map(|name| numbered.number(name)));
        }
        let roots = heap.root_slots();
        let globals = (0..)
            .map_while(|nth| roots.global_name(nth))
            .map(|name| numbered.number(name.to_owned()))
            .collect();
        let words = last_word
            .map_or(0..0, |last| 0..last / 4 + 1)
            .map(|word| numbered.number(format!("+{}", word * 4)))
            .collect();
        let mut fixed = |name: &str| numbered.number(name.to_owned());
        Ok(Self {
            any_element: fixed("[*]"),
            any_key: fixed("key [*]"),
            any_member: fixed("member [*]"),
            far_field: fixed("+?"),
            all: numbered.all,
            classes,
            first_fields,
            fields,
            globals,
            words,
        })
    }

    pub(super) fn len(&self) -> u32 {
        self.all.len() as u32
    }

    /// The name of a class slot.
    #[inline]
    pub(super) fn class(&self, slot: usize) -> u32 {
        self.classes[slot]
    }

    /// The name of the nth reference at a fixed offset in objects of a class slot.
    #[inline]
    pub(super) fn field(&self, slot: usize, nth: u32) -> u32 {
        self.fields[self.first_fields[slot] + nth as usize]
    }

    /// The offset of a word.
    #[inline]
    pub(super) fn word(&self, offset: u32) -> u32 {
        self.words[offset as usize / 4]
    }

    /// The name of a global.
    pub(super) fn root(&self, roots: &RootSlots, slot: RootSlot) -> Option<u32> {
        match roots.origin(slot) {
            heap::RootOrigin::Global(number) => self.globals.get(number as usize).copied(),
            _ => None,
        }
    }

    /// Writes all names, which are the first strings.
    pub(super) fn write(&self, output: &mut Output<'_>) -> Result<()> {
        for (nth, name) in self.all.iter().enumerate() {
            output.text(if nth == 0 { "\n\"" } else { "\n,\"" });
            output.json_text(name)?;
            output.text("\"");
        }
        Ok(())
    }
}

/// What stands in front of a name that would not be shown as it is.
const PREFIX: &str = "class ";

/// The name of a class as both tools show it. An object of the class `Object` would be named by its
/// properties, one in round brackets be taken for a group of the tool's own, and a name that begins with `<`
/// be cut at its first blank. No two names become the same.
fn shown_class(name: &str) -> String {
    let is_special = name == "Object" || name.is_empty() || name.starts_with(['<', '(', '{']);
    if is_special || name.starts_with(PREFIX) {
        format!("{PREFIX}{name}")
    } else {
        name.to_owned()
    }
}

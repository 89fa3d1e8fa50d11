//! The references between the two heaps, which neither of them has.

use std::collections::HashMap;

use crate::slots::SlotName;
use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{EdgeLabel, HolderEvidence, LabelKind, MOST_NUMBERS, NameKind, WideLabel};

/// A reference between the heaps. Objects are those of the joined heap.
#[derive(Clone, Debug)]
pub(crate) struct Extra {
    pub(crate) source: ObjectIndex,
    pub(crate) target: ObjectIndex,
    /// The label as the graph has it.
    pub(crate) label: WideLabel,
    /// The label with its key, if that is more.
    pub(crate) exact: Option<String>,
    /// `None` for a reference within the snapshot that DevTools leaves out.
    pub(crate) evidence: Option<HolderEvidence>,
}

/// The labels that neither heap has. Their numbers are the last ones: no snapshot has as many names.
#[derive(Debug, Default)]
pub(crate) struct OwnLabels {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl OwnLabels {
    /// The label with this text.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub(crate) fn of_text(&mut self, text: &str) -> Result<WideLabel> {
        let number = match self.numbers.get(text) {
            Some(&number) => number,
            None => {
                let number = self.texts.len() as u32;
                columns::push(&mut self.texts, text.to_owned())?;
                self.numbers.insert(text.to_owned(), number);
                number
            }
        };
        let name = (MOST_NUMBERS - 1).saturating_sub(number);
        Ok(WideLabel::named(NameKind::Internal, name))
    }

    /// The text of a label, if it is one of these.
    pub(crate) fn text(&self, label: EdgeLabel) -> Option<&str> {
        let LabelKind::Named(NameKind::Internal, name) = label.kind() else {
            return None;
        };
        let number = (MOST_NUMBERS - 1).checked_sub(name)?;
        self.texts.get(number as usize).map(String::as_str)
    }

    /// The label of a slot without its key, and with it.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub(crate) fn of_slot(&mut self, name: &SlotName) -> Result<(WideLabel, Option<String>)> {
        let (general, exact) = match name {
            SlotName::Label(label) => {
                let index = label.index().filter(|&index| index < MOST_NUMBERS);
                return Ok((*label, index.map(|index| format!("[{index}]"))));
            }
            SlotName::Key => ("key [*]", None),
            SlotName::Value(key) => ("[*]", key.as_ref().map(|key| format!("[{key:?}]"))),
            SlotName::Member => ("member [*]", None),
            SlotName::Wrapped => ("[[PrimitiveValue]]", None),
            SlotName::Variable(name) => {
                return Ok((self.of_text(&format!("->{name}"))?, None));
            }
        };
        Ok((self.of_text(general)?, exact))
    }

    pub(crate) fn memory_size(&self) -> u64 {
        let texts = self.texts.iter().map(|text| 2 * text.capacity() as u64);
        texts.sum::<u64>() + self.texts.capacity() as u64 * 64
    }
}

/// The references, in the order of the graph.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    all: Vec<Extra>,
    /// By reference: its position in the graph, ascending.
    positions: Vec<u32>,
}

impl Extras {
    /// Adds the next reference.
    pub(crate) fn push(&mut self, extra: Extra, position: u32) -> Result<()> {
        columns::push(&mut self.all, extra)?;
        columns::push(&mut self.positions, position)
    }

    /// The reference at a position of the graph.
    pub(crate) fn at(&self, position: u32) -> Option<&Extra> {
        let nth = self.positions.binary_search(&position).ok()?;
        self.all.get(nth)
    }

    /// The references between two objects.
    pub(crate) fn between(
        &self,
        source: ObjectIndex,
        target: ObjectIndex,
    ) -> impl Iterator<Item = &Extra> {
        let first = self.all.partition_point(|extra| extra.source < source);
        let from = self.all[first..].iter();
        from.take_while(move |extra| extra.source == source)
            .filter(move |extra| extra.target == target)
    }

    pub(crate) fn memory_size(&self) -> u64 {
        (self.all.capacity() * size_of::<Extra>() + self.positions.capacity() * 4) as u64
    }
}

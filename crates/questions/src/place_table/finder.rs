//! Numbers the places of references, and keeps what the references of each lead to.

use std::collections::HashMap;

use rayon::prelude::*;

use base::columns;
use base::control::Step;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{DominatorIndex, EdgeLabel, PathGroup};

/// The most places that are told apart. Heaps with as many have classes that refer to one another in every way.
const MOST_PLACES: usize = 1 << 22;

/// The place of objects that no reference leads to so far, and of references beyond [`MOST_PLACES`].
pub(super) const NO_PLACE: u32 = u32::MAX;

/// The size of two small tables that are asked before the large ones: which number a place has, and which further
/// reference of an object was seen lately. A new entry displaces the one with the same hash.
const RECENT: usize = 1 << 12;

/// The list of further references is sorted, and its equal entries are removed, when it has this length; after that,
/// each time it is twice as long as what then remains.
const COMPACTED: usize = 1 << 24;

/// The references with one label from objects of one group to objects of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PlaceKey {
    pub(super) holders: PathGroup,
    /// The class of the holders: the first slot of that name.
    pub(super) holder: u32,
    pub(super) label: EdgeLabel,
    /// The first slot of that name.
    pub(super) class: u32,
}

/// The same, whatever the paths of the holders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FieldKey {
    /// The first slot of that name.
    pub(super) holder: u32,
    pub(super) label: EdgeLabel,
    /// The first slot of that name.
    pub(super) class: u32,
}

/// Places, and what their references lead to.
pub(super) struct Finder {
    pub(super) places: Vec<PlaceKey>,
    numbers: HashMap<PlaceKey, u32>,
    /// What was last asked of `numbers`, by a hash of the question.
    recent: Vec<(PlaceKey, u32)>,
    last: (PlaceKey, u32),
    /// By object: the place of the first reference to it.
    pub(super) first: Vec<u32>,
    /// The other places that lead to an object: the object above the place; in the end its position in preorder of the
    /// dominator tree.
    pub(super) further: Vec<u64>,
    recent_further: Vec<u64>,
    compact_at: usize,
}

pub(super) fn high_half(further: u64) -> u32 {
    (further >> 32) as u32
}

impl Finder {
    pub(super) fn new(object_count: usize, step: &Step<'_>) -> Result<Self> {
        let none = PlaceKey {
            holders: PathGroup::REST,
            holder: u32::MAX,
            label: EdgeLabel::default(),
            class: u32::MAX,
        };
        let mut first = Vec::new();
        columns::fill(&mut first, NO_PLACE, object_count, step)?;
        Ok(Self {
            places: Vec::new(),
            numbers: HashMap::new(),
            recent: vec![(none, NO_PLACE); RECENT],
            last: (none, NO_PLACE),
            first,
            further: Vec::new(),
            recent_further: vec![u64::MAX; RECENT],
            compact_at: COMPACTED,
        })
    }

    /// The number of a place.
    #[inline]
    pub(super) fn place(&mut self, place: PlaceKey) -> Result<u32> {
        if self.last.0 == place {
            return Ok(self.last.1);
        }
        let hash = place.holders.0.wrapping_mul(0x9e37_79b1)
            ^ place.label.hash()
            ^ place.class.wrapping_mul(0x85eb_ca6b);
        let slot = (hash >> 16) as usize % RECENT;
        if self.recent[slot].0 != place {
            self.recent[slot] = (place, self.number(place)?);
        }
        self.last = self.recent[slot];
        Ok(self.last.1)
    }

    fn number(&mut self, place: PlaceKey) -> Result<u32> {
        if let Some(&number) = self.numbers.get(&place) {
            return Ok(number);
        }
        if self.places.len() >= MOST_PLACES {
            return Ok(NO_PLACE);
        }
        let number = self.places.len() as u32;
        columns::push(&mut self.places, place)?;
        self.numbers.insert(place, number);
        Ok(number)
    }

    /// Writes down that a reference of a place leads to an object.
    #[inline]
    pub(super) fn add(&mut self, object: ObjectIndex, place: u32) -> Result<()> {
        let first = &mut self.first[object.at()];
        if *first == place || place == NO_PLACE {
            return Ok(());
        }
        if *first == NO_PLACE {
            *first = place;
            return Ok(());
        }
        let further = u64::from(object.0) << 32 | u64::from(place);
        // Many references of one place often lead to the same few objects.
        let hash = (object.0 ^ place.wrapping_mul(0x85eb_ca6b)).wrapping_mul(0x9e37_79b1);
        let recent = &mut self.recent_further[(hash >> 16) as usize % RECENT];
        if *recent == further {
            return Ok(());
        }
        *recent = further;
        columns::push(&mut self.further, further)?;
        if self.further.len() >= self.compact_at {
            self.compact();
            self.compact_at = COMPACTED.max(self.further.len() * 2);
        }
        Ok(())
    }

    /// Sorts the further references, and leaves out equal ones.
    fn compact(&mut self) {
        self.further.par_sort_unstable();
        self.further.dedup();
    }

    /// Sorts the further references by the positions of their objects. Only live objects have any.
    pub(super) fn finish(&mut self, dominators: &DominatorIndex) {
        self.further.par_iter_mut().for_each(|further| {
            let object = ObjectIndex(high_half(*further));
            let position = dominators.position(object).unwrap_or_default();
            *further = u64::from(position) << 32 | (*further & u64::from(u32::MAX));
        });
        self.compact();
    }

    /// The places, by number.
    pub(super) fn places(&self) -> &[PlaceKey] {
        &self.places
    }

    /// What the references of these places lead to; an object of several of them more than once.
    pub(super) fn targets(
        &self,
        is_wanted: &[bool],
        dominators: &DominatorIndex,
    ) -> impl Iterator<Item = ObjectIndex> {
        let is_wanted = |place: u32| is_wanted.get(place as usize) == Some(&true);
        let firsts = (0..)
            .map(ObjectIndex)
            .zip(&self.first)
            .filter(move |&(_, &place)| is_wanted(place));
        let further = self
            .further
            .iter()
            .filter(move |&&packed| is_wanted(packed as u32))
            .map(move |&packed| dominators.object(high_half(packed)));
        firsts.map(|(object, _)| object).chain(further)
    }

    /// The fields of all places, and by place the number of its field.
    pub(super) fn fields(&self) -> Result<(Vec<FieldKey>, Vec<u32>)> {
        let mut numbers: HashMap<FieldKey, u32> = HashMap::new();
        let mut fields = Vec::new();
        let mut field_of = columns::with_capacity(self.places.len())?;
        for place in &self.places {
            let field = FieldKey {
                holder: place.holder,
                label: place.label,
                class: place.class,
            };
            let number = *numbers.entry(field).or_insert(fields.len() as u32);
            if number as usize == fields.len() {
                columns::push(&mut fields, field)?;
            }
            field_of.push(number);
        }
        Ok((fields, field_of))
    }
}

//! The labels of references, as far as the class determines them: a field, or that the reference is an
//! element, a key or a value. A label takes two bytes. Indexes and keys are read from memory when a question
//! needs them.

/// The label of one reference, without index or key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeLabel(u16);

/// The meaning of an [`EdgeLabel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelKind {
    /// A place of the class: `ClassShape::places[index]`.
    Place(u32),
    /// A word of an object of an unknown class, by its offset in bytes.
    Word(u32),
    /// A place whose number does not fit a label.
    FarPlace,
    /// A word in a buffer of an object of an unknown class.
    BufferWord,
    /// An element of a tuple, by its index.
    TupleElement(u32),
    /// An element of an array.
    Element,
    /// A key of a map.
    Key,
    /// A value of a map.
    Value,
    /// A member of a set.
    Member,
}

const PLACES: u32 = 0x8000;
const WORDS: u32 = 0x7e00;
const FIRST_WORD: u32 = PLACES;
const FIRST_TUPLE_ELEMENT: u32 = FIRST_WORD + WORDS;

impl EdgeLabel {
    pub(super) const ELEMENT: Self = Self(0xffff);
    pub(super) const KEY: Self = Self(0xfffe);
    pub(super) const VALUE: Self = Self(0xfffd);
    pub(super) const MEMBER: Self = Self(0xfffc);
    pub(super) const BUFFER_WORD: Self = Self(0xfffb);
    const FAR_PLACE: Self = Self(0xfffa);

    /// The nth place of a class.
    #[inline]
    pub(super) fn place(nth: usize) -> Self {
        match (nth as u32) < PLACES {
            true => Self(nth as u16),
            false => Self::FAR_PLACE,
        }
    }

    /// The nth word of an object of an unknown class.
    #[inline]
    pub(super) fn word(nth: usize) -> Self {
        match nth < WORDS as usize {
            true => Self((FIRST_WORD + nth as u32) as u16),
            false => Self::FAR_PLACE,
        }
    }

    /// The nth word of a tuple, of at most 64.
    #[inline]
    pub(super) fn tuple_element(nth: u32) -> Self {
        Self((FIRST_TUPLE_ELEMENT + nth) as u16)
    }

    /// A hash of the label.
    #[inline]
    pub(crate) fn hash(self) -> u32 {
        u32::from(self.0).wrapping_mul(0xc2b2_ae35)
    }

    /// The meaning of the label.
    pub fn kind(self) -> LabelKind {
        match self {
            Self::ELEMENT => LabelKind::Element,
            Self::KEY => LabelKind::Key,
            Self::VALUE => LabelKind::Value,
            Self::MEMBER => LabelKind::Member,
            Self::BUFFER_WORD => LabelKind::BufferWord,
            Self::FAR_PLACE => LabelKind::FarPlace,
            Self(code) => match u32::from(code) {
                code if code >= FIRST_TUPLE_ELEMENT => {
                    LabelKind::TupleElement(code - FIRST_TUPLE_ELEMENT)
                }
                code if code >= FIRST_WORD => LabelKind::Word((code - FIRST_WORD) * 4),
                code => LabelKind::Place(code),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_keeps_its_kind() {
        assert_eq!(EdgeLabel::place(0).kind(), LabelKind::Place(0));
        assert_eq!(EdgeLabel::place(0x7fff).kind(), LabelKind::Place(0x7fff));
        assert_eq!(EdgeLabel::place(0x8000).kind(), LabelKind::FarPlace);
        assert_eq!(EdgeLabel::word(3).kind(), LabelKind::Word(12));
        assert_eq!(EdgeLabel::word(0x7dff).kind(), LabelKind::Word(0x7dff * 4));
        assert_eq!(EdgeLabel::word(0x7e00).kind(), LabelKind::FarPlace);
        assert_eq!(
            EdgeLabel::tuple_element(63).kind(),
            LabelKind::TupleElement(63)
        );
        assert_eq!(EdgeLabel::ELEMENT.kind(), LabelKind::Element);
    }
}

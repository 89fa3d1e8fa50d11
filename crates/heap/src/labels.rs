//! The labels of references, as far as the class determines them: a field, or that the reference is an
//! element, a key or a value. In a dump, a label takes two bytes. Indexes and keys are read from memory when a
//! question needs them. In a snapshot of V8, every reference has a name or an index of its own: four bytes.

use bytemuck::Zeroable;

/// The label of one reference, without index or key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Zeroable)]
pub struct EdgeLabel(u32);

/// The kind of a reference of V8 that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    /// A property of an object.
    Property,
    /// A variable of a function's context.
    Context,
    /// A reference that only V8 sees.
    Internal,
}

/// The meaning of an [`EdgeLabel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelKind {
    /// A reference at a fixed offset in the objects of the class: `ClassShape::references[index]`.
    Field(u32),
    /// A word of an object of an unknown class, by its offset in bytes.
    Word(u32),
    /// Such a reference whose number does not fit a label.
    FarField,
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
    /// A reference of V8, by the number of its name.
    Named(NameKind, u32),
    /// A reference of V8 that has only a number.
    Hidden,
    /// References between objects of one class that the text of a path leaves out.
    Folded,
}

const FIELDS: u32 = 0x8000;
const WORDS: u32 = 0x7e00;
const FIRST_WORD: u32 = FIELDS;
const FIRST_TUPLE_ELEMENT: u32 = FIRST_WORD + WORDS;

/// The bits of a label of V8 that are the number of its name, or its index.
const NUMBER_BITS: u32 = 29;
/// The largest number of a name or of an index in a label of V8.
pub const MOST_NUMBERS: u32 = (1 << NUMBER_BITS) - 1;
/// Labels of V8 are not smaller.
const WIDE: u32 = 1 << NUMBER_BITS;
/// The kind of a property with a name.
pub const PROPERTY: u32 = 1;
/// The kind of a variable in a context.
pub const CONTEXT: u32 = 2;
/// The kind of a reference of V8 itself, with a name.
pub const INTERNAL: u32 = 3;
/// The kind of an element, with its index.
pub const INDEXED: u32 = 4;
/// The kind of a reference that has only a number.
pub const NUMBERED: u32 = 5;

/// The label of one reference of V8, with its index. 0 is a number without a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
pub struct WideLabel(u32);

impl WideLabel {
    /// A reference of a kind below 8. The kinds that have no name here are those of references that the graph does not
    /// have. Indexes and numbers of more than [`MOST_NUMBERS`] are cut.
    #[inline]
    pub fn of_kind(kind: u32, number: u32) -> Self {
        Self(kind << NUMBER_BITS | number.min(MOST_NUMBERS))
    }

    /// The kind with which it was made.
    #[inline]
    pub fn kind(self) -> u32 {
        self.0 >> NUMBER_BITS
    }

    /// The number of the name, or the index.
    #[inline]
    pub fn number(self) -> u32 {
        self.0 & MOST_NUMBERS
    }

    /// A reference with a name, whose number is at most [`MOST_NUMBERS`].
    pub fn named(kind: NameKind, name: u32) -> Self {
        let kind = match kind {
            NameKind::Property => PROPERTY,
            NameKind::Context => CONTEXT,
            NameKind::Internal => INTERNAL,
        };
        Self(kind << NUMBER_BITS | name)
    }

    /// An element of an array.
    pub fn element(index: u32) -> Self {
        Self::of_kind(INDEXED, index)
    }

    /// The label of a dump as one with an index, which it does not have.
    pub fn of_label(label: EdgeLabel) -> Self {
        Self(label.0)
    }

    /// A reference that has only a number.
    pub fn hidden(number: u32) -> Self {
        Self(NUMBERED << NUMBER_BITS | number.min(MOST_NUMBERS))
    }

    /// The label without the index.
    #[inline]
    pub fn label(self) -> EdgeLabel {
        match self.0 >> NUMBER_BITS {
            INDEXED => EdgeLabel::ELEMENT,
            NUMBERED => EdgeLabel::HIDDEN,
            _ => EdgeLabel(self.0),
        }
    }

    /// The index of an element, or the number of a hidden reference.
    pub fn index(self) -> Option<u32> {
        (self.0 >> NUMBER_BITS >= INDEXED).then_some(self.0 & MOST_NUMBERS)
    }
}

impl EdgeLabel {
    /// Of a dump: as two bytes.
    #[inline]
    pub fn narrow(self) -> u16 {
        self.0 as u16
    }

    /// The label of these two bytes.
    #[inline]
    pub fn of_narrow(code: u16) -> Self {
        Self(code.into())
    }

    /// An element of an array.
    pub const ELEMENT: Self = Self(0xffff);
    /// A key of a map.
    pub const KEY: Self = Self(0xfffe);
    /// A value of a map.
    pub const VALUE: Self = Self(0xfffd);
    /// A member of a set.
    pub const MEMBER: Self = Self(0xfffc);
    /// A word in a buffer of an object of an unknown class.
    pub const BUFFER_WORD: Self = Self(0xfffb);
    const FAR_FIELD: Self = Self(0xfffa);
    const HIDDEN: Self = Self(0xfff9);
    /// Stands for references between objects of one class that the text of a path leaves out.
    pub const FOLDED: Self = Self(0xfff8);

    /// The nth reference at a fixed offset in the objects of a class.
    #[inline]
    pub fn field(nth: usize) -> Self {
        if (nth as u32) < FIELDS {
            Self(nth as u32)
        } else {
            Self::FAR_FIELD
        }
    }

    /// The nth word of an object of an unknown class.
    #[inline]
    pub fn word(nth: usize) -> Self {
        if nth < WORDS as usize {
            Self(FIRST_WORD + nth as u32)
        } else {
            Self::FAR_FIELD
        }
    }

    /// The nth word of a tuple, of at most 64.
    #[inline]
    pub fn tuple_element(nth: u32) -> Self {
        Self(FIRST_TUPLE_ELEMENT + nth)
    }

    /// A hash of the label.
    #[inline]
    pub fn hash(self) -> u32 {
        self.0.wrapping_mul(0xc2b2_ae35)
    }

    /// The meaning of the label.
    pub fn kind(self) -> LabelKind {
        match self {
            Self::ELEMENT => LabelKind::Element,
            Self::KEY => LabelKind::Key,
            Self::VALUE => LabelKind::Value,
            Self::MEMBER => LabelKind::Member,
            Self::BUFFER_WORD => LabelKind::BufferWord,
            Self::FAR_FIELD => LabelKind::FarField,
            Self::HIDDEN => LabelKind::Hidden,
            Self::FOLDED => LabelKind::Folded,
            Self(code) if code >= WIDE => {
                let (kind, number) = (code >> NUMBER_BITS, code & MOST_NUMBERS);
                let kind = match kind {
                    PROPERTY => NameKind::Property,
                    CONTEXT => NameKind::Context,
                    _ => NameKind::Internal,
                };
                LabelKind::Named(kind, number)
            }
            Self(code) => match code {
                code if code >= FIRST_TUPLE_ELEMENT => {
                    LabelKind::TupleElement(code - FIRST_TUPLE_ELEMENT)
                }
                code if code >= FIRST_WORD => LabelKind::Word((code - FIRST_WORD) * 4),
                code => LabelKind::Field(code),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_keeps_its_kind() {
        assert_eq!(EdgeLabel::field(0).kind(), LabelKind::Field(0));
        assert_eq!(EdgeLabel::field(0x7fff).kind(), LabelKind::Field(0x7fff));
        assert_eq!(EdgeLabel::field(0x8000).kind(), LabelKind::FarField);
        assert_eq!(EdgeLabel::word(3).kind(), LabelKind::Word(12));
        assert_eq!(EdgeLabel::word(0x7dff).kind(), LabelKind::Word(0x7dff * 4));
        assert_eq!(EdgeLabel::word(0x7e00).kind(), LabelKind::FarField);
        assert_eq!(
            EdgeLabel::tuple_element(63).kind(),
            LabelKind::TupleElement(63)
        );
        assert_eq!(EdgeLabel::ELEMENT.kind(), LabelKind::Element);
    }
}

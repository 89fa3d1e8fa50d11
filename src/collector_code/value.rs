//! What the interpreter knows of a value: nothing, or a base that it is relative to and a constant.

/// What is known of an i32 value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    /// Nothing, or it is no i32.
    Unknown,
    /// A base plus a constant.
    Known {
        /// What the constant is added to.
        base: Base,
        /// The constant; it wraps.
        plus: u32,
    },
}

/// What an address can be relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Base {
    /// Nothing: the value is a constant.
    Zero,
    /// The payload of the object that is visited.
    Object,
    /// The word at this offset in the payload.
    Field(u32),
    /// The value of this global.
    Global(u32),
}

impl Value {
    pub(super) const OBJECT: Self = Self::base(Base::Object);

    pub(super) const fn constant(value: u32) -> Self {
        Self::Known {
            base: Base::Zero,
            plus: value,
        }
    }

    pub(super) const fn base(base: Base) -> Self {
        Self::Known { base, plus: 0 }
    }

    pub(super) fn as_constant(self) -> Option<u32> {
        match self {
            Self::Known {
                base: Base::Zero,
                plus,
            } => Some(plus),
            _ => None,
        }
    }

    /// Whether this is an address in the object or its header.
    pub(super) fn is_in_object(self) -> bool {
        matches!(
            self,
            Self::Known {
                base: Base::Object,
                ..
            }
        )
    }

    /// Whether this is such an address, or relative to a field of the object.
    pub(super) fn is_of_object(self) -> bool {
        matches!(
            self,
            Self::Known {
                base: Base::Object | Base::Field(_),
                ..
            }
        )
    }

    pub(super) fn add(self, other: Self) -> Self {
        match (self, other) {
            (
                Self::Known { base, plus },
                Self::Known {
                    base: Base::Zero,
                    plus: more,
                },
            )
            | (
                Self::Known {
                    base: Base::Zero,
                    plus: more,
                },
                Self::Known { base, plus },
            ) => Self::Known {
                base,
                plus: plus.wrapping_add(more),
            },
            _ => Self::Unknown,
        }
    }

    pub(super) fn subtract(self, other: Self) -> Self {
        match other.as_constant() {
            Some(constant) => self.add(Self::constant(constant.wrapping_neg())),
            None => Self::Unknown,
        }
    }

    pub(super) fn join(self, other: Self) -> Self {
        if self == other { self } else { Self::Unknown }
    }
}

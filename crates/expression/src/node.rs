//! A compiled expression.

/// What an expression is, for errors before any object is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Known only for an object.
    Any,
    Null,
    Bool,
    Number,
    Text,
    /// An object or null. Strings are objects.
    Reference,
}

impl Kind {
    /// With an article.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::Text => "a text",
            Self::Reference => "an object",
        }
    }

    /// The kind of a value that is one or the other.
    pub(crate) fn or(self, other: Self) -> Self {
        if self == other { self } else { Self::Any }
    }

    /// Whether values of both kinds can be equal.
    pub(crate) fn can_equal(self, other: Self) -> bool {
        use Kind::{Any, Null, Number, Reference, Text};
        self == other
            || [self, other].contains(&Any)
            || matches!(
                (self, other),
                (Reference, Text | Number | Null) | (Text | Number | Null, Reference)
            )
    }

    /// Whether values of both kinds have an order.
    pub(crate) fn has_order(self, other: Self) -> bool {
        use Kind::{Any, Number, Reference, Text};
        matches!(
            (self, other),
            (Any, _) | (_, Any) | (Number, Number) | (Text | Reference, Text | Reference)
        )
    }
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// A test of a text with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextTest {
    StartsWith,
    EndsWith,
    Contains,
}

/// What is known of every object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuiltIn {
    This,
    ClassName,
    ShallowSize,
    RetainedSize,
    Address,
    IsNew,
}

/// An expression with resolved names.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Constant(super::Value),
    BuiltIn(BuiltIn),
    /// The number of members or characters.
    Size(Box<Node>),
    /// A field of an object, by the number of its name.
    Field(Box<Node>, usize),
    /// Whether an object has a field.
    Has(Box<Node>, usize),
    Not(Box<Node>),
    Negate(Box<Node>),
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    /// The condition, and the values if it is true and if it is false.
    Condition(Box<[Node; 3]>),
    Compare(Comparison, Box<[Node; 2]>),
    Calculate(Arithmetic, Box<[Node; 2]>),
    Test(TextTest, Box<[Node; 2]>),
    /// Whether a value is in the set with this number.
    InSet(Box<Node>, usize),
    /// Whether a value is in the container that the second is.
    InContainer(Box<[Node; 2]>),
}

//! How the types of blocks were found.

/// How the type of a block of a native program was found. The best comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TypeEvidence {
    /// The block says it: a table of functions is the class's own.
    Dynamic,
    /// A container of a standard library holds it.
    Container,
    /// A variable or a field refers to it, and its declared type fits the block.
    Field,
    /// A guess: it is the only type that fits what refers to it, or it does not fill the block.
    Fit,
    /// Nothing is known.
    None,
}

impl TypeEvidence {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dynamic => "dynamic",
            Self::Container => "container",
            Self::Field => "field",
            Self::Fit => "fit",
            Self::None => "none",
        }
    }
}

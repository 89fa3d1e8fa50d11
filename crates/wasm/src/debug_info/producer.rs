//! Who wrote the debug information of a module: warnings about it say so.

/// What the transform of this package calls itself in the debug information that it writes.
pub const TRANSFORM: &str = "warpo-heap-analyzer asc-transform";

/// Who wrote the debug information of a module. If there are several units, the last one in this order counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Producer {
    /// There is none.
    #[default]
    Nobody,
    /// A compiler that is not known.
    Other,
    /// WARPO. It leaves out constants, and newer versions leave out classes that no variable or field has as its
    /// type.
    Warpo,
    /// The transform of this package. It describes all classes, and also variables that optimisation turned into
    /// constants.
    Transform,
}

impl Producer {
    /// The producer of a unit that calls its producer so.
    pub fn named(name: &str) -> Self {
        match name {
            TRANSFORM => Self::Transform,
            "warpo" => Self::Warpo,
            _ => Self::Other,
        }
    }
}

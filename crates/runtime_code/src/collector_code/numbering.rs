//! The class ids of the standard library, which changed with AssemblyScript 0.24.

use crate::std_library::{ARRAY_BUFFER, ARRAY_BUFFER_VIEW, STRING};
use base::units::ClassId;

/// How a compiler numbers the first classes of the standard library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// `Object`, `ArrayBuffer`, `String`, `ArrayBufferView`.
    Current,
    /// Without `Object`, as AssemblyScript did up to 0.23.1.
    WithoutObject,
}

impl Numbering {
    const fn of(self, class: ClassId) -> ClassId {
        match self {
            Self::Current => class,
            Self::WithoutObject => ClassId(class.0 - 1),
        }
    }

    /// Classes of every program whose objects have no references.
    pub(super) const fn pointer_free(self) -> [ClassId; 2] {
        [self.of(ARRAY_BUFFER), self.of(STRING)]
    }

    /// A class of every program whose objects have one reference, in their first word.
    pub(super) const fn buffer_view(self) -> ClassId {
        self.of(ARRAY_BUFFER_VIEW)
    }
}

//! What the passes over a file share: the file, and its classes.

use crate::classes::{JavaClasses, PlacedField};
use crate::edges::OwnNames;
use base::input::Release;

/// How a file is read.
#[derive(Clone, Copy)]
pub(crate) struct FileInput<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) release: Release<'a>,
    /// Whether what comes before damage is read.
    pub(crate) is_partial: bool,
    /// Whether references have labels, and what else only questions need is found.
    pub(crate) for_questions: bool,
}

/// The classes, with what follows from them.
pub(crate) struct JavaClassParts {
    pub(crate) classes: JavaClasses,
    pub(crate) placed: Vec<Vec<PlacedField>>,
    pub(crate) own: OwnNames,
}

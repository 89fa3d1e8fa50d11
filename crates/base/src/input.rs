//! An input of an analysis. An error about an input begins with the input's name.

/// Bytes, and their name in errors.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a, Bytes = &'a [u8]> {
    /// A path, or the name of an argument.
    pub name: &'a str,
    /// The contents: borrowed, or anything that owns them, such as a mapped file.
    pub bytes: Bytes,
}

//! What references are called: exactly, with indexes and keys, or as their class has it.

use crate::runtime::shapes::{ClassShape, PlaceName};

/// The name of a place of a class.
pub(super) fn place_name(shape: &ClassShape, name: PlaceName, offset: u32) -> String {
    match name {
        PlaceName::Field(field) => shape.fields[field as usize].name.clone(),
        PlaceName::Unnamed => format!("+{offset}"),
        PlaceName::Environment => "(env)".to_owned(),
        PlaceName::Buffer => "(buffer)".to_owned(),
        PlaceName::Buckets => "(buckets)".to_owned(),
        PlaceName::Entries => "(entries)".to_owned(),
    }
}

//! Parts that the answers to several questions consist of: roots, references, paths, and their texts.

pub(crate) mod class_parts;
pub(crate) mod cut;
pub(crate) mod host;
pub(crate) mod joined;
pub(crate) mod labels;
pub(crate) mod object_at;
pub(crate) mod object_name;
pub(crate) mod page;
pub(crate) mod path;
pub(crate) mod path_text;
pub(crate) mod pattern;
pub(crate) mod references;
pub(crate) mod roots;
pub(crate) mod short_names;
pub(crate) mod sums;

//! Answers as typed values. Serialized, they are the JSON of the command line and the API: keys in this
//! order, sizes in bytes, addresses as numbers.

mod body;
mod growth;
mod objects;
mod paths;
mod references;
mod report;
mod sets;
mod unreachable;
mod warning_text;
mod waste;

pub use body::*;
pub use growth::*;
pub use objects::*;
pub use paths::*;
pub use references::*;
pub use report::*;
pub use sets::*;
pub use unreachable::*;
pub use warning_text::*;
pub use waste::*;

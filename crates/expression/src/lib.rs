//! Expressions over one object, in the Common Expression Language: `open == false && size > 3`.
//!
//! A crate parses the text, behind bounds of length and nesting that are checked first (`bounds`). `compile` turns what
//! was parsed into a `Node` with types and resolved names, or into an error with its column. `evaluate`
//! computes it for many objects at a time. An object without a field that the expression needs has no value.

mod bounds;
mod budget;
mod compare;
mod compile;
mod error;
mod evaluate;
mod members;
mod names;
mod nearest;
mod node;
mod operations;
mod parse;
mod scope;
mod texts;
mod tokens;
mod value;

pub use budget::ReadBudget;
pub use compile::{Compiled, compile};
pub use error::ExpressionError;
pub use evaluate::{BATCH, Evaluator};
pub use nearest::{last_part, nearest};
pub use scope::Scope;
pub use tokens::ExpressionOption;
pub use value::{FAILURES, Failure, Value};

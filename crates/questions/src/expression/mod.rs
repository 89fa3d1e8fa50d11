//! Expressions over one object, in the Common Expression Language: `open == false && size > 3`.
//!
//! A crate parses the text, behind bounds of length and nesting that are checked first (`bounds`). `compile` turns what
//! was parsed into a [`Node`](node::Node) with types and resolved names, or into an error with its column. `evaluate`
//! computes it for many objects at a time. An object without a field that the expression needs has no value.

mod bounds;
mod budget;
mod compare;
mod compile;
mod evaluate;
mod members;
mod names;
mod node;
mod operations;
mod parse;
mod texts;
mod tokens;
mod value;

pub(crate) use budget::ReadBudget;
pub(crate) use compile::{Compiled, Scope, compile};
pub(crate) use evaluate::{BATCH, Evaluator};
pub(crate) use tokens::ExpressionOption;
pub(crate) use value::{FAILURES, Failure, Value};

//! Views of heaps: plain typed values, computed once, rendered by [`formats`](crate::formats).
//!
//! A view holds its rows; instances are looked up and put in order when they are asked for, so a
//! view of ten million objects costs no more than its rows until somebody looks inside one.

mod comparison;
mod constructor;
mod grouping;
mod instances;
mod selection;

pub use comparison::{ComparisonRow, ComparisonSort, ComparisonView};
pub use constructor::{ConstructorRow, ConstructorSort, ConstructorView, RetainedColumns};
pub use instances::{ChangeKind, Instance, InstanceColumns, Instances};
pub use selection::Selection;

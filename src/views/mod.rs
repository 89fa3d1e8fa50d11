//! Views of heaps: plain typed values, computed once, rendered by [`formats`](crate::formats).
//!
//! A view holds its rows; the instances of a row are put in order when they are asked for, so a
//! view of ten million objects costs no more than its rows until somebody looks inside one.

mod comparison;
mod constructor;
mod instances;

pub use comparison::{ComparisonRow, ComparisonSort, ComparisonView};
pub use constructor::{ConstructorRow, ConstructorSort, ConstructorView};
pub use instances::Instances;

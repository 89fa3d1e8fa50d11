//! Views of heaps: typed values that are computed once; `outputs` renders them.
//!
//! A view holds its rows. Instances are looked up and sorted only when they are read, so a view of ten
//! million objects costs no more than its rows.

mod comparison;
mod constructor;
mod grouping;
mod instances;
mod selection;

pub use comparison::{ComparisonRow, ComparisonSort, ComparisonView};
pub use constructor::{ConstructorRow, ConstructorSort, ConstructorView, RetainedColumns};
pub use instances::{ChangeKind, Instance, InstanceColumns, Instances, NumberColumn};
pub use selection::Selection;

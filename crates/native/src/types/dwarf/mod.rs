//! The types and the variables that the debug information of a module describes: DWARF 4 and 5 of clang, rustc and
//! zig, in any form that gimli reads.
//!
//! One pass over the entries keeps types, members and variables at fixed addresses, as numbers and as slices of the
//! module; everything else is skipped. Names are put together when they are needed.

mod budget;
mod entry;
mod open;
mod reader;

pub(super) use reader::read;

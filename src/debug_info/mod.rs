//! Debug information as the analyzer needs it: classes with their layouts, and the variables
//! that are globals. Read from DWARF with gimli, whatever forms and version the producer chose.

pub mod writer;

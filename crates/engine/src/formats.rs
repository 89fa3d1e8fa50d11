//! The formats of inputs, in one list. To read another one, implement [`Format`] and add it here.

use crate::format::Format;
use crate::jvm_dump::JvmDump;
use crate::memory_dump::MemoryDump;
use crate::snapshot::HeapSnapshot;

/// All formats. The last one takes what no other recognises: its errors say what is missing.
static FORMATS: [&dyn Format; 3] = [&HeapSnapshot, &JvmDump, &MemoryDump];

/// The format of a file.
pub(crate) fn format_of(file: &[u8]) -> &'static dyn Format {
    let [others @ .., last] = FORMATS;
    let found = others.into_iter().find(|format| format.recognise(file));
    found.unwrap_or(last)
}

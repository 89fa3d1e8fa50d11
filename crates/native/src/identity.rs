//! Checks whether a dump was taken from a module: most of what the module initialises is still in the memory.

use base::control::Control;
use base::error::Result;
use base::mismatch::Mismatch;
use base::units::Address;
use dumps::Dump;
use wasm::module::Module;

/// A small program may have no constants, and change all of its few variables.
const LEAST_CHANGED: u64 = 8;

/// Whether the initialised data of the module and the memory of the dump differ too much: in more than half of the
/// words that are not zero. A program changes some of them, and constants are most of them.
///
/// # Errors
/// [`Error::Aborted`](base::Error::Aborted).
pub(crate) fn data_mismatch(
    dump: &Dump<'_>,
    module: &Module<'_>,
    control: &Control,
) -> Result<Option<Mismatch>> {
    let (mut all, mut changed, mut first) = (0u64, 0u64, None);
    for data in &module.data {
        control.count(1 + data.bytes.len() as u64 / 64)?;
        let count = data.bytes.len() as u32 / 4;
        let Some(words) = dump.memory.words_at(data.start, count) else {
            return Ok(Some(Mismatch::StaticData {
                address: data.start,
            }));
        };
        let initial = data.bytes.chunks_exact(4);
        for (nth, (initial, word)) in initial.zip(words).enumerate() {
            if initial == [0; 4] {
                continue;
            }
            all += 1;
            if initial != word.to_le_bytes() {
                changed += 1;
                first = first.or_else(|| data.start.0.checked_add(nth as u32 * 4));
            }
        }
    }
    let address = first.filter(|_| changed * 2 > all && changed >= LEAST_CHANGED);
    Ok(address.map(|address| Mismatch::StaticData {
        address: Address(address),
    }))
}

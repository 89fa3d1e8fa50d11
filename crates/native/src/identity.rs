//! Checks whether a dump was taken from a module: most of what the module initialises is still in the memory. So it is found
//! where the static data of a module is that is placed when it is loaded.

use base::control::{CHECK_INTERVAL, Control};
use base::error::Result;
use base::mismatch::Mismatch;
use base::units::Address;
use dumps::{Dump, Memory};
use wasm::module::{DataSegment, Module};

/// A small program may have no constants, and change all of its few variables.
const LEAST_CHANGED: u64 = 8;

/// Where emscripten places the static data of a main module.
const USUAL_BASE: u32 = 1024;
/// How the linker names globals with the addresses of variables of the module itself.
const VARIABLE: &str = "GOT.data.internal.";
/// The words that are searched for, and how many places are looked at for words that occur only once.
const PATTERN: usize = 4;
const MOST_PATTERNS: usize = 1 << 16;
/// The most places that have the words and are compared in detail.
const MOST_BASES: usize = 64;

/// The address of the static data of a module, given the module as if it were 0: by its globals with addresses of
/// variables, or where most of what its segments initialise is in memory. `None` if it is nowhere.
///
/// # Errors
/// [`Error::Aborted`](base::Error::Aborted).
pub(crate) fn memory_base(
    module: &Module<'_>,
    dump: &Dump<'_>,
    control: &Control,
) -> Result<Option<u32>> {
    let (memory, data) = (dump.memory, &module.data[..]);
    let has_values = data
        .iter()
        .any(|data| data.bytes.iter().any(|&byte| byte != 0));
    if let Some(base) = base_of_globals(module, dump)
        && (!has_values || is_at(memory, data, base, control)?)
    {
        return Ok(Some(base));
    }
    if has_values {
        base_of_data(memory, data, control)
    } else {
        Ok(Some(USUAL_BASE))
    }
}

/// By how much the module added to the addresses of variables that it keeps in globals: the same to all of them.
fn base_of_globals(module: &Module<'_>, dump: &Dump<'_>) -> Option<u32> {
    let is_address = |name: &str| name.starts_with(VARIABLE);
    let globals = module.globals.iter();
    let addresses = globals.filter(|global| global.name.is_some_and(is_address));
    let mut bases = addresses.map(|global| {
        let value = dump.globals.get(global.dump_position?)?;
        value.checked_sub(global.initial?)
    });
    let base = bases.next()??;
    bases.all(|other| other == Some(base)).then_some(base)
}

fn base_of_data(
    memory: Memory<'_>,
    data: &[DataSegment<'_>],
    control: &Control,
) -> Result<Option<u32>> {
    if is_at(memory, data, USUAL_BASE, control)? {
        return Ok(Some(USUAL_BASE));
    }
    let Some((offset, pattern)) = pattern_of(data) else {
        return Ok(None);
    };
    let mut compared = 0;
    let mut last = [0; PATTERN];
    for (nth, word) in memory.words().enumerate() {
        if nth.is_multiple_of(CHECK_INTERVAL) {
            control.count(CHECK_INTERVAL as u64)?;
        }
        last.rotate_left(1);
        last[PATTERN - 1] = word;
        let start = ((nth + 1) as u32).wrapping_mul(4);
        let start = start.wrapping_sub(4 * PATTERN as u32);
        let base = start.checked_sub(offset).filter(|_| last == pattern);
        if let Some(base) = base.filter(|_| nth + 1 >= PATTERN) {
            if is_at(memory, data, base, control)? {
                return Ok(Some(base));
            }
            compared += 1;
            if compared == MOST_BASES {
                break;
            }
        }
    }
    Ok(None)
}

/// Words of the segments that differ most from each other, and their offset.
fn pattern_of(data: &[DataSegment<'_>]) -> Option<(u32, [u32; PATTERN])> {
    let segments = data.iter().filter(|data| data.start.0.is_multiple_of(4));
    let windows = segments.flat_map(|data| {
        let windows = data.bytes.windows(4 * PATTERN).step_by(4 * PATTERN);
        let offsets = (data.start.0..).step_by(4 * PATTERN);
        offsets.zip(windows)
    });
    let distinct = |bytes: &[u8]| {
        let mut seen = [false; 256];
        bytes.iter().for_each(|&byte| seen[byte as usize] = true);
        seen.iter().filter(|seen| **seen).count()
    };
    let best = windows
        .take(MOST_PATTERNS)
        .max_by_key(|(_, bytes)| distinct(bytes));
    let (offset, bytes) = best.filter(|(_, bytes)| distinct(bytes) > PATTERN)?;
    let word = |nth: usize| {
        Some(u32::from_le_bytes(
            bytes.get(nth * 4..nth * 4 + 4)?.try_into().ok()?,
        ))
    };
    Some((offset, [word(0)?, word(1)?, word(2)?, word(3)?]))
}

/// Whether most of what segments initialise is in memory, if their addresses are moved by this.
fn is_at(
    memory: Memory<'_>,
    data: &[DataSegment<'_>],
    base: u32,
    control: &Control,
) -> Result<bool> {
    let (mut all, mut same) = (0u64, 0u64);
    for data in data {
        control.count(1 + data.bytes.len() as u64 / 64)?;
        let start = data.start.0.checked_add(base);
        let count = data.bytes.len() as u32 / 4;
        let words = start.and_then(|start| memory.words_at(Address(start), count));
        let Some(words) = words else {
            return Ok(false);
        };
        for (initial, word) in data.bytes.chunks_exact(4).zip(words) {
            let is_set = initial != [0; 4];
            all += u64::from(is_set);
            same += u64::from(is_set && initial == word.to_le_bytes());
        }
    }
    Ok(all > 0 && same * 2 >= all)
}

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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    /// The address at which data is found that lies at `base`, of which the first `changed` words are others.
    fn found(base: usize, changed: usize) -> Option<u32> {
        let text = b"static data of a module that is placed when it is loaded";
        let mut memory = vec![0; 1 << 16];
        memory[base..base + text.len()].copy_from_slice(text);
        memory[base..base + 4 * changed].fill(0xff);
        // Some of the words are elsewhere, too.
        memory[8192..8208].copy_from_slice(&text[32..48]);
        let data = [DataSegment {
            start: Address(0),
            bytes: text,
        }];
        base_of_data(Memory::new(&memory), &data, &Control::default()).unwrap()
    }

    #[test]
    fn static_data_is_found_where_most_of_it_is() {
        for base in [16, USUAL_BASE as usize, 40_000] {
            assert_eq!(found(base, 0), Some(base as u32));
        }
        assert_eq!(found(40_000, 14), None);
    }

    #[test]
    fn a_module_without_data_is_nowhere() {
        let memory = Memory::new(&[0; 4096]);
        assert_eq!(
            base_of_data(memory, &[], &Control::default()).unwrap(),
            None
        );
    }
}

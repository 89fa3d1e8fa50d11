//! The heads of the collector's lists in a dump, found by what they are: static, with links to objects that refer back.

use base::control::{CHECK_INTERVAL, Control};
use base::error::Result;
use base::units::Address;
use dumps::Dump;
use runtime_code::collector_code::KnownLists;
use wasm::module::Module;

use super::collector::global_value;
use super::objects::{next_of, previous_of};

/// Offsets of the words of a head that are always 0: it has a block's size, a class and a size like an object.
const UNUSED: [u32; 3] = [0, 12, 16];

/// More heads than a collector has lists. With more of them, they are not heads.
const MOST_HEADS: usize = 8;

/// The lists of a dump. None if there are no heads, or too many.
///
/// # Errors
/// [`Error::Aborted`](base::Error::Aborted).
pub(super) fn known_lists(
    dump: &Dump<'_>,
    module: &Module<'_>,
    control: &Control,
) -> Result<KnownLists> {
    let mut heads = Vec::new();
    // The lowest addresses are not used.
    for at in (8..dump.heap_base.0.saturating_sub(20)).step_by(4) {
        if (at as usize / 4).is_multiple_of(CHECK_INTERVAL) {
            control.count(CHECK_INTERVAL as u64)?;
        }
        if is_head(dump, Address(at)) {
            heads.push(Address(at));
            if heads.len() > MOST_HEADS {
                return Ok(KnownLists::default());
            }
        }
    }
    let globals = module.globals.iter().filter(|global| global.mutable);
    let holding = globals.filter_map(|global| {
        let head = Address(global_value(global, dump)?);
        heads.contains(&head).then_some((global.index, head))
    });
    let globals = holding.collect();
    Ok(KnownLists { heads, globals })
}

/// Whether the last object of the list refers to this head. While a list is swept, its first object need not.
fn is_head(dump: &Dump<'_>, head: Address) -> bool {
    let memory = dump.memory;
    let Some(next) = memory.word_behind(head, 4).filter(|&next| next != 0) else {
        return false;
    };
    let last = previous_of(memory, head);
    next & 3 == 0
        && UNUSED
            .iter()
            .all(|&offset| memory.word_behind(head, offset) == Some(0))
        && last.is_some_and(|last| last.0 != 0 && next_of(memory, last) == Some(head))
        && previous_of(memory, Address(next)).is_some()
}

//! Where the search for live blocks begins: the stack, static data, and globals of the module.

use std::ops::Range;

use base::columns;
use base::control::Control;
use base::error::Result;
use base::units::Address;
use dumps::Dump;
use heap::{FoundSlots, RootKind};
use wasm::module::{Global, Module};

use crate::dlmalloc::UsedBlocks;
use crate::references::BlockIndex;
use crate::types::RootNames;

/// The kinds of roots with their blocks, and the places.
#[derive(Default)]
pub(crate) struct NativeRoots {
    pub(crate) kinds: Vec<(base::ObjectIndex, RootKind)>,
    pub(crate) slots: FoundSlots,
}

/// The parts of the memory below the heap.
pub(crate) struct Layout {
    stack: Range<u32>,
    pub(crate) statics: Range<u32>,
    /// Whether the end of static data is only probable.
    pub(crate) is_guessed: bool,
}

fn stack_pointer<'m>(module: &'m Module<'_>) -> Option<&'m Global<'m>> {
    let globals = &module.globals;
    let first = || {
        globals
            .iter()
            .find(|global| global.dump_position == Some(0))
    };
    globals
        .named("__stack_pointer")
        .or_else(|| globals.exported("__stack_pointer"))
        .or_else(first)
}

impl Layout {
    pub(crate) fn find(module: &Module<'_>, dump: &Dump<'_>, walk: &UsedBlocks) -> Self {
        let pointer = stack_pointer(module);
        let position = pointer.and_then(|global| global.dump_position);
        let current = position.and_then(|nth| dump.globals.get(nth));
        let current = current.unwrap_or(dump.stack_pointer.0);
        let initial = pointer.and_then(|global| global.initial).unwrap_or(0);
        let heap = walk.segments.first().map_or(0, |segment| segment.start);
        let lowest = module.data.iter().map(|data| data.start.0).min();
        let lowest = lowest.unwrap_or(initial).min(walk.state.start);
        let stack = current.min(initial)..initial;
        if initial <= lowest {
            return Self {
                stack,
                statics: lowest..heap.max(lowest),
                is_guessed: false,
            };
        }
        let globals = &module.globals;
        let end = globals
            .exported("__data_end")
            .or_else(|| globals.named("__data_end"));
        let end = end.filter(|end| !end.mutable).and_then(|end| end.initial);
        let known = module
            .data
            .iter()
            .map(|data| data.start.0.saturating_add(data.bytes.len() as u32));
        let known = known.max().unwrap_or(0).max(walk.state.end);
        // The linker's sizes of stacks, the largest first, that leave room for what is known to be static.
        let sizes = (0..12)
            .rev()
            .map(|shift| 65536u32 << shift)
            .chain([5 << 20]);
        let guess = sizes.filter_map(|size| initial.checked_sub(size));
        let guess = guess.filter(|&end| end >= known).min();
        Self {
            stack,
            statics: lowest..end.or(guess).unwrap_or(initial).max(lowest),
            is_guessed: end.is_none(),
        }
    }
}

/// Finds the roots. Left out are the state of the allocator, and initialised words that have their initial value: a
/// text that looks like an address is none.
pub(crate) fn find(
    module: &Module<'_>,
    dump: &Dump<'_>,
    (walk, index): (&UsedBlocks, &BlockIndex<'_>),
    (layout, names): (&Layout, &RootNames<'_, '_>),
    control: &Control,
) -> Result<NativeRoots> {
    let mut roots = NativeRoots::default();
    for global in module.globals.iter() {
        let is_pointer = stack_pointer(module).is_some_and(|pointer| pointer.index == global.index);
        let value = global.dump_position.and_then(|nth| dump.globals.get(nth));
        if let Some(object) = value
            .filter(|_| !is_pointer)
            .and_then(|value| index.around(value))
        {
            let name = global
                .name
                .map_or_else(|| format!("#{}", global.index), str::to_owned);
            columns::push(&mut roots.kinds, (object, RootKind::Global))?;
            roots.slots.add_global(&name, object)?;
        }
    }
    let statics = &layout.statics;
    let words = |range: &Range<u32>| {
        let count = (range.end - range.start) / 4;
        dump.memory
            .words_at(Address(range.start), count)
            .into_iter()
            .flatten()
    };
    let mut initial = columns::repeated(0u8, (statics.end - statics.start) as usize)?;
    for data in &module.data {
        control.count(1 + data.bytes.len() as u64 / 64)?;
        if let Some(start) = data.start.0.checked_sub(statics.start) {
            let room = initial.iter_mut().skip(start as usize);
            room.zip(data.bytes)
                .for_each(|(byte, &value)| *byte = value);
        }
    }
    control.count(initial.len() as u64 / 64)?;
    for (nth, word) in words(statics).enumerate() {
        let at = statics.start + nth as u32 * 4;
        let Some(object) = index.around(word) else {
            continue;
        };
        let before = initial.get(nth * 4..nth * 4 + 4);
        if walk.state.contains(&at) || before == Some(&word.to_le_bytes()) {
            continue;
        }
        columns::push(&mut roots.kinds, (object, RootKind::Global))?;
        let name = names.name(at).unwrap_or_else(|| format!("{at:#x}"));
        roots.slots.add_global(&format!("static {name}"), object)?;
    }
    for (nth, word) in words(&layout.stack).enumerate() {
        if let Some(object) = index.around(word) {
            columns::push(&mut roots.kinds, (object, RootKind::Stack))?;
            roots.slots.add_stack_word(nth, object)?;
        }
    }
    Ok(roots)
}

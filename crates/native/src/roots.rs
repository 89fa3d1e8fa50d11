//! Where the search for live blocks begins: the stack, static data, and globals of the module.

use std::ops::Range;

use crate::warning::NativeWarning;
use base::columns;
use base::control::Control;
use base::error::Result;
use base::units::Address;
use base::warning::Warning;
use dumps::{Dump, HostRoot, Memory};
use heap::{FoundSlots, RootKind};
use wasm::module::{DataSegment, Global, Module};

use crate::allocator::UsedBlocks;
use crate::block_index::BlockIndex;
use crate::types::RootNames;

/// The kinds of roots with their blocks, and the places.
#[derive(Default)]
pub(crate) struct NativeRoots {
    pub(crate) kinds: Vec<(base::ObjectIndex, RootKind)>,
    pub(crate) slots: FoundSlots,
}

impl NativeRoots {
    /// Adds pointers that the host holds. One that is in no block is a warning.
    pub(crate) fn add_hosts(
        &mut self,
        hosts: &[HostRoot],
        index: &BlockIndex<'_>,
        warnings: &mut Vec<Warning>,
    ) -> Result<()> {
        for host in hosts {
            let address = host.address;
            let Some(object) = index.around(address.0) else {
                warnings.push(NativeWarning::HostRootElsewhere { address }.into());
                continue;
            };
            columns::push(&mut self.kinds, (object, RootKind::Host))?;
            if host.name.is_empty() {
                self.slots.add_host(&address.to_string(), object)?;
            } else {
                self.slots.add_host(&host.name, object)?;
            }
        }
        Ok(())
    }
}

/// The bytes of a pointer.
const WORD: u32 = 4;
/// Where the linker puts static data if it comes before the stack. It keeps the words below free.
const STATIC_BASE: u32 = 1024;
/// What every stack pointer is a multiple of.
const STACK_ALIGNMENT: u32 = 16;

/// The parts of the memory below the heap.
pub(crate) struct Layout {
    /// The bytes of the stack that are in use.
    pub(crate) stack: Range<u32>,
    /// Whether no function was running: then the program keeps these bytes since it was started.
    is_at_rest: bool,
    pub(crate) statics: Range<u32>,
    /// Whether the end of static data is only probable.
    is_guessed: bool,
    /// Whether the module initialises memory that is part of the heap, as a module that was made from a memory does.
    is_heap_initialised: bool,
}

/// Without names, it is the first mutable global, unless this begins with what is no end of a stack.
fn stack_pointer<'m>(module: &'m Module<'_>) -> Option<&'m Global<'m>> {
    let globals = &module.globals;
    let first = || {
        let mut all = globals.iter();
        let first = all.find(|global| global.dump_position == Some(0));
        let is_end = |initial: u32| initial != 0 && initial.is_multiple_of(STACK_ALIGNMENT);
        first.filter(|first| first.initial.is_none_or(is_end))
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
        if let Some(found) = module.relocation {
            let end = found.stack_end().and_then(|nth| dump.globals.get(nth));
            let statics = found.memory_base..found.memory_base.saturating_add(found.static_size);
            return Self {
                stack: current..end.unwrap_or(current).max(current),
                is_at_rest: dump.is_at_rest,
                statics: statics.start..statics.end.max(walk.state.end),
                is_guessed: false,
                is_heap_initialised: false,
            };
        }
        let initial = pointer.and_then(|global| global.initial).unwrap_or(0);
        let heap = walk.segments.first().map_or(0, |segment| segment.start);
        let is_stack_first = initial <= walk.state.start;
        let lowest = module.data.iter().map(|data| data.start.0).min();
        // Without segments whose address is known, all words below the stack may be static data.
        let lowest = lowest.unwrap_or(if is_stack_first { initial } else { 0 });
        let lowest = lowest.min(walk.state.start);
        // An optimiser leaves out the zeros that a segment begins with, but the variables there have their addresses.
        let is_stack_below = initial <= lowest;
        let lowest = match initial {
            0 => lowest,
            _ if is_stack_below => initial,
            _ => lowest.min(STATIC_BASE),
        };
        let end_of = |data: &DataSegment<'_>| data.start.0.saturating_add(data.bytes.len() as u32);
        let known = module.data.iter().map(end_of).max().unwrap_or(0);
        let is_heap_initialised = !walk.segments.is_empty() && known > heap;
        let stack = current.min(initial)..initial;
        if is_stack_below {
            return Self {
                stack,
                is_at_rest: dump.is_at_rest,
                statics: lowest..heap.max(lowest),
                is_guessed: false,
                is_heap_initialised,
            };
        }
        let globals = &module.globals;
        let end = globals
            .exported("__data_end")
            .or_else(|| globals.named("__data_end"));
        let end = end.filter(|end| !end.mutable).and_then(|end| end.initial);
        let known = if is_heap_initialised { 0 } else { known };
        let known = known.max(walk.state.end);
        // The linker's sizes of stacks, the largest first, that leave room for what is known to be static.
        let sizes = (0..12)
            .rev()
            .map(|shift| 65536u32 << shift)
            .chain([5 << 20]);
        let guess = sizes.filter_map(|size| initial.checked_sub(size));
        let guess = guess.filter(|&end| end >= known).min();
        Self {
            stack,
            is_at_rest: dump.is_at_rest,
            statics: lowest..end.or(guess).unwrap_or(initial).max(lowest),
            is_guessed: end.is_none(),
            is_heap_initialised,
        }
    }

    /// What makes the roots uncertain.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = Warning> {
        let guessed = self
            .is_guessed
            .then_some(NativeWarning::StackBoundsGuessed.into());
        let size = self.stack.end.saturating_sub(self.stack.start);
        let running =
            (size > 0 && !self.is_at_rest).then_some(NativeWarning::FramesActive { size }.into());
        let initialised = self
            .is_heap_initialised
            .then_some(NativeWarning::DataSnapshot.into());
        [guessed, running, initialised].into_iter().flatten()
    }
}

/// The words of a range that are in the memory, with the one whose middle it begins in: an optimiser lets a segment begin
/// at any byte, but a variable that can hold a pointer is at a multiple of a word.
fn whole_words(range: &Range<u32>, memory: Memory<'_>) -> Range<u32> {
    let start = range.start / WORD * WORD;
    let end = u64::from(range.end).min(memory.size()) as u32;
    start..end.max(start)
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
    let statics = &whole_words(&layout.statics, dump.memory);
    let words = |range: &Range<u32>| {
        let count = (range.end - range.start) / WORD;
        let words = dump.memory.words_at(Address(range.start), count);
        words.into_iter().flatten()
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
        // In a module that was made from a memory, a pointer has its initial value.
        let before = before.filter(|_| !layout.is_heap_initialised);
        if walk.state.contains(&at) || before == Some(&word.to_le_bytes()) {
            continue;
        }
        columns::push(&mut roots.kinds, (object, RootKind::Global))?;
        let name = names.name(at).unwrap_or_else(|| format!("{at:#x}"));
        roots.slots.add_global(&format!("static {name}"), object)?;
    }
    for (nth, word) in words(&whole_words(&layout.stack, dump.memory)).enumerate() {
        if let Some(object) = index.around(word) {
            columns::push(&mut roots.kinds, (object, RootKind::Stack))?;
            roots.slots.add_stack_word(nth, object)?;
        }
    }
    Ok(roots)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;
    use crate::types::Typing;

    const STATIC: u32 = 1024;
    const HEAP: u32 = 4096;

    /// A memory whose word at [`STATIC`] refers to the one block.
    fn memory() -> Vec<u8> {
        let mut memory = vec![0u8; 1 << 16];
        memory[STATIC as usize..STATIC as usize + 4].copy_from_slice(&(HEAP + 8).to_le_bytes());
        memory
    }

    /// The codes of warnings and the number of roots, with a module that puts these bytes there.
    fn roots_of(start: u32, bytes: &[u8]) -> (Vec<&'static str>, usize) {
        let mut file = b"ASHD".to_vec();
        for word in [2, 0, 0, 512, 0] {
            file.extend_from_slice(&u32::to_le_bytes(word));
        }
        file.extend_from_slice(&memory());
        let dump = Dump::parse(&file).unwrap();
        let heap = HEAP..HEAP + 1024;
        let walk = UsedBlocks {
            addresses: vec![HEAP + 8],
            usable: vec![12],
            segments: vec![heap],
            state: STATIC + 64..STATIC + 68,
            ..UsedBlocks::default()
        };
        let mut module = Module::default();
        module.data.push(DataSegment {
            start: Address(start),
            bytes,
        });
        let index = BlockIndex::new(&walk).unwrap();
        let layout = Layout::find(&module, &dump, &walk);
        let typing = Typing::read(&module, &Control::default()).unwrap();
        let roots = find(
            &module,
            &dump,
            (&walk, &index),
            (&layout, &typing.root_names()),
            &Control::default(),
        )
        .unwrap();
        let codes = layout.warnings().map(|warning| warning.code());
        (codes.collect(), roots.kinds.len())
    }

    #[test]
    fn an_initialised_word_is_a_root_only_if_the_module_was_made_from_a_memory() {
        let initial = |size: usize| memory()[STATIC as usize..][..size].to_vec();
        assert_eq!(roots_of(STATIC, &initial(64)), (vec![], 0));
        assert_eq!(
            roots_of(STATIC, &initial((HEAP - STATIC) as usize + 64)),
            (vec!["WARN_DATA_SNAPSHOT"], 1)
        );
    }

    #[test]
    fn a_segment_may_begin_at_any_byte_before_or_in_a_static_word() {
        for start in STATIC - 9..STATIC + 4 {
            assert_eq!(roots_of(start, &[1; 30]), (vec![], 1), "{start}");
            // Not with the value that the segment gives the word.
            let initial = &memory()[start as usize..][..30];
            let expected = usize::from(start > STATIC);
            assert_eq!(roots_of(start, initial), (vec![], expected), "{start}");
        }
    }
}

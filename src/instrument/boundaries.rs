//! Where a module keeps the three addresses in a dump's header: `__data_end`, `__heap_base` and
//! `__stack_pointer`.
//!
//! Newer WARPO exports them and an unoptimised stock build names them. In an optimised stock build
//! `__data_end` and `__heap_base` are gone, because they are constants, and without `--debug` so
//! are all names. What is left then is what the program does:
//!
//! - **`__stack_pointer`** is the one global that the code lowers by constants and checks against
//!   a constant limit ([`CodeFacts`]), or else the one from which the collector scans. A program that never
//!   pushes a frame has none: its stack is always empty.
//! - **`__heap_base`** is what `__stack_pointer` starts with. The compiler lays the shadow stack
//!   below the heap and gives both globals the same constant, so this is exact. Without a stack pointer it is the
//!   constant address of the allocator's root, which is the heap base rounded up to 16; and without an
//!   allocator it does not matter.
//! - **`__data_end`** is the limit in that check, which is exact too. Only a program that never
//!   checks its stack leaves nothing but the data segments: the end of the last one, rounded up to
//!   a word as the compiler rounds, is at most `__data_end`. It is too low by the zero bytes at
//!   the end of the static data, which optimisers do not write out, and never too high.

use super::code_facts::CodeFacts;
use super::exports::Exports;
use crate::collector_code::CollectorCode;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::module::{Globals, Module};
use crate::units::GlobalIndex;

/// Where one of the three addresses is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Boundary {
    /// In this global.
    Global(GlobalIndex),
    /// In no global any more: it is this constant.
    Folded(u32),
}

/// Where all three are found.
#[derive(Debug)]
pub(super) struct Boundaries {
    pub(super) data_end: Boundary,
    pub(super) heap_base: Boundary,
    pub(super) stack_pointer: Boundary,
}

/// The names under which one address may be found, the most trustworthy first.
struct Names {
    /// The export that this crate adds.
    reserved: &'static str,
    /// The export of newer WARPO, which is also how messages call it.
    exported: &'static str,
    /// The name in the `name` section.
    named: &'static str,
}

const DATA_END: Names = Names {
    reserved: super::exports::DATA_END,
    exported: "__data_end",
    named: "~lib/memory/__data_end",
};
const HEAP_BASE: Names = Names {
    reserved: super::exports::HEAP_BASE,
    exported: "__heap_base",
    named: "~lib/memory/__heap_base",
};
const STACK_POINTER: Names = Names {
    reserved: super::exports::STACK_POINTER,
    exported: "__stack_pointer",
    named: "~lib/memory/__stack_pointer",
};

impl Boundaries {
    /// Finds the three addresses.
    ///
    /// # Errors
    /// [`Error::GlobalMissing`] if several globals may be the stack pointer, or if the heap base cannot be found
    /// although the program allocates;
    /// [`Error::Module`] if the code must be read and cannot be.
    pub(super) fn find(module: &Module<'_>, exports: &Exports<'_>) -> Result<Self> {
        let globals = &module.globals;
        // The code is read at most once, and only if names do not tell.
        let mut code = None;
        let mut stack_pointer = by_name(&STACK_POINTER, globals, exports);
        if stack_pointer.is_none() {
            stack_pointer = read_once(&mut code, module)?.stack_pointer(globals);
        }
        if stack_pointer.is_none() && has_runtime(module, read_once(&mut code, module)?) {
            let collector = CollectorCode::find(module, &Control::default());
            stack_pointer = collector.and_then(|collector| collector.stack_pointer());
        }
        let initial = |index| globals.get(index).and_then(|global| global.initial);
        let named_base = by_name(&HEAP_BASE, globals, exports).map(Boundary::Global);
        let heap_base = match stack_pointer {
            Some(index) => {
                let folded = || initial(index).map(Boundary::Folded);
                named_base.or_else(folded).ok_or(missing(&HEAP_BASE))?
            }
            None => {
                let code = read_once(&mut code, module)?;
                if code.has_stack(globals) {
                    return Err(missing(&STACK_POINTER));
                }
                let lowest = segments_end(module);
                let nothing_is_allocated = || (!code.grows_memory).then_some(lowest);
                let root = code.allocator_root(lowest).or_else(nothing_is_allocated);
                let root = Boundary::Folded(root.ok_or(missing(&STACK_POINTER))?);
                named_base.unwrap_or(root)
            }
        };
        let data_end = match by_name(&DATA_END, globals, exports) {
            Some(index) => Boundary::Global(index),
            None => {
                let segments_end = segments_end(module);
                let highest = match heap_base {
                    Boundary::Folded(address) => Some(address),
                    Boundary::Global(index) => globals.get(index).and_then(|base| base.initial),
                }
                .unwrap_or(u32::MAX);
                // A limit outside static data and heap is a comparison of the program's own.
                let code = read_once(&mut code, module)?;
                let checked =
                    stack_pointer.and_then(|index| code.limit(index, segments_end..=highest));
                Boundary::Folded(checked.unwrap_or(segments_end.min(highest)))
            }
        };
        Ok(Self {
            data_end,
            stack_pointer: stack_pointer.map_or(heap_base, Boundary::Global),
            heap_base,
        })
    }
}

/// Whether there is any sign of the AssemblyScript runtime. Without one it is not worth trying what functions do:
/// `register` passes every module of a process.
fn has_runtime(module: &Module<'_>, code: &CodeFacts) -> bool {
    code.allocator_root(segments_end(module)).is_some()
        || ["__new", "__collect"]
            .iter()
            .any(|name| module.functions.exported(name).is_some())
}

fn by_name(names: &Names, globals: &Globals<'_>, exports: &Exports<'_>) -> Option<GlobalIndex> {
    // The stack pointer moves, the other two never do: a global that differs is the program's own.
    let mutable = names.exported == STACK_POINTER.exported;
    let fits = |index: &GlobalIndex| {
        globals
            .get(*index)
            .is_some_and(|global| global.is_i32 && global.mutable == mutable)
    };
    exports
        .global(names.reserved)
        .filter(fits)
        .or_else(|| exports.global(names.exported).filter(fits))
        .or_else(|| {
            globals
                .named(names.named)
                .map(|global| global.index)
                .filter(fits)
        })
}

fn missing(names: &Names) -> Error {
    Error::GlobalMissing {
        name: names.exported,
    }
}

fn read_once<'c>(code: &'c mut Option<CodeFacts>, module: &Module<'_>) -> Result<&'c CodeFacts> {
    let found = match code.take() {
        Some(found) => found,
        None => CodeFacts::of(module)?,
    };
    Ok(code.insert(found))
}

/// The end of the static data as far as it was written out, rounded up to a word; 0 without any.
fn segments_end(module: &Module<'_>) -> u32 {
    let ends = module
        .data
        .iter()
        .map(|segment| u64::from(segment.start.0) + segment.bytes.len() as u64);
    // A segment that reaches past 4 GiB cannot be instantiated: what it says does not matter.
    u32::try_from(ends.max().unwrap_or(0).next_multiple_of(4)).unwrap_or(0)
}

//! Finds the three addresses of a dump's header in a module: `__data_end`, `__heap_base` and
//! `__stack_pointer`.
//!
//! Newer WARPO exports them and an unoptimised stock build names them. An optimised stock build has no
//! globals `__data_end` and `__heap_base`, because they are constants, and without `--debug` no names. Then
//! the addresses are found from the code:
//!
//! - **`__stack_pointer`** is the one global that the code lowers by constants and checks against a constant
//!   limit ([`CodeFacts`]), or else the one from which the collector scans. A program that never pushes a
//!   frame has no stack pointer: its stack is always empty.
//! - **`__heap_base`** is the initial value of `__stack_pointer`. The compiler lays the shadow stack below
//!   the heap and gives both globals the same constant, so this is exact. Without a stack pointer it is the
//!   constant address of the allocator's root, which is the heap base rounded up to 16, or else the variable
//!   in which the allocator keeps it. Without an allocator it is not needed.
//! - **`__data_end`** is the limit in that check, which is exact too. For a program that never checks its
//!   stack, only the data segments are known: the end of the last one, rounded up to a word as the compiler
//!   does, is at most `__data_end`. It is too low by the zero bytes at the end of the static data, which
//!   optimisers leave out, and never too high.
//!
//! A program of C, C++, Rust or Zig keeps its stack pointer in the first mutable i32 global. The linker does not write
//! the other two addresses into the module. Its dumps are read without them, so they may be 0.

use super::exports::Exports;
use crate::InstrumentError;
use base::control::Control;
use base::error::{Error, Result};
use base::units::GlobalIndex;
use runtime_code::code_facts::CodeFacts;
use runtime_code::collector_code::CollectorCode;
use wasm::module::{Globals, Module, TLSF_ROOT};

/// Where one of the three addresses is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// In this global.
    Global(GlobalIndex),
    /// In no global: the address is this constant.
    Folded(u32),
}

/// Where all three addresses are.
#[derive(Clone, Copy, Debug)]
pub struct Boundaries {
    /// Where static data ends.
    pub data_end: Boundary,
    /// Where the allocator begins.
    pub heap_base: Boundary,
    /// The top of the shadow stack; where there is none, the heap base.
    pub stack_pointer: Boundary,
}

/// The names of one address, the most reliable first.
struct BoundaryNames {
    /// The export that this crate adds.
    reserved: &'static str,
    /// The export of newer WARPO. Messages use this name.
    exported: &'static str,
    /// The name in the `name` section.
    named: &'static str,
}

const DATA_END: BoundaryNames = BoundaryNames {
    reserved: super::exports::DATA_END,
    exported: "__data_end",
    named: "~lib/memory/__data_end",
};
const HEAP_BASE: BoundaryNames = BoundaryNames {
    reserved: super::exports::HEAP_BASE,
    exported: "__heap_base",
    named: "~lib/memory/__heap_base",
};
const STACK_POINTER: BoundaryNames = BoundaryNames {
    reserved: super::exports::STACK_POINTER,
    exported: "__stack_pointer",
    named: "~lib/memory/__stack_pointer",
};

impl Boundaries {
    /// Finds the three addresses in the bytes of a module, for a host that knows the values of globals.
    ///
    /// # Errors
    /// As [`expose_globals`](crate::expose_globals).
    pub fn of_module(wasm: &[u8], module: &Module<'_>) -> Result<Self> {
        Self::find(module, &Exports::read(wasm)?)
    }

    /// Finds the three addresses.
    ///
    /// # Errors
    /// [`InstrumentError::GlobalMissing`] if the program allocates, but is neither one of AssemblyScript whose heap base
    /// and stack pointer can be found, nor one that the linker of C, C++, Rust or Zig wrote;
    /// [`ModuleError::Unreadable`](wasm::ModuleError::Unreadable) if the code must be read and cannot be.
    pub(super) fn find(module: &Module<'_>, exports: &Exports<'_>) -> Result<Self> {
        let globals = &module.globals;
        // The code is read at most once, and only if the names are not enough.
        let mut code = None;
        let root = globals.named(TLSF_ROOT).map(|root| root.index);
        // Where there is no stack, the root was exported in its place.
        let mut stack_pointer =
            by_name(&STACK_POINTER, module, exports).filter(|&index| Some(index) != root);
        if stack_pointer.is_none() {
            // The name that the linker of C, C++ and Rust writes.
            let named = globals.named("__stack_pointer");
            stack_pointer = named
                .filter(|global| global.mutable && global.is_i32)
                .map(|global| global.index);
        }
        if stack_pointer.is_none() {
            stack_pointer = read_once(&mut code, module)?.stack_pointer(globals);
        }
        if stack_pointer.is_none() && is_assemblyscript(module, read_once(&mut code, module)?) {
            let collector = CollectorCode::find(module, &Control::default());
            stack_pointer = collector.and_then(|collector| collector.stack_pointer());
        }
        let initial = |index| globals.get(index).and_then(|global| global.initial);
        let named_base = by_name(&HEAP_BASE, module, exports).map(Boundary::Global);
        let named_end = by_name(&DATA_END, module, exports);
        // The linker of C, C++, Rust and Zig can put the stack below static data: then the heap begins where that ends.
        let end_of_data = named_end.and_then(initial).unwrap_or(0);
        let above_data = |stack_end: u32| Boundary::Folded(stack_end.max(end_of_data));
        let heap_base = match stack_pointer {
            Some(index) => {
                let folded = || initial(index).map(above_data);
                let is_linked = || is_linked(globals, index).then_some(Boundary::Folded(0));
                let found = named_base.or_else(folded).or_else(is_linked);
                found.ok_or(missing(&HEAP_BASE))?
            }
            None => {
                let code = read_once(&mut code, module)?;
                // More than one global is used like the stack pointer of AssemblyScript.
                if code.has_stack(globals) {
                    return Err(missing(&STACK_POINTER));
                }
                let lowest = segments_end(module);
                let nothing_is_allocated = || (!code.grows_memory).then_some(lowest);
                // Any code has constants that look like the address of an allocator.
                let root = is_assemblyscript(module, code)
                    .then(|| code.allocator_root(lowest))
                    .flatten()
                    .or_else(nothing_is_allocated)
                    .map(Boundary::Folded)
                    .or_else(|| constant_base(module, code).map(Boundary::Global));
                let variable = || {
                    let root = globals.named(TLSF_ROOT);
                    root.filter(|root| root.dump_position.is_some())
                        .map(|root| Boundary::Global(root.index))
                };
                let Some(root) = root.or_else(variable) else {
                    let linked = linked_boundaries(module, code).ok_or(missing(&STACK_POINTER))?;
                    // A module that was exposed before names its boundaries.
                    let data_end = named_end.map(Boundary::Global);
                    return Ok(Self {
                        data_end: data_end.unwrap_or(linked.data_end),
                        stack_pointer: match (linked.stack_pointer, named_base) {
                            (Boundary::Folded(_), Some(base)) => base,
                            (found, _) => found,
                        },
                        heap_base: named_base.unwrap_or(match linked.heap_base {
                            Boundary::Folded(stack_end) => above_data(stack_end),
                            global => global,
                        }),
                    });
                };
                named_base.unwrap_or(root)
            }
        };
        let is_variable = |index| globals.get(index).is_some_and(|global| global.mutable);
        let data_end = match (named_end, heap_base) {
            (Some(index), _) => Boundary::Global(index),
            // There is no shadow stack between them, and both are 0 until the allocator is used.
            (None, Boundary::Global(root)) if is_variable(root) => heap_base,
            (None, _) => {
                let segments_end = segments_end(module);
                let highest = match heap_base {
                    Boundary::Folded(address) => Some(address),
                    Boundary::Global(index) => globals.get(index).and_then(|base| base.initial),
                }
                .unwrap_or(u32::MAX);
                // A limit outside static data and heap belongs to another comparison of the program.
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

/// Whether a global has the name that the linker of C, C++, Rust and Zig gives to the stack pointer. If the host makes
/// this global, as for a side module of emscripten, its initial value is not known.
fn is_linked(globals: &Globals<'_>, index: GlobalIndex) -> bool {
    let named = globals.named("__stack_pointer");
    named.is_some_and(|named| named.index == index)
}

/// The boundaries of a program of C, C++, Rust or Zig without names; `None` if the module does not look like one. Its
/// first mutable i32 global is the stack pointer, which begins outside of static data, and which functions move. A
/// program without a stack may have no such global: then it is not one of AssemblyScript, whose allocators all have one.
fn linked_boundaries(module: &Module<'_>, code: &CodeFacts) -> Option<Boundaries> {
    let mut globals = module.globals.iter();
    let of_runtime = |name: &str| name.starts_with("~lib/");
    if globals.any(|global| global.name.is_some_and(of_runtime)) {
        return None;
    }
    let mut globals = module.globals.iter();
    let Some(first) = globals.find(|global| global.dump_position.is_some()) else {
        return code.grows_memory.then_some(Boundaries {
            data_end: Boundary::Folded(0),
            heap_base: Boundary::Folded(0),
            stack_pointer: Boundary::Folded(0),
        });
    };
    let lowest = module.data.iter().map(|segment| segment.start.0).min();
    let is_outside = |address: u32| {
        let is_below = lowest.is_none_or(|lowest| address <= lowest);
        address >= 16 && address.is_multiple_of(16) && (is_below || address >= segments_end(module))
    };
    let initial = first.initial.filter(|&address| is_outside(address))?;
    code.is_moved(first.index).then_some(Boundaries {
        data_end: Boundary::Folded(0),
        heap_base: Boundary::Folded(initial),
        stack_pointer: Boundary::Global(first.index),
    })
}

/// The constant global after static data, if there is only one and the code has the allocator of AssemblyScript: unoptimised
/// code reads the heap base from its global, which has no name if the module has none.
fn constant_base(module: &Module<'_>, code: &CodeFacts) -> Option<GlobalIndex> {
    let lowest = segments_end(module);
    let is_base = |initial: u32| initial >= lowest && initial.is_multiple_of(4);
    let has_root = code.has_allocator() && code.has_root_size();
    let globals = module.globals.iter().filter(|_| has_root);
    let mut found = globals.filter(|global| !global.mutable && global.initial.is_some_and(is_base));
    let only = found.next()?;
    found.next().is_none().then_some(only.index)
}

/// Whether there is any sign of the AssemblyScript runtime. Without one, functions are not executed: `register` passes
/// every module of a process.
fn is_assemblyscript(module: &Module<'_>, code: &CodeFacts) -> bool {
    code.has_allocator()
        || module.globals.named(TLSF_ROOT).is_some()
        || ["__new", "__collect"]
            .iter()
            .any(|name| module.functions.exported(name).is_some())
}

fn by_name(
    names: &BoundaryNames,
    module: &Module<'_>,
    exports: &Exports<'_>,
) -> Option<GlobalIndex> {
    let globals = &module.globals;
    // The stack pointer is mutable, the other two are not: another global of this name belongs to the
    // program.
    let mutable = names.exported == STACK_POINTER.exported;
    let fits = |index: &GlobalIndex| {
        globals
            .get(*index)
            .is_some_and(|global| global.is_i32 && global.mutable == mutable)
    };
    let reserved = exports.global(names.reserved).filter(fits);
    if reserved.is_some() || module.relocation.is_some() {
        // Addresses that a module names itself count from where it is placed when it is loaded.
        return reserved;
    }
    exports.global(names.exported).filter(fits).or_else(|| {
        globals
            .named(names.named)
            .map(|global| global.index)
            .filter(fits)
    })
}

fn missing(names: &BoundaryNames) -> Error {
    Error::from(InstrumentError::GlobalMissing {
        name: names.exported,
    })
}

fn read_once<'c>(code: &'c mut Option<CodeFacts>, module: &Module<'_>) -> Result<&'c CodeFacts> {
    let found = match code.take() {
        Some(found) => found,
        None => CodeFacts::of(module, &Control::default())?,
    };
    Ok(code.insert(found))
}

/// The end of the data segments, rounded up to a word; 0 if there are none.
fn segments_end(module: &Module<'_>) -> u32 {
    let ends = module
        .data
        .iter()
        .map(|segment| u64::from(segment.start.0) + segment.bytes.len() as u64);
    // A module with a segment past 4 GiB cannot be instantiated, so any value is correct.
    u32::try_from(ends.max().unwrap_or(0).next_multiple_of(4)).unwrap_or(0)
}

//! Finds facts about the shadow stack and the heap in the code of an optimised program.
//!
//! Every function that needs a stack frame moves the stack pointer down, and the compiler then adds a check
//! whether it is below `__data_end`. An optimiser replaces the immutable `__data_end` by a constant and
//! removes the global, but it keeps the check:
//!
//! ```wat
//! global.get $~lib/memory/__stack_pointer      ;; reserve a frame
//! i32.const 8
//! i32.sub
//! global.set $~lib/memory/__stack_pointer
//! global.get $~lib/memory/__stack_pointer      ;; often in a function of its own
//! i32.const 1712                               ;; = __data_end
//! i32.lt_s
//! ```
//!
//! The root of the allocator begins at the heap base, rounded up, and its first block follows the root. If
//! the heap base is a constant, both addresses are constants too.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use wasmparser::{FunctionBody, Operator};

use crate::flattened_code::FlattenedCode;
use crate::std_library::{ALIGNMENT, LARGEST_SIZES, ROOT_SIZE};
use base::control::Control;
use base::error::Result;
use base::units::GlobalIndex;
use wasm::module::{Globals, Module, unreadable};

/// Uses of globals in the code that are typical of a stack pointer.
#[derive(Debug, Default)]
pub struct CodeFacts {
    /// Globals that are lowered by a constant.
    lowered: BTreeSet<u32>,
    /// Globals that a function reads, adds to or subtracts from, and writes again.
    moved: BTreeSet<u32>,
    /// Globals that are compared with a constant, with that constant.
    limits: BTreeSet<(u32, u32)>,
    /// Constants that may be the address of the allocator's root, or of its end.
    constants: BTreeSet<u32>,
    /// By size in [`LARGEST_SIZES`], whether the code has it as a constant.
    has_largest: [bool; LARGEST_SIZES.len()],
    /// Whether any code grows the memory, as every allocator does.
    pub grows_memory: bool,
}

/// The remainder of the address of the root's end, divided by the alignment.
const REMAINDER_OF_END: u32 = ROOT_SIZE % ALIGNMENT;
/// The largest number of constants that are kept; a program has a few thousand.
const MOST_CONSTANTS: usize = 1 << 20;

impl CodeFacts {
    /// Reads all function bodies.
    ///
    /// # Errors
    /// [`ModuleError::Unreadable`](wasm::ModuleError::Unreadable) if an instruction cannot be read,
    /// [`Error::Aborted`](base::Error::Aborted).
    pub fn of(module: &Module<'_>, control: &Control) -> Result<Self> {
        let mut found = Self::default();
        for (_, body) in module.functions.defined() {
            let range = body.range();
            control.count(range.end - range.start)?;
            found.read(body, &module.globals)?;
        }
        if !found.has_stack(&module.globals) {
            let mut flattened = FlattenedCode::default();
            for (_, body) in module.functions.defined() {
                let range = body.range();
                control.count(range.end - range.start)?;
                flattened.read(body, &module.globals)?;
            }
            found.take_flattened(&flattened, module);
        }
        Ok(found)
    }

    /// The global that is lowered by constants and compared with a constant below its initial value: the
    /// stack pointer of a module without names. `None` if no global, or more than one, is used like this.
    pub fn stack_pointer(&self, globals: &Globals<'_>) -> Option<GlobalIndex> {
        only(self.stack_pointers(globals))
    }

    /// Whether a function reads this global, adds to it or subtracts from it, and writes it again, as code of C, C++,
    /// Rust and Zig does with its stack pointer.
    pub fn is_moved(&self, global: GlobalIndex) -> bool {
        self.moved.contains(&global.0)
    }

    /// Whether any global is used like this.
    pub fn has_stack(&self, globals: &Globals<'_>) -> bool {
        self.stack_pointers(globals).next().is_some()
    }

    fn stack_pointers(&self, globals: &Globals<'_>) -> impl Iterator<Item = GlobalIndex> {
        self.lowered.iter().filter_map(|&index| {
            let global = globals.get(GlobalIndex(index))?;
            global.dump_position?;
            self.limit(global.index, 0..=global.initial?)?;
            Some(global.index)
        })
    }

    /// Whether the allocator of AssemblyScript is in the code, by the sizes that it checks.
    pub fn has_allocator(&self) -> bool {
        self.has_largest == [true; LARGEST_SIZES.len()]
    }

    /// Whether the code has the size of the allocator's root as a constant. The stub runtime has no such root.
    pub fn has_root_size(&self) -> bool {
        self.constants.contains(&ROOT_SIZE)
    }

    /// The address of the allocator's root, at or above this one, if the code has it as a constant. Also
    /// `None` if there are several candidates.
    pub fn allocator_root(&self, lowest: u32) -> Option<u32> {
        let roots = self.constants.range(lowest..);
        only(roots.copied().filter(|root| {
            let end = root.checked_add(ROOT_SIZE);
            root.is_multiple_of(ALIGNMENT) && end.is_some_and(|end| self.constants.contains(&end))
        }))
    }

    /// The constant in `range` that this global is checked against. `None` if there is none, or
    /// if there are several, so that it is not known which of them is the compiler's check.
    pub fn limit(&self, global: GlobalIndex, range: RangeInclusive<u32>) -> Option<u32> {
        // A range whose start is after its end counts as empty. The set would panic.
        if range.is_empty() {
            return None;
        }
        let (lowest, highest) = range.into_inner();
        let found = self.limits.range((global.0, lowest)..=(global.0, highest));
        only(found.map(|&(_, limit)| limit))
    }

    /// Takes the stack pointer of code in which all values pass through local variables. Programs use variables of their own
    /// in the same way, so its limit must be after all data.
    fn take_flattened(&mut self, flattened: &FlattenedCode, module: &Module<'_>) {
        let ends = module.data.iter();
        let ends = ends.map(|data| u64::from(data.start.0) + data.bytes.len() as u64);
        let lowest = ends.max().unwrap_or(0).max(1);
        let mut found = flattened.checks.iter().copied().filter(|&(index, limit)| {
            let global = module.globals.get(GlobalIndex(index));
            let initial = global.and_then(|global| global.dump_position.and(global.initial));
            u64::from(limit) >= lowest && initial.is_some_and(|initial| limit <= initial)
        });
        if let (Some((index, limit)), None) = (found.next(), found.next()) {
            self.lowered.insert(index);
            self.limits.insert((index, limit));
        }
    }

    fn read(&mut self, body: &FunctionBody<'_>, globals: &Globals<'_>) -> Result<()> {
        // The last three instructions, oldest first.
        let mut earlier: [Option<Operator<'_>>; 3] = [None, None, None];
        let (mut last_read, mut is_changed) = (None, false);
        for operator in body.get_operators_reader().map_err(unreadable)? {
            let operator = operator.map_err(unreadable)?;
            match &operator {
                Operator::GlobalGet { global_index } => {
                    (last_read, is_changed) = (Some(*global_index), false);
                }
                Operator::I32Sub | Operator::I32Add => is_changed = true,
                Operator::GlobalSet { global_index }
                    if is_changed && last_read == Some(*global_index) =>
                {
                    self.moved.insert(*global_index);
                }
                _ => {}
            }
            match (&earlier, &operator) {
                (
                    [
                        Some(Operator::GlobalGet { global_index }),
                        Some(Operator::I32Const { .. }),
                        Some(Operator::I32Sub),
                    ],
                    Operator::GlobalSet {
                        global_index: target,
                    },
                ) if global_index == target => {
                    self.lowered.insert(*target);
                }
                (
                    [_, Some(Operator::GlobalGet { global_index }), Some(limit)],
                    Operator::I32LtS,
                ) => {
                    let limit = globals.constant(limit);
                    self.limits
                        .extend(limit.map(|limit| (*global_index, limit)));
                }
                (_, Operator::I32Const { value }) => {
                    let value = *value as u32;
                    if let Some(nth) = LARGEST_SIZES.iter().position(|&size| size == value) {
                        self.has_largest[nth] = true;
                    }
                    if self.constants.len() < MOST_CONSTANTS
                        && matches!(value % ALIGNMENT, 0 | REMAINDER_OF_END)
                    {
                        self.constants.insert(value);
                    }
                }
                (_, Operator::MemoryGrow { .. }) => self.grows_memory = true,
                _ => {}
            }
            let [_, second, third] = earlier;
            earlier = [second, third, Some(operator)];
        }
        Ok(())
    }
}

/// The only item; `None` if there are none or several.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}

//! The AssemblyScript incremental runtime (TLSF allocator, ITCMS collector) in memory: blocks, object
//! headers, the collector's lists and globals, static objects, type flags, roots, and the references in
//! objects of each class.
//!
//! The facts come from the runtime's sources (`std/assembly/rt/tlsf.ts`, `itcms.ts`, `shared/typeinfo.ts`)
//! and were checked against running programs. [`Runtime::read`] combines a dump with the facts from its
//! module. The [heap] needs nothing else.

pub mod block_set;
pub mod blocks;
mod boundaries;
pub mod classes;
pub mod collector;
mod container_layouts;
pub mod declared_types;
pub mod evidence;
pub mod identity;
pub mod known_blocks;
mod known_lists;
pub mod layout;
pub mod list_membership;
pub mod objects;
pub mod regions;
pub mod roots;
mod runtime_class;
pub mod shapes;
pub mod statics;
pub mod type_flags;
pub mod visitors;

use blocks::AllocatorData;
use classes::Classes;
use collector::Collector;
use evidence::{DumpEvidence, Evidence};
use identity::find_mismatch;
use roots::{GlobalRoots, StaticRoots};
use type_flags::TypeFlagsTable;
use visitors::Visitors;

use crate::warning::ManagedWarning;
use base::control::Control;
use base::error::Result;
use base::mismatch::Mismatch;
use base::tolerance::Tolerance;
use base::units::Address;
use base::warning::Warning;
use dumps::Dump;
use wasm::module::Module;

/// A program's runtime at the moment of a dump.
#[derive(Debug)]
pub struct Runtime<'a> {
    /// The visitors of the classes.
    pub visitors: Visitors<'a>,
    /// The memory and its boundaries.
    pub dump: Dump<'a>,
    /// The classes of the ids.
    pub classes: Classes<'a>,
    /// The state of the collector.
    pub collector: Collector,
    /// The allocator; `None` if the memory ends before it.
    pub allocator: Option<AllocatorData>,
    /// The globals from which the collector starts.
    pub globals: GlobalRoots,
    /// Whether the module has mutable i32 globals, but the dump has no values of them.
    pub lacks_global_values: bool,
    /// The number of mutable i64 globals of the module. A dump never has their values.
    pub wide_globals: u32,
}

impl<'a> Runtime<'a> {
    /// Reads the runtime's state. Adds doubts to `warnings`.
    ///
    /// # Errors
    /// [`OtherModule`](base::mismatch::OtherModule) if the dump is not of this module,
    /// unless that is tolerated; [`Error::OutOfMemory`](base::Error::OutOfMemory),
    /// [`Error::Aborted`](base::Error::Aborted).
    pub fn read(
        dump: &Dump<'a>,
        module: &'a Module<'a>,
        evidence: &'a Evidence,
        tolerance: Tolerance,
        warnings: &mut Vec<Warning>,
        control: &Control,
    ) -> Result<Self> {
        let dump = &boundaries::corrected(dump, module, evidence)?;
        let evidence = &evidence.of_dump(dump, module, control)?;
        let flags = TypeFlagsTable::locate(dump, module);
        let (in_dump, in_module) = (dump.globals.len(), module.globals.mutable_i32_count());
        let mismatch = Mismatch::of_globals(in_dump, in_module);
        let has_foreign_globals = tolerance.check(mismatch, warnings)?;
        let mismatch = find_mismatch(dump, module, evidence.debug_info, flags, warnings)?;
        tolerance.check(mismatch, warnings)?;
        // The values of other globals are not used.
        let dump = if has_foreign_globals {
            dump.without_globals()
        } else {
            *dump
        };
        let classes = Classes::new(evidence, module, flags, control);
        let globals = GlobalRoots::find(evidence, &classes, module, &dump);
        warn(&dump, module, evidence, &globals, warnings);
        Ok(Self {
            visitors: Visitors {
                module,
                code: evidence.code.clone(),
                dump,
            },
            dump,
            classes,
            collector: Collector::read(module, &dump, evidence.code.as_deref()),
            allocator: AllocatorData::locate(&dump),
            globals,
            lacks_global_values: dump.globals.is_empty() && module.globals.mutable_i32_count() > 0,
            wide_globals: module.globals.mutable_i64_count(),
        })
    }
}

fn warn(
    dump: &Dump<'_>,
    module: &Module<'_>,
    evidence: &DumpEvidence<'_>,
    globals: &GlobalRoots,
    warnings: &mut Vec<Warning>,
) {
    const PAGE: u64 = 1 << 16;
    let memory_size = dump.memory.size();
    if !memory_size.is_multiple_of(PAGE) {
        warnings.push(ManagedWarning::MemoryNotWholePages { memory_size }.into());
    } else if let Some((minimum, maximum)) = module.memory_limits
        && !(minimum..=maximum).contains(&(memory_size / PAGE))
    {
        warnings.push(
            ManagedWarning::MemoryOutsideLimits {
                pages: memory_size / PAGE,
                minimum,
                maximum,
            }
            .into(),
        );
    }
    warnings.extend(doubtful_stack_pointer(dump, module, evidence));
    let expected = module.globals.mutable_i32_count();
    if dump.globals.is_empty() && expected > 0 {
        warnings.push(Warning::GlobalsMissing { expected });
    }
    match globals.static_roots {
        StaticRoots::Known if !evidence.has_debug_info && !Collector::is_named(module) => {
            warnings.push(ManagedWarning::NamesMissing.into());
        }
        StaticRoots::Known => {}
        StaticRoots::Incomplete => warnings.push(ManagedWarning::RootsIncomplete.into()),
        StaticRoots::Unknown => warnings.push(ManagedWarning::RootsUnknown.into()),
    }
    let disputed = globals.disputed.iter().cloned();
    warnings.extend(disputed.map(|name| ManagedWarning::GlobalDisputed { name }.into()));
}

/// The warning for a doubtful stack pointer in a dump's header.
fn doubtful_stack_pointer(
    dump: &Dump<'_>,
    module: &Module<'_>,
    evidence: &DumpEvidence<'_>,
) -> Option<Warning> {
    let header = dump.stack_pointer;
    if !header.0.is_multiple_of(4) {
        return Some(ManagedWarning::StackPointerUnaligned { header }.into());
    }
    let globals = &module.globals;
    let global = globals
        .exported("__stack_pointer")
        .or_else(|| globals.named("~lib/memory/__stack_pointer"))
        .or_else(|| globals.get(evidence.code.as_deref()?.stack_pointer()?))?;
    let value = Address(dump.globals.get(global.dump_position?)?);
    (value != header).then_some(
        ManagedWarning::StackPointerDisputed {
            header,
            global: value,
        }
        .into(),
    )
}

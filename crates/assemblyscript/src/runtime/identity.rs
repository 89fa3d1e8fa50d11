//! Checks whether a dump was taken from a module: everything that the module determines and no program
//! changes must be the same in the dump.

use super::objects::{ObjectHeader, block_of};
use super::statics::static_objects;
use super::type_flags::{TypeFlags, TypeFlagsTable};
use crate::warning::ManagedWarning;
use base::columns;
use base::error::Result;
use base::mismatch::Mismatch;
use base::units::Address;
use base::warning::Warning;
use dumps::{Dump, Memory};
use runtime_code::std_library::STRING;
use wasm::debug_info::DebugInfo;
use wasm::module::{DataSegment, Module};

/// The first other difference between a dump and a module. A difference that the program may have caused is
/// added to `warnings`.
///
/// # Errors
/// [`Error::OutOfMemory`](base::Error::OutOfMemory).
pub fn find_mismatch(
    dump: &Dump<'_>,
    module: &Module<'_>,
    debug_info: &DebugInfo,
    flags: TypeFlagsTable<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Option<Mismatch>> {
    if let Some(mismatch) = boundary_mismatch(dump, module) {
        return Ok(Some(mismatch));
    }
    let in_data = changed_literals(dump, &module.data)?;
    // A program that overwrites its static data changes some literals; in another build most of them have
    // other addresses.
    if let Some(address) = in_data.first
        && in_data.count * 2 > in_data.all
    {
        return Ok(Some(Mismatch::StaticData { address }));
    }
    warnings.extend(in_data.first.map(|address| {
        ManagedWarning::StaticDataChanged {
            address,
            count: in_data.count,
        }
        .into()
    }));
    Ok(class_mismatch(debug_info, flags))
}

fn boundary_mismatch(dump: &Dump<'_>, module: &Module<'_>) -> Option<Mismatch> {
    let boundaries = [
        ("__data_end", dump.data_end),
        ("__heap_base", dump.heap_base),
    ];
    boundaries.into_iter().find_map(|(name, in_dump)| {
        let globals = &module.globals;
        let global = globals
            .exported(name)
            .or_else(|| globals.named(&format!("~lib/memory/{name}")))
            .filter(|global| !global.mutable)?;
        let in_module = Address(global.initial?);
        (in_module != in_dump).then_some(Mismatch::Boundary {
            name,
            dump: in_dump,
            module: in_module,
        })
    })
}

/// String literals whose text in a dump differs from the module.
#[derive(Default)]
struct ChangedLiterals {
    first: Option<Address>,
    count: u64,
    /// The number of compared literals.
    all: u64,
}

/// Compares the string literals. Only their links change.
fn changed_literals(dump: &Dump<'_>, segments: &[DataSegment<'_>]) -> Result<ChangedLiterals> {
    // Optimisers split segments at zeros, even inside an object, so the segments are joined.
    let mut image = columns::repeated(0, dump.data_end.0 as usize)?;
    for segment in segments {
        let start = segment.start.0 as usize;
        let end = start.saturating_add(segment.bytes.len());
        if let Some(initialised) = image.get_mut(start..end) {
            initialised.copy_from_slice(segment.bytes);
        }
    }
    let initial = Dump {
        memory: Memory::new(&image),
        ..*dump
    };
    // Data that looks like literals by chance may overlap. Comparing it many times proves nothing more.
    let mut budget = 4 * image.len() as u64;
    let literals = static_objects(&initial)
        .filter(|(_, header)| header.class_id == STRING)
        .take_while(|(_, header)| {
            let rest = budget.checked_sub(u64::from(header.size));
            budget = rest.unwrap_or(0);
            rest.is_some()
        });
    let mut changed = ChangedLiterals::default();
    for (address, header) in literals {
        let found = block_of(address).and_then(|block| ObjectHeader::read(dump.memory, block));
        let is_string =
            found.is_some_and(|found| (found.class_id, found.size) == (STRING, header.size));
        let [found, expected] =
            [dump.memory, initial.memory].map(|memory| memory.bytes_at(address, header.size));
        changed.all += 1;
        if !is_string || found.map(Memory::as_bytes) != expected.map(Memory::as_bytes) {
            changed.first.get_or_insert(address);
            changed.count += 1;
        }
    }
    Ok(changed)
}

fn class_mismatch(debug_info: &DebugInfo, flags: TypeFlagsTable<'_>) -> Option<Mismatch> {
    if flags.count() == 0 {
        return None;
    }
    debug_info.classes.iter().find_map(|class| {
        let id = class.id.filter(|id| id.0 != 0)?;
        let class_name = || class.name.clone();
        let Some(flags_of_class) = flags.get(id) else {
            return Some(Mismatch::ClassBeyondTable {
                class_name: class_name(),
                id,
                count: flags.count(),
            });
        };
        has_other_kind(&class.name, flags_of_class).then(|| Mismatch::ClassKind {
            class_name: class_name(),
            id,
            flags: flags_of_class.0,
        })
    })
}

/// Whether a standard container's flags are not those of that container.
fn has_other_kind(class_name: &str, flags: TypeFlags) -> bool {
    let is = |prefix| class_name.starts_with(prefix);
    (is("~lib/array/Array<") && !flags.is_array())
        || (is("~lib/staticarray/StaticArray<") && !flags.is_static_array())
        || (is("~lib/map/Map<") && !flags.is_map())
        || (is("~lib/set/Set<") && !flags.is_set())
}

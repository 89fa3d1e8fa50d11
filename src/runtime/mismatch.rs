//! Whether a dump and a module belong together, as far as that can be told: what the module fixes
//! and no program changes must be in the dump.

use std::fmt;

use super::objects::{ObjectHeader, block_of};
use super::statics::static_objects;
use super::type_flags::{TypeFlags, TypeFlagsTable};
use crate::debug_info::DebugInfo;
use crate::dump::{Dump, Memory};
use crate::module::{DataSegment, Module};
use crate::units::{Address, ClassId};

const STRING: ClassId = ClassId(2);

/// Something that is in the module and in the dump, and differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// The number of global values.
    GlobalCount {
        /// Values in the dump.
        dump: u32,
        /// Mutable i32 globals of the module.
        module: u32,
    },
    /// A boundary that the module fixes.
    Boundary {
        /// `__data_end` or `__heap_base`.
        name: &'static str,
        /// In the dump's header.
        dump: Address,
        /// In the module.
        module: Address,
    },
    /// Static data that no program changes: a string literal, or the table of type flags.
    StaticData {
        /// Where it lies.
        address: Address,
    },
    /// A class in the debug information whose id is beyond the dump's table of type flags.
    ClassBeyondTable {
        /// Its name.
        class_name: String,
        /// Its id.
        id: ClassId,
        /// How many classes the table has.
        count: u32,
    },
    /// A container class whose type flags are not those of that container.
    ClassKind {
        /// Its name.
        class_name: String,
        /// Its id.
        id: ClassId,
        /// What the dump's table says.
        flags: u32,
    },
    /// A global that the collector's code hands to the collector, but that refers to no object.
    Root {
        /// Its name, or what there is instead.
        name: String,
        /// What it holds.
        value: Address,
    },
    /// An object whose class id is beyond the table of type flags.
    ObjectBeyondTable {
        /// The id.
        id: ClassId,
        /// How many classes the table has.
        count: u32,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GlobalCount { dump, module } => write!(
                f,
                "the dump holds {dump} global values (count at offset 20), the module has {module} mutable i32 globals"
            ),
            Self::Boundary { name, dump, module } => {
                write!(f, "{name} is {dump} in the dump and {module} in the module")
            }
            Self::StaticData { address } => {
                write!(
                    f,
                    "the static data at {address} differs between dump and module"
                )
            }
            Self::ClassBeyondTable {
                class_name,
                id,
                count,
            } => write!(
                f,
                "class {class_name} has id {id} in the module, but the dump knows only {count} classes"
            ),
            Self::ClassKind {
                class_name,
                id,
                flags,
            } => write!(
                f,
                "class {class_name} (id {id}) has type flags {flags:#x} in the dump, which are not those of such a container"
            ),
            Self::Root { name, value } => write!(
                f,
                "the collector starts from global {name}, which is {value}, but there is no object at this address"
            ),
            Self::ObjectBeyondTable { id, count } => write!(
                f,
                "there are objects with class id {id} on the heap, but only {count} classes"
            ),
        }
    }
}

/// The first difference between a dump and a module.
pub fn find_mismatch(
    dump: &Dump<'_>,
    module: &Module<'_>,
    debug_info: &DebugInfo,
    flags: TypeFlagsTable<'_>,
) -> Option<Mismatch> {
    boundary_mismatch(dump, module)
        .or_else(|| static_data_mismatch(dump, &module.data))
        .or_else(|| class_mismatch(debug_info, flags))
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

/// Compares the string literals: nothing of them changes but their links.
fn static_data_mismatch(dump: &Dump<'_>, segments: &[DataSegment<'_>]) -> Option<Mismatch> {
    // Optimisers split segments where there are zeros, even inside an object: put them together.
    let mut image = vec![0; dump.data_end.0 as usize];
    for segment in segments {
        let start = segment.start.0 as usize;
        let end = start.saturating_add(segment.bytes.len());
        if let Some(place) = image.get_mut(start..end) {
            place.copy_from_slice(segment.bytes);
        }
    }
    let initial = Dump {
        memory: Memory::new(&image),
        ..*dump
    };
    let literals = static_objects(&initial).filter(|(_, header)| header.class_id == STRING);
    let mut differing = literals.filter(|&(address, header)| {
        let found = block_of(address).and_then(|block| ObjectHeader::read(dump.memory, block));
        let is_string =
            found.is_some_and(|found| (found.class_id, found.size) == (STRING, header.size));
        let contents =
            |memory: Memory<'_>| Some(memory.bytes_at(address, header.size)?.as_bytes().to_vec());
        !is_string || contents(dump.memory) != contents(initial.memory)
    });
    let (address, _) = differing.next()?;
    Some(Mismatch::StaticData { address })
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

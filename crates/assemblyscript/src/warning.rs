//! What may be wrong about the heap of a program of AssemblyScript.

use base::shown::Shown;
use base::units::{Address, ClassId};
use base::warning::CodedWarning;
use wasm::debug_info::Producer;

/// A finding about a program, its module, or the heap of its collector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManagedWarning {
    /// A global that holds a reference, but whose value is not known.
    #[error(
        "the value of global {name} is not known (the module does not say which of its globals it is, or the host supplied it): objects that only this global keeps alive are missing",
        name = Shown(name)
    )]
    GlobalUnknown {
        /// Its name in the debug information.
        name: String,
    },
    /// A global that should hold a reference, but holds something else.
    #[error(
        "global {name} should hold a reference, but {value} is not the address of an object: is this the module that the dump was taken from?",
        name = Shown(name)
    )]
    GlobalNotAnObject {
        /// Its name.
        name: String,
        /// What it holds.
        value: Address,
    },
    /// A global that only the collector's code or only the debug information has.
    #[error(
        "the debug information and the collector's code disagree about global {name}: it counts as a root, so too many objects may count as live; compile the module again if it was changed after compilation",
        name = Shown(name)
    )]
    GlobalDisputed {
        /// Its name.
        name: String,
    },
    /// A global that holds an object, of a module whose collector's code cannot be read.
    #[error(
        "the collector's code cannot be read, and the debug information does not declare global {name}, which holds the address of an object: it counts as a root, so too many objects may count as live",
        name = Shown(name)
    )]
    GlobalUndeclared {
        /// Its name.
        name: String,
    },
    /// The module has neither debug information nor names.
    #[error(
        "the module has neither debug information nor names: classes are called Class#<id>, and the collector's total cannot be compared; no other number is affected"
    )]
    NamesMissing,
    /// The module has names of functions, but no debug information.
    #[error(
        "the module has no debug information, so fields are called by their offset, such as +0; no number is affected"
    )]
    FieldNamesMissing,
    /// Some classes have no name, although the module has names.
    #[error(
        "{count} class(es) have no name, such as {class_name}: {}; no number is affected",
        why_nameless(*debug_info_by)
    )]
    NamesIncomplete {
        /// The first of them, as it is shown.
        class_name: String,
        /// Their number.
        count: u64,
        /// Who wrote the debug information, which does not describe them.
        debug_info_by: Producer,
    },
    /// Neither debug information nor code says which globals the collector starts from.
    #[error(
        "the module has no debug information, and its collector's code cannot be read: every global that holds an object, and every static object that may be a root, counts as a root, so too many objects may count as live"
    )]
    RootsUnknown,
    /// The debug information may leave out roots, and the collector's code cannot be read.
    #[error(
        "the build is optimised, so the debug information may leave out constant globals, and the collector's code cannot be read: every static object that may be a root counts as a root, so too many objects may count as live; pass the module with its code"
    )]
    RootsIncomplete,
    /// An id that the debug information gives to several classes.
    #[error(
        "the debug information gives runtime id {id} to several classes: its objects are shown as {class_name}, but may be {}; the references of all these classes were followed, so too many objects may count as live",
        any_of(rivals),
        class_name = Shown(class_name)
    )]
    ClassAmbiguous {
        /// The runtime id.
        id: ClassId,
        /// The class that its objects are shown as.
        class_name: String,
        /// The others.
        rivals: Vec<String>,
    },
    /// A class whose debug information and collector code name different reference fields.
    #[error(
        "the debug information and the collector's code name different reference fields of {class_name}: all of them were followed, so too many objects may count as live; compile the module again if it was changed after compilation",
        class_name = Shown(class_name)
    )]
    ClassDisputed {
        /// In full, such as `assembly/game/Player`.
        class_name: String,
    },
    /// A class whose debug information leaves out inherited fields, and whose code cannot be read.
    #[error(
        "the debug information does not describe the inherited fields of {class_name}, and the collector's code cannot be read: every word before the class's own fields counts as a possible reference, so too many objects may count as live; compile with a newer WARPO, or pass the module with its code"
    )]
    BasesUnknown {
        /// In full, such as `assembly/game/Player`.
        class_name: String,
    },
    /// Objects of a class with a visitor of its own that could not be run on them.
    #[error(
        "the visitor of {class_name} decides by values or follows memory that is no object, and could not be run on {count} object(s): every word of them counts as a possible reference, and what only other memory refers to is missing, so objects may be missing, or too many may count as live",
        class_name = Shown(class_name)
    )]
    VisitorNotRun {
        /// In full, such as `~lib/json-as/assembly/index/JSON.Obj`.
        class_name: String,
        /// How many objects there are.
        count: u64,
    },
    /// Contents of an object that do not fit its buffer.
    #[error(
        "the contents of {count} object(s) do not fit their buffers, the first is the {class_name} at {address}: references outside the buffers were not followed, so objects may be missing",
        class_name = Shown(class_name)
    )]
    ContentsDoNotFit {
        /// The first such object.
        address: Address,
        /// The full name of its class, such as `assembly/game/Player`.
        class_name: String,
        /// How many objects there are.
        count: u64,
    },
    /// Live objects that are too small for the fields of their class, or refer to something after those fields.
    #[error(
        "{count} object(s) do not have the fields of their class, the first is the {class_name} at {address}, whose fields take {declared} bytes in the debug information: the dump was probably taken from another build of the module, and then every number and name may be wrong",
        class_name = Shown(class_name)
    )]
    FieldsDiffer {
        /// The first such object.
        address: Address,
        /// The full name of its class, such as `assembly/game/Player`.
        class_name: String,
        /// The size of its fields in the debug information, in bytes.
        declared: u32,
        /// How many objects there are, of all classes.
        count: u64,
    },
    /// Objects of a class about which nothing is known.
    #[error(
        "the module does not describe the class with runtime id {id} ({count} object(s)): every word of them counts as a possible reference, so too many objects may count as live"
    )]
    ClassUnknown {
        /// The runtime id.
        id: ClassId,
        /// How many objects there are.
        count: u64,
    },
    /// A question about contents, and live objects of classes about which nothing is known.
    #[error(
        "{count} live object(s) are of classes that the module does not describe, and may be containers: unused parts of these objects and their buffers are missing from the savings, and a buffer to which they refer never counts as a duplicate"
    )]
    ContentsUnknown {
        /// How many objects there are.
        count: u64,
    },
    /// The collector's own count of managed bytes differs from what the walk found.
    #[error(
        "the collector counts {collector} bytes of managed objects, but {walk} were found: the heap is damaged or was changed from outside, and some objects may be missing or wrong"
    )]
    TotalMismatch {
        /// `~lib/rt/itcms/total`.
        collector: u64,
        /// The sum over the blocks found.
        walk: u64,
    },
    /// An object that is linked by only one of its neighbours in the collector's list.
    #[error(
        "the collector's lists are broken at {count} object(s), the first at {address}: the dump was taken while the collector changed them, or the heap was changed from outside, so objects may be missing"
    )]
    ListBroken {
        /// The first such object.
        address: Address,
        /// Their number.
        count: u64,
    },
    /// Headers or references that no program of this module can have.
    #[error(
        "{problem}: {count}, the first at {address}: the heap was changed from outside, or the dump was taken while the allocator or the collector changed it, so every number may be wrong"
    )]
    HeapInconsistent {
        /// What contradicts what.
        problem: &'static str,
        /// The first block or object of this kind.
        address: Address,
        /// Their number.
        count: u64,
    },
    /// The memory is not made of whole wasm pages.
    #[error(
        "the memory in the dump has {memory_size} bytes, which is not a whole number of 64 KiB pages: the dump may be truncated"
    )]
    MemoryNotWholePages {
        /// Its size in bytes.
        memory_size: u64,
    },
    /// The memory has more or fewer pages than the module allows.
    #[error(
        "the memory in the dump has {pages} page(s) of 64 KiB, but the module's memory has {minimum} to {maximum}: the dump is truncated, or was taken from another module"
    )]
    MemoryOutsideLimits {
        /// Its size in pages of 64 KiB.
        pages: u64,
        /// The least that the module allows.
        minimum: u64,
        /// The most that the module allows.
        maximum: u64,
    },
    /// The stack pointer in the header is not the value of the stack pointer's global.
    #[error(
        "__stack_pointer at offset 16 is {header}, but its global has the value {global} in the same dump: the value in the header was used, so the objects that the stack keeps alive may be wrong; check the writer of the dump"
    )]
    StackPointerDisputed {
        /// What the dump's header says.
        header: Address,
        /// Among the global values.
        global: Address,
    },
    /// The stack pointer in the header is not aligned.
    #[error(
        "__stack_pointer at offset 16 is {header}, expected a multiple of 4: the objects that the stack keeps alive may be wrong; check the writer of the dump"
    )]
    StackPointerUnaligned {
        /// What the dump's header says.
        header: Address,
    },
    /// String literals in the dump differ from those in the module.
    #[error(
        "{count} string literal(s) in static memory differ from the module, the first at {address}: the program may have overwritten its static data; if it does not do that, the dump was taken from another build of the module, and every number and name may be wrong"
    )]
    StaticDataChanged {
        /// The first of them.
        address: Address,
        /// How many differ.
        count: u64,
    },
    /// Unreferenced raw blocks cannot be found, because the dump has no global values.
    #[error(
        "the dump has no global values, and the only reference to a raw block can be in a global: unreferenced raw blocks were not searched for"
    )]
    RawBlocksNotScanned,
    /// The list of unreferenced raw blocks is an estimate.
    #[error(
        "the list of unreferenced raw blocks is an estimate: a number can look like an address, so blocks may be missing; the host, a local variable or an i64 global (the module has {wide_globals}) can hold a listed block"
    )]
    RawBlocksEstimated {
        /// How many mutable i64 globals the module has, whose values are not in the dump.
        wide_globals: u32,
    },
}

impl CodedWarning for ManagedWarning {
    fn code(&self) -> &'static str {
        match self {
            Self::GlobalUnknown { .. } => "WARN_GLOBAL_UNKNOWN",
            Self::GlobalNotAnObject { .. } => "WARN_GLOBAL_NOT_AN_OBJECT",
            Self::GlobalDisputed { .. } | Self::GlobalUndeclared { .. } => "WARN_GLOBAL_DISPUTED",
            Self::NamesMissing => "WARN_NAMES_MISSING",
            Self::FieldNamesMissing | Self::NamesIncomplete { .. } => "WARN_NAMES_INCOMPLETE",
            Self::RootsUnknown => "WARN_ROOTS_UNKNOWN",
            Self::RootsIncomplete => "WARN_ROOTS_INCOMPLETE",
            Self::ClassAmbiguous { .. } => "WARN_CLASS_AMBIGUOUS",
            Self::ClassDisputed { .. } => "WARN_CLASS_DISPUTED",
            Self::BasesUnknown { .. } => "WARN_BASES_UNKNOWN",
            Self::VisitorNotRun { .. } => "WARN_VISITOR_NOT_RUN",
            Self::ContentsDoNotFit { .. } => "WARN_CONTENTS_DO_NOT_FIT",
            Self::FieldsDiffer { .. } => "WARN_FIELDS_DIFFER",
            Self::ClassUnknown { .. } => "WARN_CLASS_UNKNOWN",
            Self::ContentsUnknown { .. } => "WARN_CONTENTS_UNKNOWN",
            Self::TotalMismatch { .. } => "WARN_TOTAL_MISMATCH",
            Self::ListBroken { .. } => "WARN_LIST_BROKEN",
            Self::HeapInconsistent { .. } => "WARN_HEAP_INCONSISTENT",
            Self::MemoryNotWholePages { .. } => "WARN_MEMORY_NOT_WHOLE_PAGES",
            Self::MemoryOutsideLimits { .. } => "WARN_MEMORY_OUTSIDE_LIMITS",
            Self::StackPointerDisputed { .. } => "WARN_STACK_POINTER_DISPUTED",
            Self::StackPointerUnaligned { .. } => "WARN_STACK_POINTER_UNALIGNED",
            Self::StaticDataChanged { .. } => "WARN_STATIC_DATA_CHANGED",
            Self::RawBlocksNotScanned => "WARN_RAW_BLOCKS_NOT_SCANNED",
            Self::RawBlocksEstimated { .. } => "WARN_RAW_BLOCKS_ESTIMATED",
        }
    }
}

/// Why some classes have no name.
fn why_nameless(debug_info_by: Producer) -> &'static str {
    match debug_info_by {
        Producer::Nobody => {
            "no name of a function contains theirs, and the module has no debug information"
        }
        Producer::Warpo => {
            "WARPO left them out of the debug information, as it does with classes that are the type of no variable or field, and no name of a function contains theirs"
        }
        Producer::Transform | Producer::Other => {
            "the debug information does not describe them, and no name of a function contains theirs"
        }
    }
}

fn any_of(class_names: &[String]) -> String {
    let names = class_names.iter().map(|name| Shown(name).to_string());
    names.collect::<Vec<_>>().join(" or ")
}

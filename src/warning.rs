//! What does not stop an analysis but may make a number wrong.

use std::collections::BTreeMap;
use std::fmt;

use crate::mismatch::Mismatch;
use crate::shown::Shown;
use crate::units::{Address, ClassId};

/// Something found on the way that the numbers may suffer from. Its `Display` text says what was
/// found and which way it can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The dump was written without global values.
    GlobalsMissing {
        /// How many values a complete dump of this module holds.
        expected: u32,
    },
    /// A global that holds a reference, but whose value is not known.
    GlobalUnknown {
        /// Its name in the debug information.
        name: String,
    },
    /// A global that should hold a reference, but holds something else.
    GlobalNotAnObject {
        /// Its name.
        name: String,
        /// What it holds.
        value: Address,
    },
    /// A global that only the collector's code or only the debug information has.
    GlobalDisputed {
        /// Its name.
        name: String,
    },
    /// The module has neither debug information nor names.
    NamesMissing,
    /// Nothing tells which globals the collector starts from.
    RootsUnknown,
    /// An id that the debug information gives to several classes.
    ClassAmbiguous {
        /// The runtime id.
        id: ClassId,
        /// The class that its objects are shown as.
        class_name: String,
        /// The others.
        rivals: Vec<String>,
    },
    /// A class whose debug information and collector code name different reference fields.
    ClassDisputed {
        /// Its name.
        class_name: String,
    },
    /// Something in an object's contents that its buffer has no room for.
    ContentsDoNotFit {
        /// The first such object.
        address: Address,
        /// Its class.
        class_name: String,
        /// How many objects there are.
        count: u64,
    },
    /// Live objects that have no room for the fields of their class, or refer to something behind them.
    FieldsDiffer {
        /// The first such object.
        address: Address,
        /// Its class.
        class_name: String,
        /// Bytes that its fields take, as the debug information tells.
        declared: u32,
        /// How many objects there are, of all classes.
        count: u64,
    },
    /// Objects of a class that nothing describes.
    ClassUnknown {
        /// The runtime id.
        id: ClassId,
        /// How many objects there are.
        count: u64,
    },
    /// The collector's own count of managed bytes differs from what the walk found.
    TotalMismatch {
        /// `~lib/rt/itcms/total`.
        collector: u64,
        /// The sum over the blocks found.
        walk: u64,
    },
    /// An object that only one of its neighbours in the collector's list knows.
    ListBroken {
        /// The first such object.
        address: Address,
        /// How many there are.
        count: u64,
    },
    /// The memory is not made of whole wasm pages.
    MemoryNotWholePages {
        /// Its size in bytes.
        memory_size: u64,
    },
    /// Dump and module do not belong together; the caller asked to go on.
    ModuleMismatch {
        /// What differs.
        mismatch: Mismatch,
    },
    /// The heap is damaged; the caller asked for what could be read.
    Partial {
        /// What is wrong, and where.
        damage: String,
    },
    /// An address that a question was about is inside something.
    AddressInside {
        /// The address.
        address: Address,
        /// What it is inside of.
        what: &'static str,
        /// Where that is.
        start: Address,
    },
    /// More warnings like the ones before it, which are left out.
    More {
        /// Their code.
        code: &'static str,
        /// How many there are.
        count: u64,
    },
    /// A warning about one of several dumps.
    InDump {
        /// Which one: a path, or the name of an argument.
        dump: String,
        /// What about it.
        warning: Box<Warning>,
    },
}

impl Warning {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::GlobalsMissing { .. } => "WARN_GLOBALS_MISSING",
            Self::GlobalUnknown { .. } => "WARN_GLOBAL_UNKNOWN",
            Self::GlobalNotAnObject { .. } => "WARN_GLOBAL_NOT_AN_OBJECT",
            Self::GlobalDisputed { .. } => "WARN_GLOBAL_DISPUTED",
            Self::NamesMissing => "WARN_NAMES_MISSING",
            Self::RootsUnknown => "WARN_ROOTS_UNKNOWN",
            Self::ClassAmbiguous { .. } => "WARN_CLASS_AMBIGUOUS",
            Self::ClassDisputed { .. } => "WARN_CLASS_DISPUTED",
            Self::ContentsDoNotFit { .. } => "WARN_CONTENTS_DO_NOT_FIT",
            Self::FieldsDiffer { .. } => "WARN_FIELDS_DIFFER",
            Self::ClassUnknown { .. } => "WARN_CLASS_UNKNOWN",
            Self::TotalMismatch { .. } => "WARN_TOTAL_MISMATCH",
            Self::ListBroken { .. } => "WARN_LIST_BROKEN",
            Self::MemoryNotWholePages { .. } => "WARN_MEMORY_NOT_WHOLE_PAGES",
            Self::ModuleMismatch { .. } => "WARN_MODULE_MISMATCH",
            Self::Partial { .. } => "WARN_PARTIAL",
            Self::AddressInside { .. } => "WARN_ADDRESS_INSIDE",
            Self::More { .. } => "WARN_MORE",
            Self::InDump { warning, .. } => warning.code(),
        }
    }
}

/// Warnings of one code that are listed. A hostile or damaged input could give one for every global and
/// every class.
const LISTED: u64 = 100;

/// Leaves out what would make the list too long to read, and says how much that is.
pub(crate) fn shorten(warnings: &mut Vec<Warning>) {
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    warnings.retain(|warning| {
        let count = counts.entry(warning.code()).or_default();
        *count += 1;
        *count <= LISTED
    });
    let more = counts.into_iter().filter(|&(_, count)| count > LISTED);
    warnings.extend(more.map(|(code, count)| Warning::More {
        code,
        count: count - LISTED,
    }));
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GlobalsMissing { expected } => write!(
                f,
                "the dump holds no global values (the module has {expected} mutable i32 globals): objects that only globals keep alive are missing from every number; write dumps with @warpo/heap-analyzer/capture"
            ),
            Self::GlobalUnknown { name } => write!(
                f,
                "the value of global {name} is not known (the module neither locates nor names it, or the host supplied it): objects that only it keeps alive are missing",
                name = Shown(name)
            ),
            Self::GlobalNotAnObject { name, value } => write!(
                f,
                "global {name} should hold a reference, but {value} is not the address of an object: is this the module that the dump was taken from?",
                name = Shown(name)
            ),
            Self::GlobalDisputed { name } => write!(
                f,
                "the debug information and the collector's code disagree about global {name}: it was taken for a root, so too much may look alive; compile the module again if it was changed after compilation",
                name = Shown(name)
            ),
            Self::NamesMissing => write!(
                f,
                "the module has neither debug information nor names: roots and references were read from its collector's code, so classes are called Class#<id> and the collector's own total cannot be compared; compile with --debug for names"
            ),
            Self::RootsUnknown => write!(
                f,
                "the module has neither debug information nor collector code of a known shape: every global and every static object was taken for a root, so too much may look alive; compile with --debug"
            ),
            Self::ClassAmbiguous {
                id,
                class_name,
                rivals,
            } => write!(
                f,
                "the debug information gives runtime id {id} to several classes: its objects are shown as {class_name}, but may be {}; the references of all were followed, so too much may look alive",
                rivals
                    .iter()
                    .map(|rival| Shown(rival).to_string())
                    .collect::<Vec<_>>()
                    .join(" or "),
                class_name = Shown(class_name)
            ),
            Self::ClassDisputed { class_name } => write!(
                f,
                "the debug information and the collector's code name different reference fields of {class_name}: all of them were followed, so too much may look alive; compile the module again if it was changed after compilation",
                class_name = Shown(class_name)
            ),
            Self::ContentsDoNotFit {
                address,
                class_name,
                count,
            } => write!(
                f,
                "the contents of {count} object(s) do not fit their buffers, the first is the {class_name} at {address}: what lies outside was not followed, so objects may be missing",
                class_name = Shown(class_name)
            ),
            Self::FieldsDiffer {
                address,
                class_name,
                declared,
                count,
            } => write!(
                f,
                "{count} object(s) have other fields than their class, the first is the {class_name} at {address}, of which the debug information tells {declared} bytes: the dump was probably taken from another build of the module, and then every number and name may be wrong",
                class_name = Shown(class_name)
            ),
            Self::ClassUnknown { id, count } => write!(
                f,
                "nothing describes the class with runtime id {id} ({count} object(s)): every word of them was taken for a possible reference, so too much may look alive"
            ),
            Self::TotalMismatch { collector, walk } => write!(
                f,
                "the collector counts {collector} bytes of managed objects, but {walk} were found: the heap is damaged or was changed from outside, and objects may be missing or too many"
            ),
            Self::ListBroken { address, count } => write!(
                f,
                "the collector's lists are broken at {count} object(s), the first at {address}: the dump was taken while the collector changed them, or the heap was changed from outside, so objects may be missing"
            ),
            Self::MemoryNotWholePages { memory_size } => write!(
                f,
                "the memory in the dump has {memory_size} bytes, which is not a whole number of 64 KiB pages: it may have been cut short"
            ),
            Self::ModuleMismatch { mismatch } => write!(
                f,
                "the dump was taken from another module, or from another build of it: {mismatch}; every number and name may be wrong"
            ),
            Self::Partial { damage } => write!(
                f,
                "partial result: {damage}; what lies behind was not read, so objects and what they keep alive are missing"
            ),
            Self::AddressInside {
                address,
                what,
                start,
            } => write!(
                f,
                "address {address} is inside the {what} at {start}: the answer is about that"
            ),
            Self::More { code, count } => write!(
                f,
                "{count} more warnings with the code {code}, which are not listed: what the listed ones say holds for them too"
            ),
            Self::InDump { dump, warning } => write!(f, "{}: {warning}", Shown(dump)),
        }
    }
}

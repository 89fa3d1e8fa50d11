//! The collector's variables, as far as the module names them and the dump has their values.

use base::units::Address;
use dumps::Dump;
use heap::CollectorState;
use runtime_code::collector_code::CollectorCode;
use wasm::module::{Global, Module};

/// The state of the collector (`~lib/rt/itcms` or `~lib/rt/tcms`) when the dump was taken. A field is `None`
/// if the module does not name the global or the dump has no value for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Collector {
    /// The sum of the block sizes of all managed heap objects.
    pub total: Option<u32>,
    /// The same, if not all of the collector's globals have names. During a sweep, the collector counts an
    /// object that is in none of its lists, and it is not known whether it sweeps.
    pub uncertain_total: Option<u32>,
    /// Its phase.
    pub state: Option<CollectorState>,
    /// The block of the next object to be marked or swept.
    pub cursor: Option<Address>,
    /// The heads of the three lists.
    pub list_heads: Option<ListHeads>,
}

/// The heads of the collector's lists: static objects of 20 bytes.
#[derive(Clone, Copy, Debug)]
pub struct ListHeads {
    /// Objects that are white, or were found alive in the last cycle.
    pub from_space: Address,
    /// Objects that were marked in this cycle, or are being swept.
    pub to_space: Address,
    /// Pinned objects.
    pub pin_space: Address,
}

impl ListHeads {
    /// All three.
    pub fn all(self) -> [Address; 3] {
        [self.from_space, self.to_space, self.pin_space]
    }
}

/// The prefixes of the names of the collectors' globals: in the incremental runtime, and in WARPO's radical
/// runtime, which has the same layout of objects and lists.
const INCREMENTAL: &str = "~lib/rt/itcms/";
const RADICAL: &str = "~lib/rt/tcms/";

impl Collector {
    /// Whether the module names the collector's globals.
    pub fn is_named(module: &Module<'_>) -> bool {
        Self::prefix(module).is_some()
    }

    fn prefix(module: &Module<'_>) -> Option<&'static str> {
        let has_total = |prefix: &&str| module.globals.named(&format!("{prefix}total")).is_some();
        [INCREMENTAL, RADICAL].into_iter().find(has_total)
    }

    /// Reads the collector's globals.
    pub fn read(module: &Module<'_>, dump: &Dump<'_>, code: Option<&CollectorCode>) -> Self {
        let Some(prefix) = Self::prefix(module) else {
            let total = code.and_then(|code| module.globals.get(code.total()?));
            return Self {
                uncertain_total: total.and_then(|total| global_value(total, dump)),
                ..Self::default()
            };
        };
        let global = |name: &str| {
            let global = module.globals.named(&format!("{prefix}{name}"))?;
            global_value(global, dump)
        };
        let head = |name| global(name).filter(|&head| head != 0).map(Address);
        let list_heads = || {
            Some(ListHeads {
                from_space: head("fromSpace")?,
                to_space: head("toSpace")?,
                pin_space: head("pinSpace")?,
            })
        };
        let total = global("total");
        let others = match prefix {
            RADICAL => &["fromSpace", "toSpace", "pinSpace"][..],
            _ => &["fromSpace", "toSpace", "pinSpace", "state", "iter"],
        };
        let is_named = |name: &&str| module.globals.named(&format!("{prefix}{name}")).is_some();
        if !others.iter().all(is_named) {
            return Self {
                uncertain_total: total,
                ..Self::default()
            };
        }
        let state = match prefix {
            // It collects without interruption: no dump is taken during a collection.
            RADICAL => total.map(|_| 0),
            _ => global("state"),
        };
        Self {
            total,
            uncertain_total: None,
            state: state.and_then(|state| match state {
                0 => Some(CollectorState::Idle),
                1 => Some(CollectorState::Marking),
                2 => Some(CollectorState::Sweeping),
                _ => None,
            }),
            cursor: global("iter").map(Address),
            list_heads: list_heads(),
        }
    }
}

/// The value of an i32 global when the dump was taken: from the dump if it is mutable, from the module if
/// not. `None` if the dump has no values, or the host supplied a constant.
pub fn global_value(global: &Global<'_>, dump: &Dump<'_>) -> Option<u32> {
    match global.dump_position {
        Some(position) => dump.globals.get(position),
        None => global.initial,
    }
}

//! Finds the collector of a module: which of its functions runs it.

use super::code::CollectorCode;
use super::entry::CollectorEntry;
use super::lists::KnownLists;
use super::names::constructed_classes;
use super::numbering::Numbering;
use super::reader::BUDGET;
use super::search::{CollectorSearch, TRIAL_BUDGET};
use crate::std_library::ARRAY_BUFFER;
use base::control::Control;
use base::units::GlobalIndex;
use wasm::module::Module;

/// More bytes than any collector's threshold for a collection.
const HUGE_TOTAL: u64 = 0x7fff_ffff;

impl CollectorCode {
    /// Finds the collector's code, by names or by its effects. `None` if the module has no such code, its
    /// effects cannot be observed, or the work was cancelled.
    pub fn find(module: &Module<'_>, control: &Control) -> Option<Self> {
        Self::find_with(module, &KnownLists::default(), Numbering::Current, control)
    }

    /// As [`find`](Self::find), if the start function cannot be executed up to where it makes the collector's lists:
    /// with the lists that a dump has, and for compilers that number the classes of the standard library so.
    pub fn find_with(
        module: &Module<'_>,
        lists: &KnownLists,
        numbering: Numbering,
        control: &Control,
    ) -> Option<Self> {
        module.functions.defined().next()?;
        let mut search = CollectorSearch::new(module, lists, numbering, control)?;
        let mut code = by_name(&search)
            .into_iter()
            .find_map(|entry| search.examine(entry, BUDGET))
            .or_else(|| by_trial(&mut search))?;
        code.constructed = constructed_classes(&module.functions, control)?;
        control.check().ok()?;
        Some(code)
    }
}

/// Functions whose names say that they run the collector.
fn by_name(search: &CollectorSearch<'_, '_>) -> Vec<CollectorEntry> {
    let functions = &search.module.functions;
    let without_arguments = |function| {
        let signature = functions.signature(function)?;
        (signature.parameters == 0 && functions.body(function).is_some()).then_some(
            CollectorEntry {
                function,
                arguments: Vec::new(),
                forced: None,
                allocates_from: None,
                calls: 1,
            },
        )
    };
    let collect = functions.exported("__collect");
    let named = [
        "~lib/rt/itcms/__collect",
        "~lib/rt/tcms/__collect",
        "~lib/rt/itcms/step",
    ]
    .iter()
    .filter_map(|name| functions.named(name));
    let mut entries: Vec<CollectorEntry> = collect
        .into_iter()
        .chain(named)
        .filter_map(without_arguments)
        .collect();
    let new = functions
        .exported("__new")
        .or_else(|| functions.named("~lib/rt/itcms/__new"))
        .or_else(|| functions.named("~lib/rt/tcms/__new"));
    let total = ["~lib/rt/itcms/total", "~lib/rt/tcms/total"]
        .iter()
        .find_map(|name| search.module.globals.named(name));
    if let (Some(new), Some(total)) = (new, total) {
        entries.push(allocation(search, new, total.index.0));
    }
    entries
}

/// Tries all functions. First those without parameters: the one that takes the fewest steps does little
/// else than collecting. Then those that allocate and sometimes collect.
///
/// The first may be a part of the collector that only marks what it starts from. Such a part changes no total,
/// which is then known from another function.
fn by_trial(search: &mut CollectorSearch<'_, '_>) -> Option<CollectorCode> {
    let mut best: Option<(u64, CollectorCode)> = None;
    let mut total: Option<(u64, GlobalIndex)> = None;
    for function in functions_with(search, 0) {
        if !search.can_go_on() {
            break;
        }
        let entry = CollectorEntry {
            function,
            arguments: Vec::new(),
            forced: None,
            allocates_from: None,
            calls: 1,
        };
        let before = search.left + search.machine.budget;
        let code = search.examine(entry, TRIAL_BUDGET);
        let steps = before - (search.left + search.machine.budget);
        let Some(code) = code else { continue };
        if let Some(found) = code.total
            && total.is_none_or(|(least, _)| steps < least)
        {
            total = Some((steps, found));
        }
        if best.as_ref().is_none_or(|&(least, _)| steps < least) {
            best = Some((steps, code));
        }
    }
    let Some((_, mut code)) = best else {
        return by_allocation(search);
    };
    let total = code.total.or(total.map(|(_, total)| total));
    code.total = total.or_else(|| by_allocation(search)?.total);
    Some(code)
}

/// Tries all functions that may allocate and sometimes collect.
fn by_allocation(search: &mut CollectorSearch<'_, '_>) -> Option<CollectorCode> {
    functions_with(search, 2).into_iter().find_map(|function| {
        search.can_go_on().then_some(())?;
        let (uses, _) = search.uses(&allocation(search, function, u32::MAX), TRIAL_BUDGET)?;
        uses.read.into_iter().find_map(|global| {
            let is_variable = search.global(global).is_some_and(|global| global.mutable);
            is_variable
                .then(|| search.examine(allocation(search, function, global), TRIAL_BUDGET))
                .flatten()
        })
    })
}

/// The functions that the module defines and that have this number of parameters.
fn functions_with(search: &CollectorSearch<'_, '_>, parameters: u32) -> Vec<u32> {
    let functions = &search.module.functions;
    let defined = functions.defined().map(|(function, _)| function);
    let fitting = defined.filter(|&function| {
        functions
            .signature(function)
            .is_some_and(|signature| signature.parameters == parameters)
    });
    fitting.collect()
}

/// A call that allocates an empty object, and collects if the total is large.
fn allocation(search: &CollectorSearch<'_, '_>, function: u32, total: u32) -> CollectorEntry {
    CollectorEntry {
        function,
        arguments: vec![16, ARRAY_BUFFER.0.into()],
        forced: Some((total, HUGE_TOTAL)),
        allocates_from: Some(search.data_end),
        calls: 1,
    }
}

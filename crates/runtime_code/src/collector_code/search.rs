//! Finds out how to run a module's collector, and from which roots it starts.

use std::collections::{BTreeMap, BTreeSet};

use super::code::CollectorCode;
use super::entry::{CollectorEntry, MOST_CALLS, Reach, Visitor};
use super::initial::{clear_references, initial_state, static_data_end};
use super::lists::KnownLists;
use super::machine::{End, GlobalUse, Machine, MachineState};
use super::memory::{PAGE, SparseMemory};
use super::numbering::Numbering;
use super::probes::{self, Marked, Storage, TEST_OBJECTS, global_probe};
use super::visited::VisitedGlobal;
use crate::std_library::ARRAY_BUFFER;
use base::control::Control;
use base::units::{Address, ClassId, GlobalIndex};
use wasm::module::Module;

/// Steps that all experiments of the search may take together.
const SEARCH_BUDGET: u64 = 60_000_000;
/// Steps for trying a function that may be the collector's.
pub(super) const TRIAL_BUDGET: u64 = 200_000;

/// A module whose collector is searched for, and the experiments that show what a function does.
pub(super) struct CollectorSearch<'m, 'a> {
    pub(super) module: &'m Module<'a>,
    pub(super) machine: Machine<'m, 'a>,
    /// The rest of [`SEARCH_BUDGET`].
    pub(super) left: u64,
    /// The end of the data segments.
    pub(super) data_end: u32,
    numbering: Numbering,
    pub(super) idle: MachineState,
    /// The memory of `idle` with static objects that are instances of a class without references.
    without_references: SparseMemory,
}

impl<'m, 'a> CollectorSearch<'m, 'a> {
    /// Executes the start function. `None` if the state after it is not known, or the work was cancelled.
    pub(super) fn new(
        module: &'m Module<'a>,
        lists: &KnownLists,
        numbering: Numbering,
        control: &Control,
    ) -> Option<Self> {
        let mut search = Self {
            module,
            machine: Machine::new(&module.functions, control),
            left: SEARCH_BUDGET,
            data_end: static_data_end(module),
            numbering,
            idle: initial_state(module)?,
            without_references: SparseMemory::new(probes::background),
        };
        search.start();
        lists.make(&mut search.idle)?;
        search.idle.memory = std::mem::replace(
            &mut search.idle.memory,
            SparseMemory::new(probes::background),
        )
        .frozen();
        search.clear_static_references()?;
        Some(search)
    }

    /// The machine, for one experiment.
    pub(super) fn machine(&mut self, budget: u64) -> &mut Machine<'m, 'a> {
        self.machine.begin(budget, &mut self.left);
        &mut self.machine
    }

    /// A copy of a state, for one experiment. `None` if the steps are used up.
    fn copy(&mut self, state: &MachineState) -> Option<MachineState> {
        self.machine.copy(state, &mut self.left)
    }

    /// Whether there are steps for another experiment.
    pub(super) fn can_go_on(&mut self) -> bool {
        self.left + self.machine.budget > 0 && self.machine.control.check().is_ok()
    }

    /// Makes static objects instances of a class without references. Only what the data segments or the start function
    /// wrote is looked at: a header of zeros is none.
    fn clear_static_references(&mut self) -> Option<()> {
        let mut memory = self.idle.memory.clone();
        for page in memory.pages() {
            let start = page.checked_mul(PAGE as u32)?;
            self.machine.control.count(PAGE as u64 / 16).ok()?;
            // The header of the first payload may be on the page before, that of the last one on this page.
            for payload in (start.max(32)..start.saturating_add(PAGE as u32 + 32)).step_by(16) {
                if payload < self.data_end {
                    clear_references(&mut memory, payload)?;
                }
            }
        }
        self.without_references = memory.frozen();
        Some(())
    }

    pub(super) fn global(&self, index: u32) -> Option<&wasm::module::Global<'a>> {
        self.module
            .globals
            .get(GlobalIndex(index))
            .filter(|global| global.is_i32)
    }

    /// The globals that a collection of an empty heap uses, and how its first call ended. `None` if the steps are used
    /// up.
    pub(super) fn uses(&mut self, entry: &CollectorEntry, budget: u64) -> Option<(GlobalUse, End)> {
        let mut state = self.machine.copy(&self.idle, &mut self.left)?;
        let mut uses = GlobalUse::default();
        let marked = &mut Marked::default();
        let machine = self.machine(budget);
        let end = entry.collect(1, machine, &mut state, &mut uses, marked, |_| false);
        if end == End::Returned {
            entry.collect(
                MOST_CALLS - 1,
                machine,
                &mut state,
                &mut uses,
                marked,
                |_| false,
            );
        }
        Some((uses, end))
    }

    /// The objects that are marked from a state. The last argument decides when enough objects are marked.
    fn marked(
        &mut self,
        entry: &CollectorEntry,
        budget: u64,
        mut state: MachineState,
        is_done: impl Fn(&Marked) -> bool,
    ) -> (Marked, End) {
        let mut marked = Marked::default();
        let uses = &mut GlobalUse::default();
        let machine = self.machine(budget);
        let end = entry.collect(MOST_CALLS, machine, &mut state, uses, &mut marked, is_done);
        (marked, end)
    }

    /// Finds out what the collector does if this function runs it. `None` if it is not a collector.
    pub(super) fn examine(
        &mut self,
        mut entry: CollectorEntry,
        budget: u64,
    ) -> Option<CollectorCode> {
        let (uses, end) = self.uses(&entry, budget)?;
        if end == End::Stopped || (end == End::Failed && budget == TRIAL_BUDGET) {
            return None;
        }
        let settable = self.settable(&entry, &uses);
        let roots = self.root_globals(&entry, budget, &settable)?;
        let mut idle = self.machine.copy(&self.idle, &mut self.left)?;
        for &global in &roots {
            *idle.globals.get_mut(global as usize)? = 0;
        }
        idle.memory = self.without_references.clone();
        let state = self.copy(&idle)?;
        let (marked, _) = self.marked(&entry, budget, state, |marked| !marked.others.is_empty());
        let data_end = self.data_end;
        let others = marked.others.iter().copied();
        let constants: BTreeSet<u32> = others.filter(|&address| address < data_end).collect();

        let mut others = settable.iter().copied().filter(|it| !roots.contains(it));
        let stack_pointer = others
            .clone()
            .find(|&global| self.is_stack_pointer(global, &entry, budget, &idle));

        let in_globals = roots.iter().next().map(|&global| Reach::Global(global));
        let pinned = |global: u32| {
            let head = *idle.globals.get(global as usize)? as u32;
            (head != 0).then_some(Reach::PinnedList(head))
        };
        let ways: Vec<Reach> = in_globals
            .into_iter()
            .chain(stack_pointer.map(Reach::Stack))
            .chain(marked.list.map(Reach::MarkedList))
            .chain(others.by_ref().filter_map(pinned))
            .collect();
        let (reach, calls, visitor) = ways.into_iter().find_map(|reach| {
            let (calls, visitor) = self.reaches(&entry, budget, &idle, &constants, reach)?;
            Some((reach, calls, visitor))
        })?;
        entry.calls = calls;
        for class in self.numbering.pointer_free() {
            self.marks_nothing_in(class, &entry, budget, &idle, &constants, reach)?;
        }
        let visits = |visitor: Visitor| Some((self.visits(&visitor, budget, &idle)?, visitor));
        let (mut own, visitor) = match visitor.and_then(visits) {
            Some((read, visitor)) => (read, Some(visitor)),
            None => (BTreeSet::new(), None),
        };
        own.extend(&uses.written);
        let visited = self.visited(roots, &constants, &uses);
        // A call that allocates raises the total again, so no global falls by the size of the freed object. But
        // such a call collects only because its total was raised.
        let total = match entry.forced {
            Some((total, _)) => Some(total),
            None => self.total(&entry, budget, &idle, &uses),
        };
        Some(CollectorCode {
            entry,
            idle,
            roots: visited,
            constants,
            stack_pointer: stack_pointer.map(GlobalIndex),
            total: total.map(GlobalIndex),
            variables: self.variables(&own, stack_pointer),
            own,
            reach,
            visitor,
            constructed: Default::default(),
        })
    }

    /// The globals that a collection reads and does not write, and that may hold an object.
    fn settable(&self, entry: &CollectorEntry, uses: &GlobalUse) -> Vec<u32> {
        let unwritten = uses.read.difference(&uses.written).copied();
        unwritten
            .filter(|&global| {
                let global = self.global(global);
                // A value from the host is not known, whether or not the program can change it.
                global.is_some_and(|global| global.mutable || global.initial.is_none())
            })
            .filter(|global| entry.forced.is_none_or(|(forced, _)| forced != *global))
            .collect()
    }

    /// The globals that can change, and are not the collector's own.
    fn variables(&self, own: &BTreeSet<u32>, stack_pointer: Option<u32>) -> BTreeSet<u32> {
        let mutable = self.module.globals.iter().filter(|global| global.mutable);
        mutable
            .map(|global| global.index.0)
            .filter(|index| !own.contains(index) && stack_pointer != Some(*index))
            .collect()
    }

    /// Whether the collector marks what the word below the address in this global refers to.
    fn is_stack_pointer(
        &mut self,
        global: u32,
        entry: &CollectorEntry,
        budget: u64,
        idle: &MachineState,
    ) -> bool {
        let mut on_stack = || {
            let mut state = self.copy(idle)?;
            let word = (*state.globals.get(global as usize)? as u32).checked_sub(4)?;
            state.memory.set_word(word, global_probe(0)?)?;
            *state.globals.get_mut(global as usize)? = word.into();
            Some(state)
        };
        let Some(state) = on_stack() else {
            return false;
        };
        let (marked, _) = self.marked(entry, budget, state, Marked::any_probe);
        marked.global(0)
    }

    /// The roots in globals, and those by their addresses: these are in a global that never changes, if the
    /// collection reads one with such a value.
    fn visited(
        &self,
        roots: BTreeSet<u32>,
        constants: &BTreeSet<u32>,
        uses: &GlobalUse,
    ) -> BTreeSet<VisitedGlobal> {
        let mut visited: BTreeSet<VisitedGlobal> = roots
            .into_iter()
            .map(|global| VisitedGlobal::Global(GlobalIndex(global)))
            .collect();
        let mut read: BTreeMap<u32, GlobalIndex> = BTreeMap::new();
        for &global in &uses.read {
            if let Some(global) = self.module.globals.get(GlobalIndex(global))
                && !global.mutable
                && let Some(value) = global.initial
            {
                read.entry(value).or_insert(global.index);
            }
        }
        visited.extend(constants.iter().map(|address| match read.get(address) {
            Some(&global) => VisitedGlobal::Global(global),
            None => VisitedGlobal::Constant(Address(*address)),
        }));
        visited
    }

    /// The global that decreases by the size of an object that the collector frees. It is not known which
    /// list the collector frees, so the object is put into each list whose head is in a global that the
    /// collector changes.
    fn total(
        &mut self,
        entry: &CollectorEntry,
        budget: u64,
        idle: &MachineState,
        uses: &GlobalUse,
    ) -> Option<u32> {
        let [object, _] = TEST_OBJECTS;
        let data_end = self.data_end;
        let heads: BTreeSet<u32> = uses
            .written
            .iter()
            .filter_map(|&global| Some(*idle.globals.get(global as usize)? as u32))
            .filter(|head| (1..data_end).contains(head))
            .collect();
        heads.into_iter().find_map(|head| {
            let mut state = self.copy(idle)?;
            object.write(&mut state.memory, ARRAY_BUFFER, Storage::Fields)?;
            object.link_white(&mut state.memory, head)?;
            let marked = &mut Marked::default();
            for _ in 0..MOST_CALLS {
                let uses = &mut GlobalUse::default();
                let machine = self.machine(budget);
                let end = entry.collect(1, machine, &mut state, uses, marked, |_| false);
                let fallen = |global: &&u32| {
                    let at = **global as usize;
                    let before = idle.globals.get(at).map(|&value| value as u32);
                    let after = state.globals.get(at).map(|&value| value as u32);
                    before.map(|before| before.wrapping_sub(object.block_size())) == after
                };
                if let Some(total) = uses.written.iter().find(fallen) {
                    return Some(*total);
                }
                if end != End::Returned {
                    return None;
                }
            }
            None
        })
    }

    /// Those of these globals whose values are marked. `None` if the steps are used up.
    fn root_globals(
        &mut self,
        entry: &CollectorEntry,
        budget: u64,
        settable: &[u32],
    ) -> Option<BTreeSet<u32>> {
        let with_probes = |mut state: MachineState, globals: &[u32]| {
            for &index in globals {
                if let (Some(global), Some(probe)) =
                    (state.globals.get_mut(index as usize), global_probe(index))
                {
                    *global = probe.into();
                }
            }
            state
        };
        let idle = self.machine.copy(&self.idle, &mut self.left)?;
        let state = with_probes(idle, settable);
        let (marked, end) = self.marked(entry, budget, state, Marked::any_probe);
        if end == End::Returned {
            let found = settable.iter().copied();
            return Some(found.filter(|&global| marked.global(global)).collect());
        }
        // One of them is not a root, and the collector fails without its value.
        let mut found = BTreeSet::new();
        for &global in settable {
            let idle = self.machine.copy(&self.idle, &mut self.left)?;
            let state = with_probes(idle, &[global]);
            let (marked, _) = self.marked(entry, budget, state, Marked::any_probe);
            if marked.global(global) {
                found.insert(global);
            }
        }
        Some(found)
    }

    /// Whether the collector scans an object at this place: the number of calls until then, and the outermost
    /// function that gets the object as an argument. The object is an `ArrayBufferView`: every program has
    /// the class, and its one reference is its buffer.
    fn reaches(
        &mut self,
        entry: &CollectorEntry,
        budget: u64,
        idle: &MachineState,
        constants: &BTreeSet<u32>,
        reach: Reach,
    ) -> Option<(u32, Option<Visitor>)> {
        let [object, _] = TEST_OBJECTS;
        let mut state = self.copy(idle)?;
        let class = self.numbering.buffer_view();
        object.write(&mut state.memory, class, Storage::Fields)?;
        reach.put(object, &mut state)?;
        let mut marked = Marked::default();
        let uses = &mut GlobalUse::default();
        let machine = self.machine(budget);
        for calls in 1..=MOST_CALLS {
            let end = entry.collect(1, machine, &mut state, uses, &mut marked, |_| false);
            marked.others.retain(|address| !constants.contains(address));
            if marked.offsets(object) == Some(BTreeSet::from([0])) && end == End::Returned {
                return Some((calls, marked.visitors.into_iter().next()));
            }
            if end != End::Returned {
                return None;
            }
        }
        None
    }

    /// `None` if the collector visits anything in an object of this class, which has no references, or fails.
    fn marks_nothing_in(
        &mut self,
        class: ClassId,
        entry: &CollectorEntry,
        budget: u64,
        idle: &MachineState,
        constants: &BTreeSet<u32>,
        reach: Reach,
    ) -> Option<()> {
        let [object, _] = TEST_OBJECTS;
        let mut state = self.copy(idle)?;
        object.write(&mut state.memory, class, Storage::Fields)?;
        reach.put(object, &mut state)?;
        let (mut marked, uses) = (Marked::default(), &mut GlobalUse::default());
        let machine = self.machine(budget);
        let calls = entry.calls;
        let end = entry.collect(calls, machine, &mut state, uses, &mut marked, |_| false);
        marked.others.retain(|address| !constants.contains(address));
        let nothing = Some(BTreeSet::new());
        (end == End::Returned && marked.offsets(object) == nothing).then_some(())
    }

    /// The globals that a call of this function alone reads to visit a reference of an object. `None` if it does not visit
    /// the references of an object, whatever its class is. The visitor of one class would visit the same words in every
    /// object: it must visit none where the class has none.
    fn visits(
        &mut self,
        visitor: &Visitor,
        budget: u64,
        idle: &MachineState,
    ) -> Option<BTreeSet<u32>> {
        let (buffer_view, pointer_free) =
            (self.numbering.buffer_view(), self.numbering.pointer_free());
        let mut read = BTreeSet::new();
        let mut visits_exactly = |class, offsets: &[u32]| {
            let [object, _] = TEST_OBJECTS;
            let Some(mut state) = self.copy(idle) else {
                return false;
            };
            let mut marked = Marked::default();
            let written = object.write(&mut state.memory, class, Storage::Fields);
            let (function, arguments) = visitor;
            let mut uses = GlobalUse::default();
            let machine = self.machine(budget);
            let end = machine.call(*function, arguments, &mut state, &mut uses, &mut marked);
            read.extend(uses.read);
            written.is_some()
                && end == End::Returned
                && marked.offsets(object) == Some(offsets.iter().copied().collect())
        };
        let is_visitor = visits_exactly(buffer_view, &[0])
            && pointer_free
                .into_iter()
                .all(|class| visits_exactly(class, &[]));
        is_visitor.then_some(read)
    }
}

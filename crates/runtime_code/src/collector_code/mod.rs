//! Finds out what the module's collector does: from which globals it starts, which words of each class's
//! objects it visits, and which names the functions give to the classes.
//!
//! The collector's code is **executed** on test objects (`probes`) in a separate memory (`machine`). The
//! objects that it marks show which words it visits. Optimisers inline, merge, rename and reorder the code,
//! but they do not change its effects, so this works for any build of any compiler, with or without names.
//! Matching patterns of instructions does not work, because each optimiser generates other patterns.
//!
//! - The program's start function is executed up to its first write to the heap. The collector's variables
//!   then have the values from before the first allocation.
//! - A **global** is a root if the collector marks the probe that is stored in it. All globals that a
//!   collection reads and does not write are tried, in one run.
//! - A static object is a root if the collector marks it while all roots in globals are null: then its address is a
//!   **constant** in the code. Meanwhile all static objects are of a class without references.
//! - The **stack pointer** is the global from which the collector scans words up to what the global starts with.
//! - For the **fields** of a class, an object of the class is put where the collector finds it. Each of its
//!   words refers to a probe.
//!
//! This is the most direct evidence of what the collector does. It cannot show the contents of containers,
//! which are visited in loops; for these, the type flags of the runtime are used.

mod machine;
mod memory;
mod names;
mod numeric;
mod probes;
mod search;

pub use probes::Storage;

use std::collections::{BTreeSet, HashMap};

use machine::{End, GlobalUse, Machine, State};
use probes::{Marked, TEST_OBJECTS, TestObject};

use base::control::Control;
use base::units::{Address, ClassId, GlobalIndex};
use wasm::module::{Functions, Module};

/// Steps that one experiment may take.
const BUDGET: u64 = 4_000_000;

/// Steps that the experiments with all classes may take together. The code of classes that were not tried
/// counts as unreadable.
const WHOLE_BUDGET: u64 = 500_000_000;

/// The part of them that is allowed for each byte of code, in addition to the steps for one class. Only code
/// with a large number of classes needs all of them.
const STEPS_PER_BYTE: u64 = 256;

/// The number of times that a function for one step of a collection is called before it has visited every
/// object. The steps mark the objects of the roots, scan an object, and mark the objects of the stack. One
/// call may do less than one of these.
const MOST_CALLS: u32 = 8;

/// The words that the bitmap of a test object lists.
const BITMAP: [u32; 3] = [0, 5, 33];

/// How to run the collector of a module.
#[derive(Clone, Debug)]
pub struct CollectorCode {
    entry: Entry,
    /// Memory and globals when the collector is idle, nothing is allocated, and no object refers to another.
    idle: State,
    roots: BTreeSet<VisitedGlobal>,
    /// The static objects that are roots by their addresses.
    constants: BTreeSet<u32>,
    stack_pointer: Option<GlobalIndex>,
    total: Option<GlobalIndex>,
    reach: Reach,
    /// A function that visits the members of the object that it is passed, if there is one.
    visitor: Option<Visitor>,
    constructed: HashMap<ClassId, String>,
}

/// A function with its arguments, of which one is a test object.
type Visitor = (u32, Vec<u64>);

/// A function that runs the collector.
#[derive(Clone, Debug)]
struct Entry {
    function: u32,
    arguments: Vec<u64>,
    /// A global that must be set to a value before each call, because otherwise the function does not
    /// collect.
    forced: Option<(u32, u64)>,
    /// If it returns an object that it has allocated: the lowest address of one.
    allocates_from: Option<u32>,
    /// Calls until it has scanned an object.
    calls: u32,
}

/// The place of an object that the collector scans.
#[derive(Clone, Copy, Debug)]
enum Reach {
    /// In a global that is a root.
    Global(u32),
    /// In the word below the address that this global starts with: on the stack.
    Stack(u32),
    /// In the list of marked objects, whose head is here.
    MarkedList(u32),
    /// In the list of pinned objects, whose head is here.
    PinnedList(u32),
}

/// Executes functions of a module. Decoded functions are kept for the next class.
#[derive(Debug)]
pub struct CodeReader<'m, 'a> {
    machine: Machine<'m, 'a>,
    /// The rest of [`WHOLE_BUDGET`].
    left: u64,
}

impl<'m, 'a> CodeReader<'m, 'a> {
    /// A reader that has decoded nothing yet. After the work is cancelled, it reads nothing more.
    pub fn new(functions: &'m Functions<'a>, control: &Control) -> Self {
        Self {
            machine: Machine::new(functions, control),
            left: WHOLE_BUDGET.min(2 * BUDGET + STEPS_PER_BYTE * functions.code_size()),
        }
    }

    /// The machine, for one experiment.
    fn machine(&mut self, budget: u64) -> &mut Machine<'m, 'a> {
        self.machine.begin(budget, &mut self.left);
        &mut self.machine
    }
}

/// The words that the collector visits in every object of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisitedMembers {
    /// Offsets of the fields, ascending.
    pub offsets: BTreeSet<u32>,
    /// A bitmap in the last 8 bytes of an object says which words it visits.
    pub by_bitmap: bool,
    /// It visits more words, which depend on the object.
    pub and_more: bool,
}

/// A root of the collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VisitedGlobal {
    /// The value of a global.
    Global(GlobalIndex),
    /// An object whose address is in the code: the global was optimised away.
    Constant(Address),
}

impl CollectorCode {
    /// Finds the collector's code, by names or by its effects. `None` if the module has no such code, its
    /// effects cannot be observed, or the work was cancelled.
    pub fn find(module: &Module<'_>, control: &Control) -> Option<Self> {
        search::find(module, control)
    }

    /// Every global that is a root, and every static object whose address in the code makes it a root.
    pub fn roots(&self) -> &BTreeSet<VisitedGlobal> {
        &self.roots
    }

    /// The global that holds the top of the shadow stack, if the collector scans one.
    pub fn stack_pointer(&self) -> Option<GlobalIndex> {
        self.stack_pointer
    }

    /// The global that counts the bytes of all managed objects on the heap: it falls by the size of an object that is
    /// freed.
    pub fn total(&self) -> Option<GlobalIndex> {
        self.total
    }

    /// The words that are visited in objects of a class. `None` if the code fails for it.
    pub fn members(
        &self,
        reader: &mut CodeReader<'_, '_>,
        id: ClassId,
        storage: Storage,
    ) -> Option<VisitedMembers> {
        let mut observed = TEST_OBJECTS.map(|object| {
            let (marked, end) = self.scan(reader, object, id, storage, None)?;
            Some((marked.offsets(object), end == End::Returned))
        });
        let [first, second] = observed.each_mut().map(Option::take);
        let ((first, first_returned), (second, second_returned)) = (first?, second?);
        let (Some(first), Some(second)) = (&first, &second) else {
            return Some(VisitedMembers {
                and_more: true,
                ..VisitedMembers::default()
            });
        };
        let returned = first_returned && second_returned;
        if !returned && first.is_empty() && second.is_empty() {
            return None;
        }
        if first == second {
            return Some(VisitedMembers {
                offsets: first.clone(),
                by_bitmap: false,
                and_more: !returned,
            });
        }
        let by_bitmap = self.follows_bitmap(reader, id, storage);
        let always = first.intersection(second).copied();
        Some(VisitedMembers {
            offsets: always.filter(|_| !by_bitmap).collect(),
            by_bitmap,
            and_more: !by_bitmap,
        })
    }

    /// Whether the visited words are those that the object's bitmap lists.
    fn follows_bitmap(
        &self,
        reader: &mut CodeReader<'_, '_>,
        id: ClassId,
        storage: Storage,
    ) -> bool {
        let [object, _] = TEST_OBJECTS;
        let mut visits = |words: &[u32]| {
            let expected: BTreeSet<u32> = words.iter().map(|word| 4 * word).collect();
            let scan = self.scan(reader, object, id, storage, Some(words));
            scan.and_then(|(marked, _)| marked.offsets(object)) == Some(expected)
        };
        visits(&[]) && visits(&BITMAP)
    }

    /// The names of classes, taken from the names of functions: of the class's visitor, if it is a separate
    /// function, or of its constructor. `classes` are the ids to name.
    ///
    /// An optimiser merges functions with the same code, and the merged function has the name of one of them.
    /// Therefore a visitor that several classes share gives no name.
    pub fn class_names(
        &self,
        reader: &mut CodeReader<'_, '_>,
        classes: impl Iterator<Item = (ClassId, Storage)>,
    ) -> HashMap<ClassId, String> {
        let functions = reader.machine.functions;
        if !functions.are_named() {
            return HashMap::new();
        }
        let [object, _] = TEST_OBJECTS;
        let mut visitors: HashMap<u32, Vec<ClassId>> = HashMap::new();
        for (id, storage) in classes {
            let Some((marked, _)) = self.scan(reader, object, id, storage, None) else {
                continue;
            };
            let named = marked.visitors.into_iter().map(|(function, _)| function);
            let visitor = named
                .into_iter()
                .find(|&function| names::visited_class(functions, function).is_some());
            if let Some(visitor) = visitor {
                visitors.entry(visitor).or_default().push(id);
            }
        }
        let mut names = self.constructed.clone();
        for (visitor, ids) in visitors {
            if let ([id], Some(name)) = (&ids[..], names::visited_class(functions, visitor)) {
                names.insert(*id, name.to_owned());
            }
        }
        for name in names.values_mut() {
            *name = names::unescaped(name);
        }
        names
    }

    /// Lets the collector scan an object of this class. `None` if the experiment cannot be made.
    fn scan(
        &self,
        reader: &mut CodeReader<'_, '_>,
        object: TestObject,
        id: ClassId,
        storage: Storage,
        bitmap: Option<&[u32]>,
    ) -> Option<(Marked, End)> {
        let mut state = reader.machine.copy(&self.idle, &mut reader.left)?;
        object.write(&mut state.memory, id, storage)?;
        if let Some(words) = bitmap {
            object.write_bitmap(&mut state.memory, words)?;
        }
        let mut marked = Marked::default();
        let machine = reader.machine(BUDGET);
        let end = match &self.visitor {
            Some((function, arguments)) => {
                let [first, _] = TEST_OBJECTS;
                let this = |&argument: &u64| match argument == u64::from(first.payload()) {
                    true => u64::from(object.payload()),
                    false => argument,
                };
                let arguments: Vec<u64> = arguments.iter().map(this).collect();
                let uses = &mut GlobalUse::default();
                machine.call(*function, &arguments, &mut state, uses, &mut marked)
            }
            None => {
                self.reach.put(object, &mut state)?;
                let uses = &mut GlobalUse::default();
                let collected = |_: &Marked| false;
                let calls = self.entry.calls;
                self.entry
                    .collect(calls, machine, &mut state, uses, &mut marked, collected)
            }
        };
        marked
            .others
            .retain(|address| !self.constants.contains(address));
        Some((marked, end))
    }
}

impl Entry {
    /// Runs the collector on this state: up to `calls` calls, or until `is_done` is true.
    fn collect(
        &self,
        calls: u32,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        uses: &mut GlobalUse,
        marked: &mut Marked,
        is_done: impl Fn(&Marked) -> bool,
    ) -> End {
        for _ in 0..calls {
            if let Some((global, value)) = self.forced
                && let Some(global) = state.globals.get_mut(global as usize)
            {
                *global = value;
            }
            let end = machine.call(self.function, &self.arguments, state, uses, marked);
            let result = machine.result.and_then(|result| u32::try_from(result).ok());
            if let (End::Returned, Some(lowest), Some(object)) = (end, self.allocates_from, result)
                && object >= lowest
            {
                marked.allocated(object);
            }
            if end != End::Returned || is_done(marked) {
                return end;
            }
        }
        End::Returned
    }
}

impl Reach {
    /// Puts an object at this place.
    fn put(self, object: TestObject, state: &mut State) -> Option<()> {
        match self {
            Self::Global(global) => {
                *state.globals.get_mut(global as usize)? = object.payload().into();
                Some(())
            }
            Self::Stack(global) => {
                let word = (*state.globals.get(global as usize)? as u32).checked_sub(4)?;
                state.memory.set_word(word, object.payload())?;
                *state.globals.get_mut(global as usize)? = word.into();
                Some(())
            }
            Self::MarkedList(head) => object.link_gray(&mut state.memory, head),
            Self::PinnedList(head) => object.link_pinned(&mut state.memory, head),
        }
    }
}

//! The collector of a module, and what it visits in the objects of a class.

use std::collections::{BTreeSet, HashMap};

use super::entry::{CollectorEntry, Reach, Visitor};
use super::machine::{End, GlobalUse, MachineState};
use super::names;
use super::probes::{Disguise, Marked, Storage, TEST_OBJECTS, TestObject};
use super::reader::{BUDGET, CodeReader};
use super::visited::{VisitedGlobal, VisitedMembers};
use crate::std_library::STRING;
use base::units::{ClassId, GlobalIndex};

/// The words that the bitmap of a test object lists.
const BITMAP: [u32; 3] = [0, 5, 33];

/// The class of a test object.
#[derive(Clone, Copy)]
struct TestClass {
    id: ClassId,
    storage: Storage,
}

/// The contents of a test object.
#[derive(Clone, Copy)]
enum TestContents<'w> {
    Empty,
    /// A tuple whose bitmap lists these words.
    Bitmap(&'w [u32]),
}

/// How to run the collector of a module.
#[derive(Clone, Debug)]
pub struct CollectorCode {
    pub(super) entry: CollectorEntry,
    /// Memory and globals when the collector is idle, nothing is allocated, and no object refers to another.
    pub(super) idle: MachineState,
    pub(super) roots: BTreeSet<VisitedGlobal>,
    /// The static objects that are roots by their addresses.
    pub(super) constants: BTreeSet<u32>,
    pub(super) stack_pointer: Option<GlobalIndex>,
    pub(super) total: Option<GlobalIndex>,
    /// The collector's own globals: those that it needs to visit a reference, and those that a collection changes.
    pub(super) own: BTreeSet<u32>,
    /// The other globals that can change.
    pub(super) variables: BTreeSet<u32>,
    pub(super) reach: Reach,
    /// A function that visits the members of the object that it is passed, if there is one.
    pub(super) visitor: Option<Visitor>,
    pub(super) constructed: HashMap<ClassId, String>,
}

impl CollectorCode {
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
            let (marked, end) = self.scan(reader, object, id, storage, TestContents::Empty)?;
            let by_values = marked.depends_on_values(object, storage);
            Some((marked.offsets(object), end == End::Returned, by_values))
        });
        let [first, second] = observed.each_mut().map(Option::take);
        let ((first, first_returned, by_values), (second, second_returned, _)) = (first?, second?);
        let (Some(first), Some(second)) = (&first, &second) else {
            return Some(VisitedMembers {
                and_more: true,
                by_values: true,
                ..VisitedMembers::default()
            });
        };
        let returned = first_returned && second_returned;
        if !returned && !by_values && first.is_empty() && second.is_empty() {
            return None;
        }
        if first == second {
            let mut removes_bits = || !self.visits_unchanged(reader, id, storage, first);
            return Some(VisitedMembers {
                offsets: first.clone(),
                by_bitmap: false,
                and_more: !returned,
                by_values: by_values || (!first.is_empty() && removes_bits()),
            });
        }
        let by_bitmap = self.follows_bitmap(reader, id, storage);
        let always = first.intersection(second).copied();
        Some(VisitedMembers {
            offsets: always.filter(|_| !by_bitmap).collect(),
            by_bitmap,
            and_more: !by_bitmap,
            by_values: by_values && !by_bitmap,
        })
    }

    /// Whether the code visits the references in these words as they are.
    fn visits_unchanged(
        &self,
        reader: &mut CodeReader<'_, '_>,
        id: ClassId,
        storage: Storage,
        words: &BTreeSet<u32>,
    ) -> bool {
        let [object, _] = TEST_OBJECTS;
        let marked = Marked::with_disguise(Disguise {
            object,
            words: words.clone(),
            visited: BTreeSet::new(),
        });
        let (class, contents) = (TestClass { id, storage }, TestContents::Empty);
        let scan = self.scan_with(reader, object, class, contents, marked);
        scan.is_some_and(|(marked, _)| marked.visits_unchanged())
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
            let scan = self.scan(reader, object, id, storage, TestContents::Bitmap(words));
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
            let Some((marked, _)) = self.scan(reader, object, id, storage, TestContents::Empty)
            else {
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
        contents: TestContents<'_>,
    ) -> Option<(Marked, End)> {
        let class = TestClass { id, storage };
        self.scan_with(reader, object, class, contents, Marked::default())
    }

    /// As [`scan`](Self::scan), with what observes the run.
    fn scan_with(
        &self,
        reader: &mut CodeReader<'_, '_>,
        object: TestObject,
        class: TestClass,
        contents: TestContents<'_>,
        marked: Marked,
    ) -> Option<(Marked, End)> {
        let (mut marked, end, read) = self.run(reader, object, class, contents, marked)?;
        marked.reads_variable =
            class.storage == Storage::Fields && self.reads_variable(reader, object, &read);
        Some((marked, end))
    }

    /// Whether a run that read these globals read a variable of the program because of the class of its object. A whole
    /// collection also reads the roots, as it does for an object without members.
    fn reads_variable(
        &self,
        reader: &mut CodeReader<'_, '_>,
        object: TestObject,
        read: &BTreeSet<u32>,
    ) -> bool {
        let mut variables = read.intersection(&self.variables).peekable();
        if self.visitor.is_some() || variables.peek().is_none() {
            return variables.peek().is_some();
        }
        if reader.read_by_any.is_none() {
            let class = TestClass {
                id: STRING,
                storage: Storage::Fields,
            };
            let marked = Marked::default();
            let run = self.run(reader, object, class, TestContents::Empty, marked);
            reader.read_by_any = Some(run.map(|(_, _, read)| read).unwrap_or_default());
        }
        let by_any = reader.read_by_any.as_ref();
        variables.any(|global| by_any.is_none_or(|read| !read.contains(global)))
    }

    /// Lets the collector scan an object. Also returns the globals that are read.
    fn run(
        &self,
        reader: &mut CodeReader<'_, '_>,
        object: TestObject,
        class: TestClass,
        contents: TestContents<'_>,
        mut marked: Marked,
    ) -> Option<(Marked, End, BTreeSet<u32>)> {
        let mut state = reader.machine.copy(&self.idle, &mut reader.left)?;
        object.write(&mut state.memory, class.id, class.storage)?;
        match contents {
            TestContents::Empty => {}
            TestContents::Bitmap(words) => object.write_bitmap(&mut state.memory, words)?,
        }
        let machine = reader.machine(BUDGET);
        let mut uses = GlobalUse::default();
        let end = match &self.visitor {
            Some((function, arguments)) => {
                let [first, _] = TEST_OBJECTS;
                let this = |&argument: &u64| {
                    if argument == u64::from(first.payload()) {
                        u64::from(object.payload())
                    } else {
                        argument
                    }
                };
                let arguments: Vec<u64> = arguments.iter().map(this).collect();
                machine.call(*function, &arguments, &mut state, &mut uses, &mut marked)
            }
            None => {
                self.reach.put(object, &mut state)?;
                let collected = |_: &Marked| false;
                let calls = self.entry.calls;
                self.entry.collect(
                    calls,
                    machine,
                    &mut state,
                    &mut uses,
                    &mut marked,
                    collected,
                )
            }
        };
        marked
            .others
            .retain(|address| !self.constants.contains(address));
        Some((marked, end, uses.read))
    }
}

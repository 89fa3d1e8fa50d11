//! Every global and stack word that refers to an object, and every pinned object, by name. Paths begin with
//! these. Each counts as a separate reference.

use super::RootKind;
use super::labels::EdgeLabel;
use base::bits::Bits;
use base::columns;
use base::error::Result;
use base::units::ObjectIndex;

/// A global, a stack word or a pin from which the collector starts, and its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RootSlot {
    /// The kind of the root.
    pub kind: RootKind,
    /// For a global, a root of V8 or of the host, the number of its name; for a stack word, its distance from the stack pointer
    /// in bytes, or the number of its name if the stack is one of frames.
    position: u32,
    /// The object to which the slot refers.
    pub object: ObjectIndex,
}

/// The position of a root whose global is not known.
const NO_NAME: u32 = u32::MAX;

/// All slots that hold an object.
#[derive(Debug, Default)]
pub struct RootSlots {
    /// By kind, name, position on the stack, object.
    slots: Vec<RootSlot>,
    /// The same, as positions in `slots`, by object.
    by_object: Vec<u32>,
    /// The names of the globals, then those of the pointers of the host, each ascending; then those of `starts`.
    names: Vec<String>,
    /// Whether roots on the stack have names, of threads and frames.
    has_frames: bool,
    /// Where paths begin before all roots.
    pub(super) starts: PathStarts,
}

/// What paths begin with that begin at the variables of a module, which the next step names.
pub const MODULE: &str = "module";

/// The same for a module of Node.
pub const ENGINE_MODULE: &str = "Node's internals";

/// What paths begin with that begin at the object of a module that was loaded with `require`.
pub const LOADED_MODULE: &str = "require.cache";

/// What a path begins with that begins at the text in which a regular expression last found something.
pub const LAST_MATCH: &str = "RegExp's last match";

/// All of these.
pub const PATH_STARTS: [&str; 4] = [MODULE, ENGINE_MODULE, LOADED_MODULE, LAST_MATCH];

/// Where paths begin before all roots: objects that a person would name first, such as the variables of a module. They
/// are no roots.
#[derive(Debug, Default)]
pub(super) struct PathStarts {
    /// Those of the program, by name.
    pub(super) program: Vec<RootSlot>,
    /// Those of the engine that runs it, by name. Paths begin there only if the program's starts and its globals lead
    /// nowhere else.
    pub(super) engine: Vec<RootSlot>,
    /// Objects of the engine, which no path enters before the engine's starts.
    pub(super) is_engine: Bits,
    /// Those of them that no path enters before the roots.
    pub(super) realms: Bits,
    /// Labels of references to an object's own storage. Such a reference is no step of a path.
    pub(super) storage: Vec<EdgeLabel>,
    /// The names of classes whose objects are parts of what refers to them.
    pub(super) storage_classes: Vec<&'static str>,
}

/// The same, with names.
#[derive(Debug, Default)]
pub struct NamedStarts {
    /// Those of the program.
    pub program: Vec<(String, ObjectIndex)>,
    /// Those of the engine.
    pub engine: Vec<(String, ObjectIndex)>,
    /// Objects of the engine.
    pub is_engine: Bits,
    /// Those of them to which paths lead only from roots.
    pub realms: Bits,
    /// Labels of references to an object's own storage.
    pub storage: Vec<EdgeLabel>,
    /// The names of classes whose objects are parts of what refers to them.
    pub storage_classes: Vec<&'static str>,
}

/// The start of the text of a path: the name of a global, the stack, or the pinned objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RootOrigin {
    /// The global with this number.
    Global(u32),
    /// A static object that no known global refers to.
    Static(ObjectIndex),
    /// The stack.
    Stack,
    /// The pins.
    Pinned,
    /// V8, from the root with this name.
    System(u32),
    /// The host, which holds the pointer with this name.
    Host(u32),
    /// Nothing in the memory.
    Unreferenced,
}

impl RootOrigin {
    /// The kind of root.
    pub fn kind(self) -> RootKind {
        match self {
            Self::Global(_) | Self::Static(_) => RootKind::Global,
            Self::Stack => RootKind::Stack,
            Self::Pinned => RootKind::Pinned,
            Self::System(_) => RootKind::System,
            Self::Host(_) => RootKind::Host,
            Self::Unreferenced => RootKind::Unreferenced,
        }
    }
}

/// Collects the slots.
#[derive(Debug, Default)]
pub struct FoundSlots {
    globals: Vec<(String, ObjectIndex)>,
    hosts: Vec<(String, ObjectIndex)>,
    others: Vec<RootSlot>,
}

impl FoundSlots {
    /// A global that refers to an object.
    pub fn add_global(&mut self, name: &str, object: ObjectIndex) -> Result<()> {
        columns::push(&mut self.globals, (name.to_owned(), object))
    }

    /// A static object that may be a root.
    pub fn add_guess(&mut self, object: ObjectIndex) -> Result<()> {
        self.add(RootKind::Global, NO_NAME, object)
    }

    /// A word of the shadow stack, the `nth` from its top.
    pub fn add_stack_word(&mut self, nth: usize, object: ObjectIndex) -> Result<()> {
        self.add(RootKind::Stack, nth as u32 * 4, object)
    }

    /// A pinned object.
    pub fn add_pinned(&mut self, object: ObjectIndex) -> Result<()> {
        self.add(RootKind::Pinned, 0, object)
    }

    /// A pointer of the host, by the name that the caller gave it.
    pub fn add_host(&mut self, name: &str, object: ObjectIndex) -> Result<()> {
        columns::push(&mut self.hosts, (name.to_owned(), object))
    }

    /// An object to which nothing refers.
    pub fn add_unreferenced(&mut self, object: ObjectIndex) -> Result<()> {
        self.add(RootKind::Unreferenced, 0, object)
    }

    fn add(&mut self, kind: RootKind, position: u32, object: ObjectIndex) -> Result<()> {
        columns::push(
            &mut self.others,
            RootSlot {
                kind,
                position,
                object,
            },
        )
    }

    /// Puts all slots in order.
    pub fn into_slots(self) -> Result<RootSlots> {
        let Self {
            globals,
            hosts,
            others: mut slots,
        } = self;
        let mut names: Vec<String> = Vec::new();
        for (kind, mut named) in [(RootKind::Global, globals), (RootKind::Host, hosts)] {
            named.sort_unstable();
            // A global that the code and the debug information both contain counts once.
            named.dedup();
            columns::reserve(&mut slots, named.len())?;
            let first = names.len();
            for (name, object) in named {
                if names.len() == first || names.last() != Some(&name) {
                    names.push(name);
                }
                slots.push(RootSlot {
                    kind,
                    position: names.len() as u32 - 1,
                    object,
                });
            }
        }
        slots.sort_unstable();
        RootSlots::of_sorted(slots, names)
    }
}

impl RootSlots {
    /// The roots of a snapshot, which all have names.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn of_named(mut roots: Vec<(RootKind, String, ObjectIndex)>) -> Result<Self> {
        roots.sort_unstable();
        roots.dedup();
        let mut all: Vec<String> = Vec::new();
        let mut slots = columns::with_capacity(roots.len())?;
        let mut last = None;
        for (kind, name, object) in roots {
            if last != Some(kind) || all.last() != Some(&name) {
                all.push(name);
                last = Some(kind);
            }
            slots.push(RootSlot {
                kind,
                position: all.len() as u32 - 1,
                object,
            });
        }
        let has_frames = slots
            .iter()
            .any(|slot: &RootSlot| slot.kind == RootKind::Stack);
        let slots = Self::of_sorted(slots, all)?;
        Ok(Self {
            has_frames,
            ..slots
        })
    }

    /// The slots of two heaps that were joined, as far as they are wanted. The objects of `second` come after `offset`
    /// objects of the first heap.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn of_joined(
        first: Self,
        second: Self,
        offset: u32,
        is_wanted: impl Fn(RootSlot) -> bool,
    ) -> Result<Self> {
        let mut names = first.names;
        let mut slots = first.slots;
        slots.retain(|&slot| is_wanted(slot));
        let first_name = names.len() as u32;
        columns::reserve(&mut slots, second.slots.len())?;
        slots.extend(second.slots.into_iter().map(|slot| RootSlot {
            object: ObjectIndex(offset + slot.object.0),
            position: match slot.kind {
                RootKind::Global | RootKind::System if slot.position != NO_NAME => {
                    first_name + slot.position
                }
                _ => slot.position,
            },
            ..slot
        }));
        slots.sort_unstable();
        names.extend(second.names);
        Self::of_sorted(slots, names)
    }

    /// These slots, which ascend.
    fn of_sorted(slots: Vec<RootSlot>, names: Vec<String>) -> Result<Self> {
        let mut by_object = columns::collected(0..slots.len() as u32)?;
        by_object.sort_unstable_by_key(|&slot| (slots[slot as usize].object, slot));
        Ok(Self {
            slots,
            by_object,
            names,
            has_frames: false,
            starts: PathStarts::default(),
        })
    }

    /// The same roots, with other objects where paths begin.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn with_starts(mut self, starts: NamedStarts) -> Result<Self> {
        let NamedStarts {
            program,
            engine,
            is_engine,
            realms,
            storage,
            storage_classes,
        } = starts;
        self.starts = PathStarts {
            program: self.add_starts(program)?,
            engine: self.add_starts(engine)?,
            is_engine,
            realms,
            storage,
            storage_classes,
        };
        Ok(self)
    }

    fn add_starts(&mut self, mut named: Vec<(String, ObjectIndex)>) -> Result<Vec<RootSlot>> {
        named.sort_unstable();
        named.dedup();
        let mut slots = columns::with_capacity(named.len())?;
        for (name, object) in named {
            if self.names.last() != Some(&name) {
                columns::push(&mut self.names, name)?;
            }
            slots.push(RootSlot {
                kind: RootKind::Global,
                position: self.names.len() as u32 - 1,
                object,
            });
        }
        Ok(slots)
    }

    /// Where a path that begins with this object begins.
    pub fn start(&self, object: ObjectIndex) -> Option<RootSlot> {
        let mut starts = self.starts.program.iter().chain(&self.starts.engine);
        let start = starts.find(|slot| slot.object == object).copied();
        start.or_else(|| self.of(object).next())
    }

    /// All slots: globals by name, then stack words from the top of the stack on, then pins.
    pub fn all(&self) -> &[RootSlot] {
        &self.slots
    }

    /// The slots that hold this object, in the same order.
    pub fn of(&self, object: ObjectIndex) -> impl Iterator<Item = RootSlot> {
        let slot = |&number: &u32| self.slots[number as usize];
        let start = self
            .by_object
            .partition_point(|number| slot(number).object < object);
        let slots = self.by_object[start..].iter().map(slot);
        slots.take_while(move |slot| slot.object == object)
    }

    /// The start of the text of the paths from this slot.
    pub fn origin(&self, slot: RootSlot) -> RootOrigin {
        match slot.kind {
            RootKind::Global if slot.position == NO_NAME => RootOrigin::Static(slot.object),
            RootKind::Global => RootOrigin::Global(slot.position),
            RootKind::Stack => RootOrigin::Stack,
            RootKind::Pinned => RootOrigin::Pinned,
            RootKind::System => RootOrigin::System(slot.position),
            RootKind::Host => RootOrigin::Host(slot.position),
            RootKind::Unreferenced => RootOrigin::Unreferenced,
        }
    }

    /// The number of the stack word, counted from the top of the stack; `None` for other slots.
    pub fn stack_word(&self, slot: RootSlot) -> Option<u32> {
        (slot.kind == RootKind::Stack && !self.has_frames).then_some(slot.position / 4)
    }

    /// The name of the global with this number.
    pub fn global_name(&self, number: u32) -> Option<&str> {
        self.names.get(number as usize).map(String::as_str)
    }

    /// The name of a slot: the name of the global, for the stack `+16` or the frame; `None` for pinned objects and for
    /// objects whose global is not known.
    pub fn name(&self, slot: RootSlot) -> Option<String> {
        match slot.kind {
            RootKind::Global | RootKind::System | RootKind::Host => {
                self.names.get(slot.position as usize).cloned()
            }
            RootKind::Stack if self.has_frames => self.names.get(slot.position as usize).cloned(),
            RootKind::Stack => Some(format!("+{}", slot.position)),
            RootKind::Pinned | RootKind::Unreferenced => None,
        }
    }
}

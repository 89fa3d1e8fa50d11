//! Artificial objects for the collector's code. The objects that it marks show which words it visits.
//!
//! A **probe** is an empty object at a known address. Every word of a **test object** refers to another
//! probe, so the marked probes show which words were visited. Both are far above any heap, in pages that are
//! filled in when they are first used.

use std::collections::BTreeSet;

use super::memory::MachineMemory;
use super::memory::SparseMemory;
use super::observer::{CallStack, Loaded, Observer, Stored};
use crate::std_library::{ARRAY_BUFFER, HEADER_SIZE};
use base::units::ClassId;

/// The class of probes. It has no references, so the collector does not continue from a probe.
const PROBE_CLASS: ClassId = ARRAY_BUFFER;
/// Bytes from the word that links an object, with its colour, to the payload.
const LINK_TO_PAYLOAD: u32 = 16;
/// Bytes from one probe to the next.
const STRIDE: u32 = 32;
/// The bits of a link that are the colour.
const COLOR: u32 = 3;
/// The colour of objects that are to be scanned.
const GRAY: u32 = 2;

/// How often the calls that visit a test object are looked for in a run. There may be 65,536 arguments to look through
/// each time.
const MOST_LOOKS: u32 = 64;

/// How often a run may read behind the headers of probes. A loop over a made-up number of words would not end soon.
const MOST_PROBE_READS: u32 = 64;

/// The address of the first probe for a global.
const GLOBAL_PROBES: u32 = 0x7100_0000;
/// The address of the first probe for a word of a test object.
const FIELD_PROBES: u32 = 0x7200_0000;
const PROBES_END: u32 = 0x7400_0000;
/// Bytes of a test object's payload.
const OBJECT_SIZE: u32 = 1 << 16;

/// Bytes of the largest tuple's payload: 64 words and their bitmap.
const TUPLE_SIZE: u32 = 64 * 4 + 8;

/// A test object. There are two, with different values: results that depend on the values differ between
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TestObject {
    payload: u32,
    probes: u32,
}

/// Both test objects.
pub(super) const TEST_OBJECTS: [TestObject; 2] = [
    TestObject {
        payload: 0x7000_0040,
        probes: FIELD_PROBES,
    },
    TestObject {
        payload: 0x7010_0040,
        probes: FIELD_PROBES + 0x0133_3340,
    },
];

/// How the objects of a class use their first words. The code that visits them ends only if these words have
/// suitable values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// For fields.
    Fields,
    /// `Array`: a buffer, a pointer into it and two lengths.
    Array,
    /// `StaticArray`: for elements, up to the size in the header.
    StaticArray,
    /// `Map` or `Set`: two buffers and four numbers.
    Entries,
}

impl Storage {
    /// Bytes at the start of an object that its visitor reads to find its contents.
    const fn own_words(self) -> u32 {
        match self {
            Self::Fields | Self::StaticArray => 0,
            Self::Array => 16,
            Self::Entries => 24,
        }
    }
}

impl TestObject {
    /// The address of its payload, which is the value of references to it.
    pub(super) const fn payload(self) -> u32 {
        self.payload
    }

    /// Makes it an empty object of this class that is in no list.
    pub(super) fn write(
        self,
        memory: &mut SparseMemory,
        class: ClassId,
        storage: Storage,
    ) -> Option<()> {
        let size = match storage {
            Storage::StaticArray => 0,
            _ => OBJECT_SIZE,
        };
        let block = self.block();
        let header = [OBJECT_SIZE + 16, block, block, class.0, size];
        for (address, word) in (block..).step_by(4).zip(header) {
            memory.set_word(address, word)?;
        }
        let numbers: &[u32] = match storage {
            Storage::Fields | Storage::StaticArray => &[],
            Storage::Array => &[4, 8, 12],
            Storage::Entries => &[4, 12, 16, 20],
        };
        for offset in numbers {
            memory.set_word(self.payload + offset, 0)?;
        }
        Some(())
    }

    /// Makes it a tuple of 64 words, with a bitmap of these words, which are references, in its last 8 bytes.
    /// A larger object would not do: some compilers' tuples test bit `n % 64` for their word `n`.
    pub(super) fn write_bitmap(self, memory: &mut SparseMemory, words: &[u32]) -> Option<()> {
        let bitmap = words.iter().fold(0_u64, |bits, word| bits | 1 << word);
        memory.set_word(self.payload - 4, TUPLE_SIZE)?;
        memory.write(self.payload + TUPLE_SIZE - 8, &bitmap.to_le_bytes())
    }

    /// Puts it into the list with this head, as an object that must be scanned.
    pub(super) fn link_gray(self, memory: &mut SparseMemory, list: u32) -> Option<()> {
        self.link(memory, list, GRAY)
    }

    /// Puts it into the list with this head, as an object to which nothing refers.
    pub(super) fn link_white(self, memory: &mut SparseMemory, list: u32) -> Option<()> {
        self.link(memory, list, 0)
    }

    /// Bytes of its block.
    pub(super) const fn block_size(self) -> u32 {
        OBJECT_SIZE + 16 + 4
    }

    /// Puts it into the list with this head, as a pinned object.
    pub(super) fn link_pinned(self, memory: &mut SparseMemory, list: u32) -> Option<()> {
        self.link(memory, list, COLOR)
    }

    fn link(self, memory: &mut SparseMemory, list: u32, color: u32) -> Option<()> {
        let block = self.block();
        memory.set_word(list.checked_add(4)?, block)?;
        memory.set_word(list.checked_add(8)?, block)?;
        memory.set_word(block + 4, list | color)?;
        memory.set_word(block + 8, list)
    }

    const fn block(self) -> u32 {
        self.payload - HEADER_SIZE
    }

    /// The probe to which the word at this offset refers.
    const fn probe(self, offset: u32) -> u32 {
        self.probes + offset / 4 * STRIDE
    }

    /// The word of this object that refers to the probe.
    fn offset_of(self, probe: u32) -> Option<u32> {
        let number = probe.checked_sub(self.probes)? / STRIDE;
        (number < OBJECT_SIZE / 4).then_some(number * 4)
    }
}

/// The probe for the value of a global.
pub(super) fn global_probe(global: u32) -> Option<u32> {
    // The header of the first probe is before it.
    let offset = global.checked_add(1)?.checked_mul(STRIDE)?;
    let probe = GLOBAL_PROBES.checked_add(offset)?;
    (probe < FIELD_PROBES).then_some(probe)
}

/// The contents of a page of the machine's memory before anything is written to it.
pub(super) fn background(page: u32, bytes: &mut [u8; 4096]) {
    let start = page << 12;
    let word: &dyn Fn(u32) -> u32 = match start {
        GLOBAL_PROBES..PROBES_END => &probe_word,
        0x7000_0000..GLOBAL_PROBES => &object_word,
        _ => return,
    };
    for (address, bytes) in (start..).step_by(4).zip(bytes.chunks_exact_mut(4)) {
        bytes.copy_from_slice(&word(address).to_le_bytes());
    }
}

fn probe_word(address: u32) -> u32 {
    // The header of each probe is at the end of the stride before it.
    let block = (address & !(STRIDE - 1)) + STRIDE - HEADER_SIZE;
    match address.wrapping_sub(block) {
        0 => STRIDE - 4,
        // Linked with itself, white.
        4 | 8 => block,
        12 => PROBE_CLASS.0,
        _ => 0,
    }
}

fn object_word(address: u32) -> u32 {
    let found = TEST_OBJECTS.into_iter().find_map(|object| {
        let offset = address.checked_sub(object.payload)?;
        (offset < OBJECT_SIZE).then(|| object.probe(offset))
    });
    found.unwrap_or(0)
}

/// The object that the store of a word marks. Objects are marked by a store to the link: a colour that is not white, and
/// a list.
pub(super) fn marked_object(address: u32, value: u32) -> Option<u32> {
    let is_mark = address.is_multiple_of(16) && value & COLOR != 0 && value > COLOR;
    address.checked_add(LINK_TO_PAYLOAD).filter(|_| is_mark)
}

/// The objects that the collector's code marked in a run.
#[derive(Debug, Default)]
pub(super) struct Marked {
    /// Probes, by their addresses.
    probes: BTreeSet<u32>,
    /// Objects at other addresses: static ones, as long as nothing else is in memory.
    pub(super) others: BTreeSet<u32>,
    /// Objects that the runs have allocated. Where a run completes a collection, white is the other colour
    /// afterwards, so that a new object looks marked.
    allocated: BTreeSet<u32>,
    /// The head of the list into which marked objects are put.
    pub(super) list: Option<u32>,
    /// The calls with a test object among their arguments when the first probe was marked: functions with all
    /// arguments, outermost first.
    pub(super) visitors: Vec<(u32, Vec<u64>)>,
    /// How often these calls were looked for.
    looked: u32,
    /// The offsets of the words of test objects that were read.
    read: BTreeSet<u32>,
    disguise: Option<Disguise>,
    /// Whether a global of the program was read that can change.
    pub(super) reads_variable: bool,
    /// How often anything behind the header of a probe was read.
    probe_reads: u32,
}

impl Marked {
    /// Whether the value of this global was marked.
    pub(super) fn global(&self, global: u32) -> bool {
        global_probe(global).is_some_and(|probe| self.probes.contains(&probe))
    }

    /// The offsets of the words of a test object that were visited. `None` if anything else was marked, too.
    pub(super) fn offsets(&self, object: TestObject) -> Option<BTreeSet<u32>> {
        let offsets = self.probes.iter().map(|&probe| object.offset_of(probe));
        offsets
            .collect::<Option<_>>()
            .filter(|_| self.others.is_empty())
    }

    /// Whether the code that visits a test object needs more than references at fixed offsets: it reads a word that it
    /// does not visit and that is not one of a container's own, what such a word refers to, or a variable.
    pub(super) fn depends_on_values(&self, object: TestObject, storage: Storage) -> bool {
        let visited = self
            .probes
            .iter()
            .filter_map(|&probe| object.offset_of(probe));
        let visited: BTreeSet<u32> = visited.collect();
        let mut unvisited = self.read.difference(&visited);
        self.reads_variable
            || self.probe_reads > 0
            || unvisited.any(|&offset| offset >= storage.own_words())
    }

    /// As the start of a run in which references look like this.
    pub(super) fn with_disguise(disguise: Disguise) -> Self {
        Self {
            disguise: Some(disguise),
            ..Self::default()
        }
    }

    /// Whether the code visits exactly what the words are that look like references: it does not remove bits.
    pub(super) fn visits_unchanged(&self) -> bool {
        let disguise = self.disguise.as_ref();
        disguise.is_some_and(|disguise| disguise.visited == disguise.words)
    }

    /// Notes that a run has allocated this object. It does not count as marked.
    pub(super) fn allocated(&mut self, object: u32) {
        self.allocated.insert(object);
        self.others.remove(&object);
    }

    /// Whether any probe was marked.
    pub(super) fn any_probe(&self) -> bool {
        !self.probes.is_empty()
    }
}

/// Lets references of a test object look like addresses with more bits. Code that visits what the words are asks for the
/// colours at these addresses; code that first removes bits asks elsewhere.
#[derive(Debug)]
pub(super) struct Disguise {
    pub(super) object: TestObject,
    /// The offsets of the references.
    pub(super) words: BTreeSet<u32>,
    /// Those at whose addresses a colour was read.
    pub(super) visited: BTreeSet<u32>,
}

impl Disguise {
    /// The highest and the lowest bit, which no address of a probe has.
    const BITS: u32 = 1 << 31 | 1;
    /// The link of an object that is not white.
    const MARKED: u32 = 1;

    fn load(&mut self, address: u32) -> Option<u32> {
        let offset = address.wrapping_sub(self.object.payload);
        if self.words.contains(&offset) {
            return Some(self.object.probe(offset) | Self::BITS);
        }
        let visited = address.wrapping_add(LINK_TO_PAYLOAD);
        let offset = self.object.offset_of(visited & !Self::BITS)?;
        let is_unchanged = visited == self.object.probe(offset) | Self::BITS;
        is_unchanged.then(|| {
            self.visited.insert(offset);
            Self::MARKED
        })
    }
}

impl Observer for Marked {
    fn load(&mut self, address: u32, size: u32) -> Loaded {
        if let Some(disguise) = self.disguise.as_mut().filter(|_| size == 4)
            && let Some(word) = disguise.load(address)
        {
            return Loaded::Word(word);
        }
        for object in TEST_OBJECTS {
            let offset = address.wrapping_sub(object.payload);
            if offset < OBJECT_SIZE {
                let words = offset & !3..offset.saturating_add(size);
                self.read.extend(words.step_by(4));
            }
        }
        // A probe has no contents.
        let is_in_probe = (GLOBAL_PROBES..PROBES_END).contains(&address)
            && address % STRIDE < STRIDE - HEADER_SIZE;
        self.probe_reads += u32::from(is_in_probe);
        if self.probe_reads > MOST_PROBE_READS {
            return Loaded::Stop;
        }
        Loaded::FromMemory
    }

    fn store(&mut self, address: u32, value: u32, calls: &CallStack<'_>) -> Stored {
        let Some(payload) = marked_object(address, value) else {
            return Stored::InMemory;
        };
        match payload {
            GLOBAL_PROBES..PROBES_END if payload.is_multiple_of(STRIDE) => {
                self.probes.insert(payload);
                if self.visitors.is_empty() && self.looked < MOST_LOOKS {
                    self.looked += 1;
                    let visitors = TEST_OBJECTS
                        .iter()
                        .flat_map(|object| calls.with_argument(object.payload))
                        .map(|(function, all)| (function, all.to_vec()));
                    self.visitors = visitors.collect();
                }
            }
            0x7000_0000..GLOBAL_PROBES => {}
            _ => {
                if !self.allocated.contains(&payload) {
                    self.others.insert(payload);
                }
            }
        }
        self.list.get_or_insert(value & !COLOR);
        Stored::InMemory
    }
}

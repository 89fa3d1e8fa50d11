//! From variables along typed pointers: a typed pointer to the start of a block gives it a type, whose pointers lead
//! on. Which blocks are alive does not depend on it.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use base::columns;
use base::control::{CHECK_INTERVAL, Control};
use base::error::Result;
use base::units::{Address, ObjectIndex};
use dumps::Memory;
use heap::TypeEvidence;

use super::container_kind::KnownParts;
use super::container_use::ContainerUse;
use super::names::Namer;
use super::plan::{DEEPEST, Plans, Slot, SlotKind};
use super::seen_places::SeenPlaces;
use super::split::SplitValues;
use super::table::{TypeId, TypeKind, TypeTable};
use crate::allocator::UsedBlocks;
use crate::block_index::BlockIndex;

/// The most bytes before the elements of an array of C++ whose elements have destructors.
const MOST_BEFORE: u32 = 16;
/// Variables of emmalloc beside the one by which it is found.
const ALLOCATOR_VARIABLES: [&str; 2] = ["freeRegionBuckets", "listOfAllRegions"];
/// Pointers that are followed, for each word of the heap: types of compilers need less than one.
const STEPS_PER_WORD: u64 = 16;
const MORE_STEPS: u64 = 1 << 20;
/// So many places before a value is followed, its memory is asked for.
const AHEAD: usize = 16;

/// What a block is.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockType {
    /// Of the block, or of its elements.
    pub(super) type_id: TypeId,
    pub(super) is_array: bool,
    pub(super) evidence: TypeEvidence,
    /// The bytes before the first element.
    pub(super) base: u32,
}

impl BlockType {
    /// One value of a type, at the start of the block.
    pub(super) fn one(type_id: TypeId, evidence: TypeEvidence) -> Self {
        Self {
            type_id,
            is_array: false,
            evidence,
            base: 0,
        }
    }
}

/// Values that may refer to others.
#[derive(Clone, Copy)]
struct TypedPlace {
    address: u32,
    type_id: TypeId,
    count: u32,
    /// Whether it is only the one member of a union that refers to something.
    is_guess: bool,
}

/// The types of blocks while they are found.
pub(super) struct Spread<'s, 'a> {
    pub(super) types: &'s TypeTable<'a>,
    pub(super) namer: Namer<'s, 'a>,
    memory: Memory<'s>,
    walk: &'s UsedBlocks,
    index: &'s BlockIndex<'s>,
    pub(super) plans: Plans,
    pub(super) parts: KnownParts<'s, 'a>,
    /// Those of variables that an optimiser divided.
    split: SplitValues,
    pub(super) blocks: Vec<Option<BlockType>>,
    seen: SeenPlaces,
    queue: VecDeque<TypedPlace>,
    /// Concrete types by the address of their table of functions, in Rust.
    pub(super) tables: HashMap<u32, TypeId>,
    by_full_name: Option<HashMap<String, TypeId>>,
    pub(super) uses: Vec<ContainerUse>,
    /// Blocks that two pointers say different things of.
    pub(super) conflicts: u64,
    /// Containers whose layout is not known.
    pub(super) unknown_containers: u64,
    steps_left: u64,
    work: u64,
    pub(super) control: &'s Control,
}

impl<'s, 'a> Spread<'s, 'a> {
    pub(super) fn new(
        types: &'s TypeTable<'a>,
        memory: Memory<'s>,
        (walk, index): (&'s UsedBlocks, &'s BlockIndex<'s>),
        control: &'s Control,
    ) -> Result<Self> {
        let words: u64 = walk
            .usable
            .iter()
            .map(|&usable| u64::from(usable) / 4)
            .sum();
        Ok(Self {
            types,
            namer: Namer::new(types),
            memory,
            walk,
            index,
            plans: Plans::default(),
            parts: KnownParts::new(types),
            split: SplitValues::after(memory),
            blocks: columns::repeated(None, walk.addresses.len())?,
            seen: SeenPlaces::none(walk.addresses.len())?,
            queue: VecDeque::new(),
            tables: HashMap::new(),
            by_full_name: None,
            uses: Vec::new(),
            conflicts: 0,
            unknown_containers: 0,
            steps_left: words * STEPS_PER_WORD + MORE_STEPS,
            work: 0,
            control,
        })
    }

    /// Follows all variables that lie in these addresses.
    pub(super) fn run(&mut self, statics: &std::ops::Range<u32>) -> Result<()> {
        let variables = self.types.variables.iter();
        let in_statics = variables.filter(|variable| statics.contains(&variable.address));
        // What the allocator refers to is no block yet, or no more.
        let own = &self.walk.state;
        let in_statics = in_statics.filter(|variable| {
            let size = self.types.size(variable.type_id);
            let end = variable.address.saturating_add(size.max(4));
            !ALLOCATOR_VARIABLES.contains(&variable.name)
                && (variable.address >= own.end || end <= own.start)
        });
        for variable in in_statics {
            let found = self.types.get(self.types.resolved(variable.type_id));
            let is_table = found.kind == TypeKind::Struct && variable.name.ends_with("{vtable}");
            if let (true, Some(concrete)) = (is_table, found.target) {
                self.tables.insert(variable.address, concrete);
            } else {
                self.place(variable.address, variable.type_id, 1)?;
            }
        }
        for variable in &self.types.split {
            let is_read = |at: u32| statics.contains(&at) && !own.contains(&at);
            let size = self.types.size(variable.type_id);
            let at = self.split.add(self.memory, (variable, size), is_read)?;
            if let Some(at) = at {
                self.place(at, variable.type_id, 1)?;
            }
        }
        while let Some(place) = self.queue.pop_front() {
            if let Some(ahead) = self.queue.get(AHEAD) {
                heap::prefetch(self.memory.as_bytes(), ahead.address);
            }
            self.follow(place)?;
        }
        Ok(())
    }

    /// Takes steps from the budget, as for the elements of a container. Whether there were enough.
    pub(super) fn spend(&mut self, steps: u64) -> Result<bool> {
        self.control.count(steps)?;
        let left = self.steps_left.checked_sub(steps);
        self.steps_left = left.unwrap_or(0);
        Ok(left.is_some())
    }

    pub(super) fn word(&self, address: u32) -> Option<u32> {
        if self.split.contains(address) {
            let bytes = self.split.bytes(address, 4)?.first_chunk()?;
            return Some(u32::from_le_bytes(*bytes));
        }
        self.memory.word(Address(address))
    }

    pub(super) fn byte(&self, address: u32) -> Option<u8> {
        self.bytes(address, 1)?.first().copied()
    }

    pub(super) fn bytes(&self, address: u32, size: u32) -> Option<&[u8]> {
        if self.split.contains(address) {
            return self.split.bytes(address, size);
        }
        let start = address as usize;
        self.memory
            .as_bytes()
            .get(start..start.checked_add(size as usize)?)
    }

    /// By how many bytes less than this what a program asked for can be smaller than what its block has.
    pub(super) fn slack(&self, usable: u32) -> u32 {
        self.walk.allocator.slack(usable)
    }

    /// The block around an address, where it begins, and the bytes that the program may use.
    pub(super) fn block(&self, address: u32) -> Option<(ObjectIndex, u32, u32)> {
        let block = self.index.around(address)?;
        let (start, usable) = (
            self.walk.addresses[block.at()],
            self.walk.usable[block.at()],
        );
        Some((block, start, usable))
    }

    /// Whether a place is new.
    pub(super) fn see(&mut self, address: u32, type_id: TypeId) -> Result<bool> {
        let block = self.index.starting_at(address);
        self.seen.add((address, block), type_id)
    }

    /// Values of a type at an address.
    pub(super) fn place(&mut self, address: u32, type_id: TypeId, count: u32) -> Result<()> {
        self.place_perhaps(address, type_id, count, false)
    }

    fn place_perhaps(
        &mut self,
        address: u32,
        type_id: TypeId,
        count: u32,
        is_guess: bool,
    ) -> Result<()> {
        let type_id = self.types.resolved(type_id);
        let plan = self.plans.get(self.types, type_id);
        if !plan.is_empty() && count > 0 && self.see(address, type_id)? {
            self.queue.push_back(TypedPlace {
                address,
                type_id,
                count,
                is_guess,
            });
        }
        Ok(())
    }

    fn follow(&mut self, place: TypedPlace) -> Result<()> {
        let plan = self.plans.get(self.types, place.type_id);
        let size = self.types.size(place.type_id);
        // Values of no size all lie at one place.
        let count = if size == 0 { 1 } else { place.count };
        for nth in 0..count {
            if self.steps_left == 0 {
                break;
            }
            let offset = u64::from(nth) * u64::from(size);
            let address = u64::from(place.address) + offset;
            let Ok(address) = u32::try_from(address) else {
                break;
            };
            self.follow_slots(address, &plan, place.is_guess, DEEPEST)?;
        }
        Ok(())
    }

    pub(super) fn follow_slots(
        &mut self,
        address: u32,
        plan: &Rc<[Slot]>,
        is_guess: bool,
        depth: u32,
    ) -> Result<()> {
        for slot in plan.iter() {
            self.work += 1;
            if self.work.is_multiple_of(CHECK_INTERVAL as u64) {
                self.control.count(CHECK_INTERVAL as u64)?;
            }
            let Some(left) = self.steps_left.checked_sub(1) else {
                return Ok(());
            };
            self.steps_left = left;
            let Some(at) = address.checked_add(slot.offset) else {
                continue;
            };
            match slot.holds {
                SlotKind::Pointer(target) => {
                    if let Some(word) = self.word(at) {
                        self.refer(word, target, is_guess)?;
                    }
                }
                SlotKind::Dynamic { table, target } => {
                    let table = address.checked_add(table);
                    self.refer_by_table(at, table, target)?;
                }
                SlotKind::One(target) => {
                    if let Some(word) = self.word(at) {
                        self.refer_to(word, target, (is_guess, true))?;
                    }
                }
                SlotKind::Slice(target) => self.follow_slice(at, target, is_guess)?,
                // That it takes a block says enough, also in a union.
                SlotKind::Container(kind, id) => self.follow_container(at, kind, id)?,
                SlotKind::Array(element, count) => self.place(at, element, count)?,
                SlotKind::Perhaps(member) => self.place_perhaps(at, member, 1, true)?,
                SlotKind::Variants(owner) if depth > 0 => {
                    self.follow_variant(at, owner, is_guess, depth - 1)?;
                }
                SlotKind::Variants(_) => {}
            }
        }
        Ok(())
    }

    /// A pointer to at least one value of a type.
    pub(super) fn refer(&mut self, word: u32, target: TypeId, is_guess: bool) -> Result<()> {
        self.refer_to(word, target, (is_guess, false))
    }

    /// A pointer to values of a type, or to one value only.
    fn refer_to(
        &mut self,
        word: u32,
        target: TypeId,
        (is_guess, is_one): (bool, bool),
    ) -> Result<()> {
        let Some((block, start, usable)) = self.block(word) else {
            return Ok(());
        };
        let size = self.types.size(target);
        let room = usable - (word - start);
        if size == 0 {
            return Ok(());
        }
        if size > room {
            self.conflicts += u64::from(!is_guess && word == start);
            return Ok(());
        }
        if word == start {
            // A list of libc++ has a node inside, to which its other nodes refer.
            let known = self.blocks[block.at()];
            let explains = |known: &BlockType| {
                known.evidence < TypeEvidence::Fit
                    && !known.is_array
                    && self.begins_with(known.type_id, target)
            };
            if known.as_ref().is_some_and(explains) {
                return Ok(());
            }
            let found = self.at_start(target, usable).map(|found| {
                let is_value = self.detail(found) > 1;
                if is_one && found.is_array && is_value {
                    // More comes after it, which its type does not say.
                    BlockType {
                        is_array: false,
                        evidence: TypeEvidence::Fit,
                        ..found
                    }
                } else {
                    found
                }
            });
            let is_exact = found.is_some_and(|found| found.evidence == TypeEvidence::Field);
            let Some(found) = found.filter(|_| !is_guess || is_exact) else {
                return Ok(());
            };
            let evidence = if is_guess {
                TypeEvidence::Fit
            } else {
                found.evidence
            };
            return self.assign(block, BlockType { evidence, ..found });
        }
        if is_guess {
            return Ok(());
        }
        // Before an array of C++ whose elements have destructors is their number.
        let count = self.word(word.saturating_sub(4));
        let slack = self.slack(usable);
        let has_count = word - start <= MOST_BEFORE
            && room - room % size >= room.saturating_sub(slack - 1)
            && count.is_some_and(|count| {
                let bytes = u64::from(count) * u64::from(size);
                count > 0 && bytes <= u64::from(room) && bytes + u64::from(slack) > room.into()
            });
        if let (true, Some(count)) = (has_count, count)
            && self.types.get(target).kind == TypeKind::Struct
            && self.blocks[block.at()].is_none()
        {
            let found = BlockType {
                type_id: target,
                is_array: true,
                evidence: TypeEvidence::Field,
                base: word - start,
            };
            self.assign_type(block, found)?;
            return self.place(word, target, count);
        }
        self.place(word, target, 1)
    }

    /// Gives a block a type, and goes on from its values.
    pub(super) fn assign(&mut self, block: ObjectIndex, found: BlockType) -> Result<()> {
        let (start, usable) = (
            self.walk.addresses[block.at()],
            self.walk.usable[block.at()],
        );
        let size = self.types.size(found.type_id).max(1);
        let count = if found.is_array { usable / size } else { 1 };
        if self.assign_type(block, found)? {
            self.place(start + found.base, found.type_id, count)?;
            if let Some(tail) = self.tail(found.type_id).filter(|_| !found.is_array) {
                let room = usable.saturating_sub(tail.offset);
                let count = room.checked_div(self.types.size(tail.element));
                if let Some(count) = count.filter(|&count| count > 0) {
                    self.place(start + tail.offset, tail.element, count)?;
                }
            }
        }
        Ok(())
    }

    /// Gives a block a type, unless it has a better one. Whether it has this one now.
    pub(super) fn assign_type(&mut self, block: ObjectIndex, found: BlockType) -> Result<bool> {
        let Some(known) = self.blocks[block.at()] else {
            self.blocks[block.at()] = Some(found);
            return Ok(true);
        };
        let is_same = self.is_same(known.type_id, found.type_id);
        if is_same && known.evidence <= found.evidence {
            return Ok(true);
        }
        let is_better = if is_same || self.begins_with(found.type_id, known.type_id) {
            found.evidence <= known.evidence || !is_same
        } else if self.begins_with(known.type_id, found.type_id) {
            false
        } else if self.detail(known) != self.detail(found) {
            self.detail(found) > self.detail(known)
        } else {
            let is_certain = found.evidence != TypeEvidence::Fit;
            self.conflicts += u64::from(known.evidence != TypeEvidence::Fit && is_certain);
            found.evidence < known.evidence
        };
        let is_better = is_better && known.evidence != TypeEvidence::Dynamic;
        if is_better {
            self.blocks[block.at()] = Some(found);
        }
        Ok(is_better)
    }

    /// A type by its name with scopes, as a compiler or a demangler of C++ writes it.
    pub(super) fn described(&mut self, name: &str) -> Option<TypeId> {
        let types = self.types;
        let all = self.by_full_name.get_or_insert_with(|| {
            let mut all = HashMap::new();
            for (nth, found) in (0..).zip(&types.all) {
                let is_struct = found.kind == TypeKind::Struct && found.size > 0;
                if is_struct && !found.name.is_empty() {
                    // Of the same type in several units, the first.
                    let name = compact(&types.full_name(TypeId(nth), 1));
                    all.entry(name).or_insert(TypeId(nth));
                }
            }
            all
        });
        all.get(&compact(name)).copied()
    }
}

/// A name without spaces and without the namespaces of versions of the library.
fn compact(name: &str) -> String {
    let mut name = name
        .replace("std::__1::", "std::")
        .replace("std::__2::", "std::");
    name.retain(|character| character != ' ');
    name
}

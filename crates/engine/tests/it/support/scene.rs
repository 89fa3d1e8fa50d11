//! A program, object by object.

mod memory;

use super::region::{Block, BlockKind, Region};
use super::{
    ALLOCATOR, ARRAY_BUFFER, ARRAY_BUFFER_VIEW, Class, CollectorCode, DATA_END, DumpFile,
    FIRST_BLOCK, FIRST_FREE_ID, FIRST_STATIC_PAYLOAD, FREE, HEAP_BASE, LEFT_FREE, LIST_HEADS,
    ModuleOptions, OBJECT_HEADER, Object, PAGE, PINNED_COLOR, RTTI_BASE, TAIL_POINTER, Type,
    WasmGlobal, analyze, block_payload, encode_module, flags, open,
};
use engine::assemblyscript::InMemory;
use engine::heap::Heap;
use engine::questions::LoadedHeap;
use engine::wasm::debug_info::writer::{
    ClassDescription, DebugInfoDescription, DebugSections, FieldDescription, GlobalDescription,
};
use engine::{Control, Error, Input, Program};
use std::ops::DerefMut;

/// A running program.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The contents of the debug information.
    pub description: DebugInfoDescription,
    /// The module's globals; those of the runtime come first.
    pub globals: Vec<WasmGlobal>,
    /// Run-time type flags by class id.
    type_flags: Vec<u32>,
    /// Words of memory, in the order of writing.
    writes: Vec<(u32, u32)>,
    next_static_payload: u32,
    /// The shadow stack, the oldest word first.
    stack: Vec<u32>,
    regions: Vec<Region>,
    /// Payloads of pinned objects.
    pinned: Vec<Object>,
    /// The size of the memory, if it is larger than needed.
    minimum_pages: u32,
    pub(super) data_end: u32,
    pub(super) heap_base: u32,
}

impl Default for Scene {
    fn default() -> Self {
        Self::new()
    }
}

impl Scene {
    /// A program without classes, objects and roots.
    pub fn new() -> Self {
        let constant = WasmGlobal::constant;
        let variable = WasmGlobal::variable;
        Self {
            description: DebugInfoDescription {
                producer: "warpo".to_owned(),
                ..DebugInfoDescription::default()
            },
            globals: vec![
                constant("~lib/memory/__data_end", DATA_END),
                variable("~lib/memory/__stack_pointer", HEAP_BASE),
                constant("~lib/memory/__heap_base", HEAP_BASE),
                constant("~lib/rt/__rtti_base", RTTI_BASE),
                // Only optimised builds are without it, and may be without other constants.
                constant("~lib/shared/runtime/Runtime.Incremental", 2),
                variable("~lib/rt/itcms/total", 0),
                variable("~lib/rt/itcms/state", 0),
                variable("~lib/rt/itcms/iter", 0),
                variable("~lib/rt/itcms/fromSpace", LIST_HEADS[0]),
                variable("~lib/rt/itcms/toSpace", LIST_HEADS[1]),
                variable("~lib/rt/itcms/pinSpace", LIST_HEADS[2]),
            ],
            type_flags: vec![
                flags::POINTER_FREE,
                flags::POINTER_FREE,
                flags::POINTER_FREE,
                flags::ARRAY_BUFFER_VIEW,
            ],
            writes: Vec::new(),
            next_static_payload: FIRST_STATIC_PAYLOAD,
            stack: Vec::new(),
            regions: Vec::new(),
            pinned: Vec::new(),
            minimum_pages: 1,
            data_end: DATA_END,
            heap_base: HEAP_BASE,
        }
    }

    // The program's types.

    /// Declares a class with the next free runtime id.
    pub fn class(&mut self, name: &str) -> Class {
        let id = self.next_id();
        self.class_with_id(name, Some(id))
    }

    /// Declares a class with a runtime id of choice, or without one.
    pub fn class_with_id(&mut self, name: &str, id: Option<u32>) -> Class {
        let containers = [
            ("~lib/array/Array<", flags::ARRAY),
            ("~lib/staticarray/StaticArray<", flags::STATIC_ARRAY),
            ("~lib/set/Set<", flags::SET),
            ("~lib/map/Map<", flags::MAP),
        ];
        let container = containers.iter().find(|(start, _)| name.starts_with(start));
        if let (Some(&(_, kind)), Some(id)) = (container, id) {
            self.set_flags(Class::undescribed(id), kind);
        }
        self.description.classes.push(ClassDescription {
            name: name.to_owned(),
            runtime_id: id,
            ..ClassDescription::default()
        });
        Class {
            position: Some(self.description.classes.len() - 1),
            id: id.unwrap_or(0),
        }
    }

    /// Declares a container with its type arguments.
    pub fn generic(&mut self, name: &str, arguments: &[&dyn Type]) -> Class {
        let class = self.class(name);
        let arguments: Vec<_> = arguments
            .iter()
            .map(|argument| argument.reference())
            .collect();
        let kind = self.type_flags[class.id as usize];
        self.set_flags(class, kind | flags::of_contents(kind, &arguments));
        self.described(class).type_arguments = arguments;
        class
    }

    /// A class that has objects but no description.
    pub fn undescribed_class(&mut self, type_flags: u32) -> Class {
        let class = Class::undescribed(self.next_id());
        self.set_flags(class, type_flags);
        class
    }

    /// Adds a field to a class.
    pub fn field(&mut self, class: Class, name: &str, offset: u32, target: impl Type) {
        self.described(class).fields.push(FieldDescription {
            name: name.to_owned(),
            offset,
            of: target.reference(),
        });
    }

    /// Makes a class extend another.
    pub fn inherit(&mut self, class: Class, base: Class) {
        self.described(class).base = base.position;
    }

    /// Gives a class run-time type flags.
    pub fn set_flags(&mut self, class: Class, type_flags: u32) {
        let id = class.id as usize;
        self.type_flags.resize(self.type_flags.len().max(id + 1), 0);
        self.type_flags[id] = type_flags;
    }

    fn described(&mut self, class: Class) -> &mut ClassDescription {
        &mut self.description.classes[class.position.unwrap()]
    }

    pub(super) fn next_id(&self) -> u32 {
        let described = self.description.classes.iter();
        let highest = described.filter_map(|class| class.runtime_id).max();
        (self.type_flags.len() as u32)
            .max(highest.map_or(0, |id| id + 1))
            .max(FIRST_FREE_ID)
    }

    // The heap.

    /// Allocates a managed object with a payload of `size` zero bytes.
    pub fn object(&mut self, class: Class, size: u32) -> Object {
        let kind = BlockKind::Managed { id: class.id, size };
        Object(self.block(size + OBJECT_HEADER - 4, kind) + OBJECT_HEADER)
    }

    /// Allocates an object whose payload is these words.
    pub fn object_of(&mut self, class: Class, words: &[u32]) -> Object {
        let object = self.object(class, words.len() as u32 * 4);
        self.write(object.0, words);
        object
    }

    /// Allocates an `Array` and its buffer, with room for exactly these elements.
    pub fn array(&mut self, class: Class, elements: &[Object]) -> Object {
        let words: Vec<u32> = elements.iter().map(|&element| element.0).collect();
        let buffer = self.object_of(ARRAY_BUFFER, &words);
        self.array_over(class, buffer, words.len() as u32)
    }

    /// Allocates an `Array` with an existing buffer.
    pub fn array_over(&mut self, class: Class, buffer: Object, length: u32) -> Object {
        let byte_length = length.wrapping_mul(4);
        self.object_of(class, &[buffer.0, buffer.0, byte_length, length])
    }

    /// Allocates a `Map` or `Set` and its two buffers, with these bytes as entries.
    pub fn entries(&mut self, class: Class, count: u32, entries: &[u32]) -> Object {
        let buckets = self.object(ARRAY_BUFFER, 16);
        let entries = self.object_of(ARRAY_BUFFER, entries);
        self.object_of(class, &[buckets.0, 3, entries.0, count, count, count])
    }

    /// Creates an object in static memory.
    pub fn static_object(&mut self, class: Class, words: &[u32]) -> Object {
        let size = words.len() as u32 * 4;
        let object = Object(self.next_static_payload);
        let block_size = (size + OBJECT_HEADER).next_multiple_of(16);
        self.next_static_payload += block_size;
        assert!(
            self.next_static_payload <= LIST_HEADS[0],
            "statics are full"
        );
        self.write(object.block(), &[block_size - 4, 0, 0, class.id, size]);
        self.write(object.0, words);
        object
    }

    /// Allocates memory that is no object (`heap.alloc`) and fills it; returns its block.
    pub fn raw(&mut self, words: &[u32]) -> u32 {
        let block = self.block(words.len() as u32 * 4, BlockKind::Raw);
        self.write(block + 4, words);
        block
    }

    /// Adds a free block of this size. A free block before it grows instead, as in the real allocator.
    pub fn free_block(&mut self, payload_size: u32) {
        self.block(payload_size, BlockKind::Free);
        self.region().merge_last_two_if_free();
    }

    /// Other code calls `memory.grow`, so the allocator's next region begins after these pages. Returns the
    /// address of the first page, so that a test can fill it.
    pub fn foreign_pages(&mut self, pages: u32) -> u32 {
        let region = self.region();
        let end = (region.next + 4).next_multiple_of(PAGE);
        region.end = Some(end);
        let start = end + pages * PAGE;
        self.regions.push(Region::starting_at(start));
        end
    }

    /// Makes the memory at least this large.
    pub fn grow_to(&mut self, pages: u32) {
        self.minimum_pages = pages;
    }

    /// Writes one word of an object: a number, or a reference.
    pub fn set(&mut self, object: Object, offset: u32, value: impl Into<u32>) {
        self.writes.push((object.0 + offset, value.into()));
    }

    /// Writes words anywhere.
    pub fn write(&mut self, address: u32, words: &[u32]) {
        let places = (address..).step_by(4);
        self.writes.extend(places.zip(words.iter().copied()));
    }

    /// The current region. The first use creates the heap.
    fn region(&mut self) -> &mut Region {
        if self.regions.is_empty() {
            let start = ALLOCATOR + 1572;
            self.regions.push(Region::starting_at(start));
        }
        self.regions.last_mut().unwrap()
    }

    fn block(&mut self, payload_size: u32, kind: BlockKind) -> u32 {
        let region = self.region();
        let address = region.next;
        let payload_size = block_payload(payload_size);
        region.next += payload_size + 4;
        region.blocks.push(Block {
            address,
            payload_size,
            kind,
        });
        address
    }

    // The roots.

    /// Declares a global variable; the module locates it, and it holds this value.
    pub fn global(&mut self, name: &str, target: impl Type, value: impl Into<u32>) {
        self.globals.push(WasmGlobal::variable(name, value.into()));
        let index = self.globals.len() as u32 - 1;
        self.describe_global(name, target, Some(index));
    }

    /// Declares a global variable in the debug information only.
    pub fn describe_global(&mut self, name: &str, target: impl Type, global_index: Option<u32>) {
        self.description.globals.push(GlobalDescription {
            name: name.to_owned(),
            of: target.reference(),
            global_index,
            constant_value: None,
        });
    }

    /// Sets a global of the runtime, by its name.
    pub fn set_global(&mut self, name: &str, value: u32) {
        let global = self.globals.iter_mut().find(|global| global.name == name);
        global.unwrap().value = value;
    }

    /// Pushes a word on the shadow stack.
    pub fn push_on_stack(&mut self, value: impl Into<u32>) {
        self.stack.push(value.into());
    }

    /// Pins an object, as a host does.
    pub fn pin(&mut self, object: Object) {
        self.pinned.push(object);
    }

    // The results.

    /// The sum of the block sizes of all managed heap objects, as the collector counts them.
    pub fn total(&self) -> u64 {
        self.managed()
            .map(|(block, ..)| u64::from(block.payload_size) + 4)
            .sum()
    }

    /// The dump.
    pub fn dump(&self) -> DumpFile {
        let mut dump = DumpFile::new(self.memory_size(), self.global_values().len());
        self.write_statics(&mut dump);
        for &(address, word) in &self.writes {
            dump.poke(address, word);
        }
        self.write_blocks(&mut dump);
        self.link_objects(&mut dump);
        dump
    }

    /// Writes everything outside the heap: header, global values, type flags, shadow stack.
    pub(super) fn write_statics<B: DerefMut<Target = [u8]>>(&self, dump: &mut DumpFile<B>) {
        dump.write_header(&self.global_values());
        dump.set_boundaries(self.data_end, self.heap_base, self.stack_pointer());
        let mut type_flags = self.type_flags.clone();
        let highest_used = self.managed().map(|(_, id, _)| id).max();
        let count = self.next_id().max(highest_used.map_or(0, |id| id + 1));
        type_flags.resize(count as usize, 0);
        dump.poke_all(RTTI_BASE, [count].iter().chain(&type_flags));
        dump.poke_all(self.stack_pointer(), self.stack.iter().rev());
    }

    /// The module.
    pub fn module(&self) -> Vec<u8> {
        self.module_with(&ModuleOptions::default())
    }

    /// The module, with something unusual about it.
    pub fn module_with(&self, options: &ModuleOptions) -> Vec<u8> {
        encode_module(&self.globals, &self.debug_sections(), options)
    }

    /// The module, with collector code that visits every global variable and these fields.
    pub fn module_with_collector(&self, fields: &[(Class, &[u32])]) -> Vec<u8> {
        let mut members = vec![Vec::new(); self.next_id() as usize];
        members[ARRAY_BUFFER_VIEW.id as usize] = vec![0];
        for (class, offsets) in fields {
            members[class.id as usize] = offsets.to_vec();
        }
        let variables = self.description.globals.iter();
        let globals = variables.filter_map(|variable| variable.global_index);
        self.module_with(&ModuleOptions {
            collector: Some(CollectorCode {
                globals: globals.collect(),
                members,
                ..CollectorCode::default()
            }),
            ..ModuleOptions::default()
        })
    }

    /// The debug sections by their names in the module.
    pub fn debug_sections(&self) -> Vec<(&'static str, Vec<u8>)> {
        let DebugSections {
            debug_info,
            debug_abbrev,
            debug_str,
        } = self.description.encode().unwrap();
        vec![
            ("debug_info", debug_info),
            ("debug_abbrev", debug_abbrev),
            ("debug_str", debug_str),
        ]
    }

    /// The heap as the engine reads it.
    pub fn analyze(&self) -> Heap {
        self.try_analyze().unwrap()
    }

    /// The heap as the engine reads it, or the error.
    pub fn try_analyze(&self) -> Result<Heap, Error> {
        analyze(&self.dump(), &self.module())
    }

    /// The heap, opened for questions.
    pub fn open(&self) -> LoadedHeap {
        open(&self.dump(), &self.module()).unwrap()
    }

    /// As [`open`](Self::open), with all indexes.
    pub fn open_prepared(&self) -> LoadedHeap {
        let (bytes, module) = (self.dump().bytes, self.module());
        let inputs = [("heap.dump", &bytes[..]), ("program.wasm", &module[..])];
        let [dump, wasm] = inputs.map(|(name, bytes)| Input { name, bytes });
        let control = Control::default();
        let program = Program::read(wasm, &control).unwrap();
        let contents = Box::new(InMemory(bytes.clone()));
        program.open_prepared(dump, contents, &control).unwrap()
    }

    fn stack_pointer(&self) -> u32 {
        self.heap_base - self.stack.len() as u32 * 4
    }

    fn memory_size(&self) -> u64 {
        let used = self
            .regions
            .last()
            .map_or(FIRST_BLOCK, |region| region.next);
        let needed = (u64::from(used) + 4).next_multiple_of(u64::from(PAGE));
        needed.max(u64::from(self.minimum_pages) * u64::from(PAGE))
    }

    pub(super) fn global_values(&self) -> Vec<u32> {
        let variables = self.globals.iter().filter(|global| global.is_in_dump());
        variables
            .map(|global| match global.name.as_str() {
                "~lib/memory/__stack_pointer" => self.stack_pointer(),
                "~lib/rt/itcms/total" if global.value == 0 => self.total() as u32,
                _ => global.value,
            })
            .collect()
    }
}

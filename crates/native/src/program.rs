//! A program of C, C++ or Rust, and the heaps of its dumps.

use std::hash::{DefaultHasher, Hasher};
use std::sync::{Arc, OnceLock};

use crate::warning::NativeWarning;
use base::columns;
use base::control::{Control, Phase};
use base::error::{Error, Result};
use base::input::Input;
use base::mismatch::Mismatch;
use base::side_by_side::side_by_side;
use base::tolerance::Tolerance;
use base::units::AddressForm;
use base::warning::Warning;
use dumps::{Dump, HostRoot};
use heap::{
    DumpBytes, Edges, FoundSlots, Heap, HeapError, ObjectGraph, Opened, RootKind, SearchOrder,
    UnreferencedTotals,
};
use wasm::module::{MemoryManager, Module, TLSF_ROOT};

use crate::allocator::{Allocator, UsedBlocks};
use crate::block_index::BlockIndex;
use crate::dump_memory::DumpMemory;
use crate::identity::{data_mismatch, memory_base};
use crate::no_allocator;
use crate::object_table::object_table;
use crate::references;
use crate::roots::{self, Layout, NativeRoots};
use crate::search;
use crate::slack;
use crate::typed_heap::{NativeShapes, NativeSource};
use crate::types::{TypeSummary, Typing};
use crate::unreferenced::{self, Unreferenced};
use crate::zig_brk;

/// Whether the linker of C, C++, Rust and Zig wrote a module, by the name that it gives to the stack pointer. A module of
/// AssemblyScript has another name for it. Of a module without names, the memory says it: [`has_allocator`].
pub fn is_native(module: &Module<'_>) -> bool {
    let (globals, functions) = (&module.globals, &module.functions);
    let is_assemblyscript = globals.named(TLSF_ROOT).is_some()
        || ["__new", "__pin", "__collect"]
            .iter()
            .any(|name| functions.exported(name).is_some());
    let is_linked = globals.named("__stack_pointer").is_some();
    !is_assemblyscript && (is_linked || functions.foreign_allocator().is_some())
}

/// Whether a memory has the state of an allocator that this crate reads, sound or damaged.
///
/// # Errors
/// [`Error::Aborted`](base::Error::Aborted).
pub fn has_allocator(dump: &Dump<'_>, control: &Control) -> Result<bool> {
    search::is_present(dump.memory, control)
}

/// The module of some dumps.
#[derive(Debug)]
pub struct Program<'a> {
    wasm: &'a [u8],
    module: Module<'a>,
    /// The module at its address in memory, if that is known only from a dump.
    placed: OnceLock<Module<'a>>,
    tolerance: Tolerance,
    /// Read with the first dump.
    typing: OnceLock<Typing<'a>>,
    host_roots: Vec<HostRoot>,
}

/// The graph of one dump. It does not borrow the dump.
struct NativeGraph {
    graph: ObjectGraph,
    slots: FoundSlots,
    allocator: Allocator,
    unreferenced: UnreferencedTotals,
    total_size: u64,
    memory_size: u64,
    is_partial: bool,
    warnings: Vec<Warning>,
    shapes: NativeShapes,
}

impl<'a> Program<'a> {
    /// Takes a module and its bytes.
    pub fn new(wasm: &'a [u8], module: Module<'a>) -> Self {
        Self {
            wasm,
            module,
            placed: OnceLock::new(),
            tolerance: Tolerance::default(),
            typing: OnceLock::new(),
            host_roots: Vec::new(),
        }
    }

    /// The same program, for analyses of dumps of other modules, and of damaged heaps of dlmalloc and emmalloc.
    pub fn tolerating(self, tolerance: Tolerance) -> Self {
        Self { tolerance, ..self }
    }

    /// The same program, for dumps of a host that holds these pointers, beside those that a dump says.
    pub fn with_host_roots(self, host_roots: Vec<HostRoot>) -> Self {
        Self { host_roots, ..self }
    }

    /// How much the debug information describes; nothing if it is damaged.
    ///
    /// # Errors
    /// [`Error::Aborted`](base::Error::Aborted), [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn type_summary(&self, control: &Control) -> Result<TypeSummary> {
        Ok(Typing::read(&self.module, control)?.summary())
    }

    /// Analyzes a dump of this program. The dump is dropped as soon as it is read.
    ///
    /// # Errors
    /// [`Error::InFile`](base::Error::InFile) around every error of the dump;
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory) and [`Error::Aborted`](base::Error::Aborted) without it.
    pub fn analyze(&self, dump: Input<'_, impl AsRef<[u8]>>, control: &Control) -> Result<Heap> {
        let graph = self.read(dump, false, control)?;
        Ok(graph.solve(SearchOrder::Any, control)?.0)
    }

    /// Opens a dump of this program for questions.
    ///
    /// # Errors
    /// As [`analyze`](Self::analyze).
    pub fn open(
        &self,
        dump: Input<'_, impl AsRef<[u8]>>,
        contents: Box<dyn DumpBytes>,
        control: &Control,
    ) -> Result<Opened> {
        let length = dump.bytes.as_ref().len();
        let mut graph = self.read(dump, true, control)?;
        let shapes = std::mem::take(&mut graph.shapes);
        let memory = DumpMemory::new(
            contents,
            length as u64 - graph.memory_size,
            graph.memory_size,
        );
        let allocator = graph.allocator;
        let (heap, slots) = graph.solve(SearchOrder::Deep, control)?;
        let heap = Arc::new(heap);
        let mut hasher = DefaultHasher::new();
        hasher.write(self.wasm);
        let program = hasher.finish();
        Ok(Opened {
            source: Box::new(NativeSource::new(
                Arc::clone(&heap),
                program,
                allocator,
                shapes,
                memory,
            )),
            heap,
            roots: slots.into_slots()?,
            indexes: None,
        })
    }

    fn read(
        &self,
        dump: Input<'_, impl AsRef<[u8]>>,
        wants_labels: bool,
        control: &Control,
    ) -> Result<NativeGraph> {
        let part = control.part(dump.bytes.as_ref().len() as u64);
        let read = Dump::parse(dump.bytes.as_ref())
            .and_then(|parsed| self.read_graph(&parsed, wants_labels, &part));
        read.map_err(|error| error.in_file(dump.name))
    }

    fn read_graph(
        &self,
        dump: &Dump<'_>,
        wants_labels: bool,
        control: &Control,
    ) -> Result<NativeGraph> {
        let mut warnings = Vec::new();
        let module = self.module_in(dump, control)?;
        let dump = &self.identified(module, dump, &mut warnings, control)?;
        let step = control.begin(Phase::Blocks, 1);
        let walk = self.blocks(module, dump, control)?;
        drop(step);
        let Some(mut walk) = walk else {
            return self.without_blocks(module, dump, warnings, control);
        };
        let damage = walk.damage.take();
        let is_partial = damage.is_some();
        warnings.extend(damage.map(|damage| Warning::Partial {
            damage: damage.to_string(),
        }));
        let index = BlockIndex::new(&walk)?;
        let layout = Layout::find(module, dump, &walk);
        let typing = self.typing(module, control)?;
        let names = typing.root_names();
        let mut hosts: Vec<HostRoot> = dump.host_roots.iter().collect();
        hosts.extend_from_slice(&self.host_roots);
        let blocks = (&walk, &index);
        let mut host_warnings = Vec::new();
        // What refers to what, and what nothing refers to, does not depend on types.
        let by_references = || {
            let found = references::find(dump.memory, &walk, &index, wants_labels, control)?;
            let mut roots = roots::find(module, dump, blocks, (&layout, &names), control)?;
            roots.add_hosts(&hosts, &index, &mut host_warnings)?;
            roots.kinds.sort_unstable();
            roots.kinds.dedup_by_key(|&mut (object, _)| object);
            let objects = columns::collected(roots.kinds.iter().map(|&(object, _)| object))?;
            let found = slack::without_weak(found, &objects, dump.memory, blocks, control)?;
            let entries = unreferenced::entries(&found.edges, &objects, control)?;
            Ok((found, roots, entries))
        };
        let by_types = || {
            let places = (module, dump.memory);
            typing.find(places, blocks, &layout.statics, &mut warnings, control)
        };
        let ((mut found, mut roots, entries), types) = side_by_side(by_references, by_types)?;
        warnings.extend(host_warnings);
        if wants_labels {
            let labels = found.labels(|block, word| types.label(block, word))?;
            found.edges = found.edges.labelled(labels);
        }
        let unreferenced = totals_of(&entries, &walk);
        for entry in entries.entries {
            columns::push(&mut roots.kinds, (entry, RootKind::Unreferenced))?;
            roots.slots.add_unreferenced(entry)?;
        }
        roots.kinds.sort_unstable();
        warnings.push(NativeWarning::ReferencesConservative.into());
        warnings.extend(layout.warnings());
        if hosts.is_empty() {
            warnings.extend(self.host_roots_unknown(unreferenced.count, &walk));
        }
        warnings.extend(found.nested);
        if walk.unknown_pages > 0 {
            warnings.push(
                NativeWarning::PagesUnknown {
                    count: walk.unknown_pages,
                }
                .into(),
            );
        }
        let alignment = walk.alignment;
        Ok(NativeGraph {
            allocator: walk.allocator,
            unreferenced,
            total_size: walk.size(),
            graph: ObjectGraph {
                objects: object_table(walk, &types)?,
                edges: found.edges,
                roots: roots.kinds,
            },
            slots: roots.slots,
            warnings,
            memory_size: dump.memory.size(),
            is_partial,
            shapes: NativeShapes {
                types,
                words: found.words,
                alignment,
                stack_size: layout.stack.end.saturating_sub(layout.stack.start),
            },
        })
    }
}

impl<'a> Program<'a> {
    /// The module, at the address where its static data is in this dump.
    fn module_in(&self, dump: &Dump<'_>, control: &Control) -> Result<&Module<'a>> {
        if self.module.relocation.is_none() {
            return Ok(&self.module);
        }
        if self.placed.get().is_none() {
            let base = memory_base(&self.module, dump, control)?;
            let placed = Module::parse_placed(self.wasm, base.unwrap_or(0), control)?;
            // Another thread may have found the same.
            let _ = self.placed.set(placed);
        }
        Ok(self.placed.get().unwrap_or(&self.module))
    }

    /// The blocks of the allocator; `None` if there is no allocator.
    fn blocks(
        &self,
        module: &Module<'a>,
        dump: &Dump<'_>,
        control: &Control,
    ) -> Result<Option<UsedBlocks>> {
        let pages = module.memory_limits.map(|(initial, _)| initial);
        let mut functions = module.functions.defined();
        let is_zig = functions.any(|(function, _)| {
            let name = module.functions.name(function);
            name.is_some_and(|name| name.starts_with("heap.BrkAllocator."))
        });
        if let Some(language) = module.functions.foreign_allocator() {
            let found =
                format!("the functions of the allocator of {language}, whose heap is not read");
            return Err(HeapError::AllocatorUnknown { found }.into());
        }
        let found = if is_zig {
            None
        } else {
            Some(search::walk(dump.memory, control))
        };
        let is_unknown = found.as_ref().is_none_or(|found| {
            let error = found.as_ref().err();
            error.is_some_and(is_allocator_unknown)
        });
        // An optimiser can leave no function of Zig's allocator, but its variable.
        if let Some(pages) = pages.filter(|_| is_unknown) {
            let state = self.typing(module, control)?.variable_of(zig_brk::TYPE);
            let zig = match state {
                Some(state) => zig_brk::walk_at(dump.memory, pages, state, control)?,
                None if is_zig => zig_brk::walk(dump.memory, pages, control)?,
                None => None,
            };
            if zig.is_some() {
                return Ok(zig);
            }
        }
        let found = found.unwrap_or_else(|| search::walk(dump.memory, control));
        let Err(error) = found else {
            return found.map(Some);
        };
        match error.own() {
            Some(HeapError::Corrupt { .. } | HeapError::AllocatorUnknown { .. }) => {}
            _ => return Err(error),
        }
        match MemoryManager::of(module, control)? {
            MemoryManager::Known(name) => {
                let found = format!("{name} in the module, whose heap is not read");
                Err(HeapError::AllocatorUnknown { found }.into())
            }
            MemoryManager::None if is_allocator_unknown(&error) => Ok(None),
            _ if self.tolerance.damage && !is_allocator_unknown(&error) => {
                search::walk_damaged(dump.memory, control).map(Some)
            }
            _ => Err(error),
        }
    }

    /// The heap of a module without an allocator: it has no blocks, and a warning says what is in the memory.
    fn without_blocks(
        &self,
        module: &Module<'a>,
        dump: &Dump<'_>,
        mut warnings: Vec<Warning>,
        control: &Control,
    ) -> Result<NativeGraph> {
        let walk = UsedBlocks::default();
        let mut roots = NativeRoots::default();
        let mut hosts: Vec<HostRoot> = dump.host_roots.iter().collect();
        hosts.extend_from_slice(&self.host_roots);
        roots.add_hosts(&hosts, &BlockIndex::new(&walk)?, &mut warnings)?;
        warnings.push(no_allocator::filling(module, dump, control)?.into());
        let shapes = NativeShapes::default();
        Ok(NativeGraph {
            allocator: walk.allocator,
            unreferenced: UnreferencedTotals::default(),
            total_size: 0,
            graph: ObjectGraph {
                objects: object_table(walk, &shapes.types)?,
                edges: Edges::from_rows([]),
                roots: roots.kinds,
            },
            slots: roots.slots,
            warnings,
            memory_size: dump.memory.size(),
            is_partial: false,
            shapes,
        })
    }

    /// What the debug information says.
    fn typing(&self, module: &Module<'a>, control: &Control) -> Result<&Typing<'a>> {
        if self.typing.get().is_none() {
            let read = Typing::read(module, control)?;
            // Another thread may have read the same.
            let _ = self.typing.set(read);
        }
        Ok(self.typing.get_or_init(Typing::default))
    }

    /// The warning that the host may hold what nothing in the memory refers to: the host calls more than the start of
    /// the program, or it holds most blocks.
    fn host_roots_unknown(&self, unreferenced: u64, walk: &UsedBlocks) -> Option<Warning> {
        let functions = &self.module.functions;
        let is_command = functions.exported("_start").is_some();
        let blocks = walk.addresses.len() as u64;
        let is_likely = unreferenced > 0 && (!is_command || unreferenced * 2 > blocks);
        is_likely.then_some(
            NativeWarning::HostRootsUnknown {
                unreferenced,
                blocks,
            }
            .into(),
        )
    }

    /// The dump, without the values of its globals if it has those of another module.
    fn identified<'d>(
        &self,
        module: &Module<'a>,
        dump: &Dump<'d>,
        warnings: &mut Vec<Warning>,
        control: &Control,
    ) -> Result<Dump<'d>> {
        let expected = module.globals.mutable_i32_count();
        let mismatch = Mismatch::of_globals(dump.globals.len(), expected);
        let has_foreign_globals = self.tolerance.check(mismatch, warnings)?;
        let mismatch = data_mismatch(dump, module, control)?;
        self.tolerance.check(mismatch, warnings)?;
        if dump.globals.is_empty() && expected > 0 {
            warnings.push(Warning::GlobalsMissing { expected });
        }
        Ok(if has_foreign_globals {
            dump.without_globals()
        } else {
            *dump
        })
    }
}

impl NativeGraph {
    fn solve(self, order: SearchOrder, control: &Control) -> Result<(Heap, FoundSlots)> {
        let solution = self.graph.find_dominators(order, control)?;
        let heap = Heap {
            total_size: Some(self.total_size),
            unreferenced: Some(self.unreferenced),
            address_form: AddressForm::Hexadecimal,
            root_kinds: &[
                RootKind::Global,
                RootKind::Stack,
                RootKind::Host,
                RootKind::Unreferenced,
            ],
            warnings: self.warnings,
            is_partial: self.is_partial,
            ..self.graph.into_heap(solution)
        };
        Ok((heap, self.slots))
    }
}

fn is_allocator_unknown(error: &Error) -> bool {
    matches!(error.own(), Some(HeapError::AllocatorUnknown { .. }))
}

fn totals_of(unreferenced: &Unreferenced, walk: &UsedBlocks) -> UnreferencedTotals {
    let overhead = u64::from(walk.allocator.overhead());
    let reached = unreferenced.reached.iter();
    UnreferencedTotals {
        count: unreferenced.reached.len() as u64,
        size: reached
            .map(|block| u64::from(walk.usable[block.at()]) + overhead)
            .sum(),
        entries: unreferenced.entries.len() as u64,
    }
}

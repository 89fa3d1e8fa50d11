//! A program of C, C++ or Rust, and the heaps of its dumps.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Arc, OnceLock};

use base::columns;
use base::control::{Control, Phase};
use base::error::Result;
use base::input::Input;
use base::mismatch::Mismatch;
use base::tolerance::Tolerance;
use base::units::AddressForm;
use base::warning::Warning;
use dumps::Dump;
use heap::{
    DumpBytes, FoundSlots, Heap, HeapClass, ObjectGraph, ObjectTable, Opened, RootKind,
    TypeEvidence,
};
use wasm::module::{Module, TLSF_ROOT};

use crate::dlmalloc::{self, OVERHEAD, UsedBlocks};
use crate::dump_memory::DumpMemory;
use crate::identity::data_mismatch;
use crate::references::{self, BlockIndex};
use crate::roots::{self, Layout};
use crate::source::{NativeShapes, NativeSource};
use crate::types::{BlockClasses, Typing};
use crate::unreferenced;

/// Whether the linker of C, C++, Rust and Zig wrote a module, by the name that it gives to the stack pointer. A module of
/// AssemblyScript has another name for it; one without names is not recognised.
pub fn is_native(module: &Module<'_>) -> bool {
    let (globals, functions) = (&module.globals, &module.functions);
    let is_assemblyscript = globals.named(TLSF_ROOT).is_some()
        || ["__new", "__pin", "__collect"]
            .iter()
            .any(|name| functions.exported(name).is_some());
    !is_assemblyscript && globals.named("__stack_pointer").is_some()
}

/// The module of some dumps.
#[derive(Debug)]
pub struct Program<'a> {
    wasm: &'a [u8],
    module: Module<'a>,
    tolerance: Tolerance,
    /// Read with the first dump.
    typing: OnceLock<Typing<'a>>,
}

/// The graph of one dump. It does not borrow the dump.
struct NativeGraph {
    graph: ObjectGraph,
    slots: FoundSlots,
    total_size: u64,
    memory_size: u64,
    warnings: Vec<Warning>,
    shapes: NativeShapes,
}

impl<'a> Program<'a> {
    /// Takes a module and its bytes.
    pub fn new(wasm: &'a [u8], module: Module<'a>) -> Self {
        Self {
            wasm,
            module,
            tolerance: Tolerance::default(),
            typing: OnceLock::new(),
        }
    }

    /// The same program, for analyses of dumps of other modules. A damaged heap is not tolerated.
    pub fn tolerating(self, tolerance: Tolerance) -> Self {
        Self { tolerance, ..self }
    }

    /// Analyzes a dump of this program. The dump is dropped as soon as it is read.
    ///
    /// # Errors
    /// [`Error::InFile`](base::Error::InFile) around every error of the dump;
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory) and [`Error::Aborted`](base::Error::Aborted) without it.
    pub fn analyze(&self, dump: Input<'_, impl AsRef<[u8]>>, control: &Control) -> Result<Heap> {
        let graph = self.read(dump, false, control)?;
        Ok(graph.solve(control)?.0)
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
        let (heap, slots) = graph.solve(control)?;
        let heap = Arc::new(heap);
        let mut hasher = DefaultHasher::new();
        hasher.write(self.wasm);
        let program = hasher.finish();
        Ok(Opened {
            source: Box::new(NativeSource::new(
                Arc::clone(&heap),
                program,
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
        let dump = &self.identified(dump, &mut warnings, control)?;
        let step = control.begin(Phase::Blocks, 1);
        let walk = dlmalloc::walk(dump.memory, control)?;
        drop(step);
        let index = BlockIndex::new(&walk)?;
        let references = references::find(dump.memory, &walk, &index, wants_labels, control)?;
        let layout = Layout::find(&self.module, dump, &walk);
        let typing = self.typing(control)?;
        let places = (&self.module, dump.memory);
        let blocks = (&walk, &index);
        let types = typing.find(places, blocks, &layout.statics, &mut warnings, control)?;
        let names = typing.root_names();
        let mut roots = roots::find(&self.module, dump, blocks, (&layout, &names), control)?;
        let (edges, words) = if wants_labels {
            references.labelled(|block, word| types.label(block, word))?
        } else {
            (references.unlabelled(), Vec::new())
        };
        roots.kinds.sort_unstable();
        roots.kinds.dedup_by_key(|&mut (object, _)| object);
        let objects = columns::collected(roots.kinds.iter().map(|&(object, _)| object))?;
        for entry in unreferenced::entries(&edges, &objects, control)? {
            columns::push(&mut roots.kinds, (entry, RootKind::Unreferenced))?;
            roots.slots.add_unreferenced(entry)?;
        }
        roots.kinds.sort_unstable();
        warnings.push(Warning::ReferencesConservative);
        if layout.is_guessed {
            warnings.push(Warning::StackBoundsGuessed);
        }
        let segments = walk.segments.iter();
        Ok(NativeGraph {
            total_size: segments
                .map(|range| u64::from(range.end - range.start))
                .sum(),
            graph: ObjectGraph {
                objects: object_table(walk, &types)?,
                edges,
                roots: roots.kinds,
            },
            slots: roots.slots,
            warnings,
            memory_size: dump.memory.size(),
            shapes: NativeShapes { types, words },
        })
    }
}

impl<'a> Program<'a> {
    /// What the debug information says.
    fn typing(&self, control: &Control) -> Result<&Typing<'a>> {
        if self.typing.get().is_none() {
            let read = Typing::read(&self.module, control)?;
            // Another thread may have read the same.
            let _ = self.typing.set(read);
        }
        Ok(self.typing.get_or_init(Typing::default))
    }

    /// The dump, without the values of its globals if it has those of another module.
    fn identified<'d>(
        &self,
        dump: &Dump<'d>,
        warnings: &mut Vec<Warning>,
        control: &Control,
    ) -> Result<Dump<'d>> {
        let expected = self.module.globals.mutable_i32_count();
        let mismatch = Mismatch::of_globals(dump.globals.len(), expected);
        let has_foreign_globals = self.tolerance.check(mismatch, warnings)?;
        let mismatch = data_mismatch(dump, &self.module, control)?;
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
    fn solve(self, control: &Control) -> Result<(Heap, FoundSlots)> {
        let solution = self.graph.find_dominators(control)?;
        let heap = Heap {
            total_size: Some(self.total_size),
            address_form: AddressForm::Hexadecimal,
            root_kinds: &[RootKind::Global, RootKind::Stack, RootKind::Unreferenced],
            warnings: self.warnings,
            ..self.graph.into_heap(solution)
        };
        Ok((heap, self.slots))
    }
}

/// The objects with their classes: types come first, then sizes, for blocks without a type.
fn object_table(walk: UsedBlocks, types: &BlockClasses) -> Result<ObjectTable> {
    let typed = types.classes.iter().map(|class| HeapClass {
        name: class.name.clone(),
        origin: None,
        evidence: Some(class.evidence),
        count: 0,
    });
    let mut classes: Vec<HeapClass> = typed.collect();
    let mut slots = HashMap::new();
    let mut class_slots = columns::with_capacity(walk.usable.len())?;
    for (nth, &usable) in walk.usable.iter().enumerate() {
        let known = types.class_of.get(nth).copied().flatten();
        let slot = known.unwrap_or_else(|| {
            let size = if usable < 512 {
                usable
            } else {
                1 << usable.ilog2()
            };
            *slots.entry(size).or_insert_with(|| {
                let name = if size < 512 {
                    format!("block of {size} B")
                } else {
                    format!("block of {size} to {} B", u64::from(size) * 2 - 1)
                };
                classes.push(HeapClass {
                    name,
                    origin: None,
                    evidence: Some(TypeEvidence::None),
                    count: 0,
                });
                classes.len() as u32 - 1
            })
        });
        classes[slot as usize].count += 1;
        class_slots.push(slot);
    }
    Ok(ObjectTable {
        addresses: walk.addresses,
        class_slots,
        shallow_sizes: columns::collected(walk.usable.iter().map(|&usable| usable + OVERHEAD))?,
        classes,
        ..ObjectTable::default()
    })
}

//! What is open, and the answers to calls.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::columns;
use base::control::{Control, Phase};
use base::error::Result;
use base::tolerance::Tolerance;
use engine::heap::views::{ComparisonSort, ConstructorSort, ConstructorView, Selection};
use engine::outputs::formats::{accounting_json, render_json};
use engine::questions::{self, LoadedHeap, PlaceTable, Question, WarningText};
use engine::{InMemory, Input, ReadBytes, Reading};
use serde_json::{Value, json};

use crate::call::{NamedFile, OpenCall, PageCall};
use crate::failure::{CallFailure, shown};
use crate::view::HeapView;

/// Everything that one worker has open.
pub struct Session {
    files: BTreeMap<u32, Vec<u8>>,
    heaps: BTreeMap<u32, LoadedHeap>,
    tables: BTreeMap<u32, PlaceTable>,
    views: BTreeMap<u32, HeapView>,
    last: u32,
    /// Told when a phase of work begins.
    on_phase: fn(Phase),
}

/// The bytes of a file, which a heap of memory keeps.
#[derive(Clone)]
struct OwnedFile(Arc<Vec<u8>>);

impl AsRef<[u8]> for OwnedFile {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for OwnedFile {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Arc::new(bytes))
    }
}

impl ReadBytes for OwnedFile {}

impl Session {
    /// Nothing is open. `on_phase` is called when a phase of some work begins.
    pub fn new(on_phase: fn(Phase)) -> Self {
        Self {
            files: BTreeMap::new(),
            heaps: BTreeMap::new(),
            tables: BTreeMap::new(),
            views: BTreeMap::new(),
            last: 0,
            on_phase,
        }
    }

    /// Memory for a file of this many bytes, which is filled before the file is used.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn reserve(&mut self, bytes: usize) -> Result<u32> {
        columns::check_room(bytes as u64, "a file")?;
        let file = columns::zeros(bytes)?;
        let number = self.next();
        self.files.insert(number, file);
        Ok(number)
    }

    /// The memory of a file that no call has used yet.
    pub fn file(&mut self, number: u32) -> Option<&mut Vec<u8>> {
        self.files.get_mut(&number)
    }

    /// Releases the memory of a file that no call has used yet.
    pub fn forget(&mut self, number: u32) {
        self.files.remove(&number);
    }

    /// Answers a call that is given as JSON: with JSON, or with numbers of 64 bits where the call says so.
    ///
    /// # Errors
    /// Those of the engine; `ERR_INVALID_OPTION` for another call, `ERR_HEAP_CLOSED` for a number of nothing that is open.
    pub fn answer(&mut self, call: &[u8]) -> std::result::Result<Vec<u8>, CallFailure> {
        let call = serde_json::from_slice(call).map_err(|error| CallFailure {
            code: "ERR_INVALID_OPTION",
            message: format!("the call: {error}"),
        })?;
        let control = Control::observing(self.on_phase);
        match call {
            PageCall::Open(opening) => self.open(opening, &control),
            PageCall::Ask {
                heap,
                question,
                before,
            } => self.ask(heap, &question, before, &control),
            PageCall::View { heap, before, sort } => self.view(heap, before, &sort, &control),
            PageCall::Instances { view, row } => known(&self.views, view)?.instances(row),
            PageCall::RetainedSets { view } => known(&self.views, view)?.retained_sets(&control),
            PageCall::PlaceTable { heap } => self.place_table(heap, &control),
            PageCall::Growth { tables, options } => {
                let tables = tables.iter().map(|&table| known(&self.tables, table));
                let tables = tables.collect::<std::result::Result<Vec<_>, _>>()?;
                let answer = questions::growth(&tables, &options, &control)?;
                Ok(render_json(&answer).into_bytes())
            }
            PageCall::ClassLines { table } => shown(&known(&self.tables, table)?.class_lines()),
            PageCall::Close { number } => {
                self.heaps.remove(&number);
                self.tables.remove(&number);
                self.views.remove(&number);
                shown(&Value::Null)
            }
        }
    }

    fn next(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    fn open(
        &mut self,
        opening: OpenCall,
        control: &Control,
    ) -> std::result::Result<Vec<u8>, CallFailure> {
        // Both are taken before one of them can fail.
        let dump = self.taken(&opening.dump);
        let wasm = opening.wasm.as_ref().map(|wasm| self.taken(wasm));
        let wasm = wasm.transpose()?;
        let reading = Reading::from(Tolerance {
            mismatch: opening.force,
            damage: opening.partial,
        });
        let module = opening.wasm.as_ref().zip(wasm.as_ref());
        let module = module.map(|(file, bytes)| Input {
            name: file.name.as_str(),
            bytes: bytes.as_ref(),
        });
        let heap = engine::open(
            Input {
                name: opening.dump.name.as_str(),
                bytes: dump?,
            },
            module.as_ref(),
            &reading,
            false,
            |bytes: OwnedFile| Ok((bytes.clone(), Box::new(InMemory(bytes)) as _)),
            control,
        )?;
        let facts = heap.heap();
        let warnings = facts.warnings.iter().map(WarningText::from);
        let warnings: Vec<WarningText> = warnings.collect();
        let number = self.next();
        let answer = shown(&json!({
            "heap": number,
            "accounting": facts.accounting.as_ref().map(accounting_json),
            "warnings": warnings,
            "isPartial": facts.is_partial,
            "memorySize": heap.memory_size(),
        }));
        self.heaps.insert(number, heap);
        answer
    }

    fn taken(&mut self, named: &NamedFile) -> std::result::Result<OwnedFile, CallFailure> {
        let bytes = self.files.remove(&named.file).ok_or_else(closed)?;
        Ok(bytes.into())
    }

    fn ask(
        &self,
        heap: u32,
        question: &Question,
        before: Option<u32>,
        control: &Control,
    ) -> std::result::Result<Vec<u8>, CallFailure> {
        let heap = known(&self.heaps, heap)?;
        let before = before
            .map(|before| known(&self.heaps, before))
            .transpose()?;
        if let (Question::Paths(options), Some(before)) = (question, before)
            && options.new_since
        {
            before.check_same_module(heap)?;
        }
        let answer = questions::ask(heap, question, before, control)?;
        Ok(render_json(&answer).into_bytes())
    }

    fn view(
        &mut self,
        heap: u32,
        before: Option<u32>,
        sort: &str,
        control: &Control,
    ) -> std::result::Result<Vec<u8>, CallFailure> {
        let loaded = known(&self.heaps, heap)?;
        let view = match before {
            None => {
                let sort = match sort {
                    "retained-set" => ConstructorSort::RetainedSet,
                    _ => ConstructorSort::default(),
                };
                let selection = Selection::sorted(sort);
                let heap = Arc::clone(loaded.heap());
                let view = match sort {
                    ConstructorSort::RetainedSet => ConstructorView::with_retained_sets(
                        heap,
                        selection,
                        Default::default(),
                        control,
                    ),
                    _ => ConstructorView::new(heap, selection, control),
                };
                HeapView::of_one(view?, loaded)
            }
            Some(before) => {
                let before = known(&self.heaps, before)?;
                before.check_same_module(loaded)?;
                let selection = Selection::<ComparisonSort>::default();
                HeapView::of_two(
                    loaded.compared_with(before, selection, control)?,
                    loaded,
                    before,
                )
            }
        };
        let number = self.next();
        let answer = shown(&view.facts(number));
        self.views.insert(number, view);
        answer
    }

    fn place_table(
        &mut self,
        heap: u32,
        control: &Control,
    ) -> std::result::Result<Vec<u8>, CallFailure> {
        let table = questions::place_table(known(&self.heaps, heap)?, control)?;
        let number = self.next();
        let answer = shown(&json!({
            "table": number,
            "name": table.dump_name(),
            "totalLiveSize": table.total_live_size(),
        }));
        self.tables.insert(number, table);
        answer
    }
}

fn known<T>(open: &BTreeMap<u32, T>, number: u32) -> std::result::Result<&T, CallFailure> {
    open.get(&number).ok_or_else(closed)
}

fn closed() -> CallFailure {
    CallFailure {
        code: "ERR_HEAP_CLOSED",
        message: "it was closed, or was never open".to_owned(),
    }
}

//! Puts both heaps together.

use std::sync::Arc;

use crate::JoinOptions;
use crate::collect::collect;
use crate::cycles::kept_by_cycles;
use crate::declared::declared_slots;
use crate::extra::{Extra, OwnLabels};
use crate::graph::{LeftOut, join_graphs};
use crate::host::HostProgram;
use crate::joined_source::{Half, JoinedSource};
use crate::judged::{Handle, Judged, judge};
use crate::numbers::Numbers;
use crate::objects::{joined_objects, joined_roots};
use crate::pins::Pins;
use crate::sides::Sides;
use crate::source::facts;
use crate::warning::JoinWarning;
use base::bits::Bits;
use base::columns;
use base::control::{Control, Phase};
use base::error::Result;
use base::units::{AddressForm, ObjectIndex};
use base::warning::Warning;
use heap::{
    DominatorTree, EvidenceKind, Heap, HeapTotals, HolderEvidence, JoinedSums, Opened, RootKind,
    RootSlot, RootSlots, UnsizedTree, live_classes, reached_from,
};
use v8::Snapshot;

/// Addresses of pinned objects are multiples of this.
const GRANULE: u64 = 16;

/// The kinds of roots that a joined heap can have.
const ROOT_KINDS: [RootKind; 5] = [
    RootKind::Global,
    RootKind::Stack,
    RootKind::Pinned,
    RootKind::System,
    RootKind::Unreferenced,
];

/// Joins the heap of a WebAssembly program with the heap snapshot of its host.
///
/// # Errors
/// [`JoinError`](crate::JoinError); [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
pub fn join(
    wasm: Opened,
    js: Snapshot,
    options: &JoinOptions,
    control: &Control,
) -> Result<Opened> {
    let control = &control.unreported();
    let plan = Plan::make(&wasm, &js, options, control)?;
    plan.build(wasm, js.opened, control)
}

/// What is known before the graphs are put together.
struct Plan {
    judged: Judged,
    pins: Pins,
    program: HostProgram,
    labels: OwnLabels,
    /// The references between the heaps, by source.
    between: Vec<Extra>,
    left_out: LeftOut,
    sums: JoinedSums,
    warnings: Vec<Warning>,
}

impl Plan {
    fn make(
        wasm: &Opened,
        snapshot: &Snapshot,
        options: &JoinOptions,
        control: &Control,
    ) -> Result<Self> {
        let numbers = options.numbers.as_ref();
        let step = control.begin(Phase::References, 1);
        let (js, view) = (&snapshot.opened, snapshot.view());
        let pinned = pinned_objects(wasm)?;
        let sides = Sides {
            wasm: &wasm.heap,
            pinned: &pinned,
            js: &js.heap,
            view,
        };
        let mut slots = collect(sides, numbers, &step)?;
        let mut judged = judge(&mut slots, density(wasm, &pinned))?;
        let objects = wasm.heap.objects.len() as u32;
        let all_pinned = pinned.iter_in(0..objects).map(ObjectIndex);
        let mut pins = Pins::new(objects as usize, all_pinned, &slots.listed, &judged)?;
        pins.hold(&cycles_held(wasm, &judged, control)?);
        if let Some(handles) = &options.handles {
            pins.add_stacks(handles, &wasm.heap.objects)?;
        }
        let program = HostProgram::find(&js.heap, view, options.memory_size, &step)?;

        let mut labels = OwnLabels::default();
        let declared = declared_slots([wasm, js], view, &options.slots, &mut labels, &step)?;
        let mut from_js =
            handle_references(std::mem::take(&mut judged.handles), objects, &mut labels)?;
        if let Some(instance) = program.instance {
            let instance = ObjectIndex(objects + instance.0);
            instance_references(instance, &wasm.roots, &mut labels, &mut from_js)?;
        }
        let mut between = declared.references;
        columns::reserve(&mut between, from_js.len())?;
        between.append(&mut from_js);
        // Stable, so that the slots of an object stay in their order.
        between.sort_by_key(|extra| extra.source);

        // Which blocks the host holds is what the join says.
        let is_unknown = |warning: &Warning| warning.code() == "WARN_HOST_ROOTS_UNKNOWN";
        let mut warnings = wasm.heap.warnings.clone();
        warnings.retain(|warning| !is_unknown(warning));
        warnings.extend(js.heap.warnings.iter().cloned());
        if numbers.is_none() && !program.has_size {
            warnings.push(
                JoinWarning::HostMoment {
                    memory_size: options.memory_size,
                }
                .into(),
            );
        }
        let counts = pins.counts();
        let count = counts.total - counts.exact - counts.derived;
        if numbers.is_none() && count > 0 {
            warnings.push(JoinWarning::HostNumbersMissing { count }.into());
        }
        let sums = JoinedSums {
            pinned: counts,
            numbers_read: slots.has_numbers && numbers.is_some_and(Numbers::has_containers),
            closures_read: numbers.is_some_and(Numbers::has_closures),
            instance_found: program.instance.is_some(),
            ..JoinedSums::default()
        };
        Ok(Self {
            judged,
            pins,
            program,
            labels,
            between,
            left_out: declared.left_out,
            sums,
            warnings,
        })
    }

    /// Whether a slot of the program is still a root: not if JavaScript holds its object.
    fn is_root(&self, slot: RootSlot) -> bool {
        match slot.kind {
            RootKind::Global | RootKind::Stack => self.program.instance.is_none(),
            RootKind::Pinned | RootKind::Host | RootKind::Unreferenced => {
                !self.pins.is_held(slot.object)
            }
            RootKind::System => true,
        }
    }

    fn build(mut self, wasm: Opened, js: Opened, control: &Control) -> Result<Opened> {
        let count = wasm.heap.objects.len();
        let objects = joined_objects([&wasm.heap, &js.heap], &self.program.memory_data)?;
        let roots = joined_roots(&wasm, &js, |slot| self.is_root(slot))?;
        let slots = RootSlots::of_joined(wasm.roots, js.roots, count as u32, |slot| {
            self.is_root(slot)
        })?;
        let step = control.begin(Phase::References, 1);
        let between = std::mem::take(&mut self.between);
        let graph = join_graphs([&wasm.heap, &js.heap], self.left_out, between, &step)?;
        drop(step);
        let mut by_kind = roots.clone();
        by_kind.sort_unstable_by_key(|&(object, kind)| (kind, object));
        let starts: Vec<ObjectIndex> = by_kind.into_iter().map(|(object, _)| object).collect();
        let tree = UnsizedTree::new(&graph.edges, &starts, control)?;
        let (dominators, retained_sizes, huge_retained_sizes) =
            tree.with_sizes(&objects.shallow_sizes, &objects.huge_sizes, control)?;
        let wasm_retained = wasm_retained(&dominators, &wasm.heap, objects.len())?;
        let mut heap = Heap {
            total_size: None,
            live_size: 0,
            // What is of no object is of neither heap alone.
            outside_size: 0,
            objects,
            edges: graph.edges,
            roots,
            dominators,
            retained_sizes,
            huge_retained_sizes,
            live_classes: Vec::new(),
            accounting: None,
            unreferenced: None,
            address_form: AddressForm::Joined,
            root_kinds: &ROOT_KINDS,
            is_partial: wasm.heap.is_partial || js.heap.is_partial,
            warnings: self.warnings,
        };
        heap.live_classes = live_classes(&heap);
        let sizes = heap.live_classes.iter().map(|class| class.shallow_size);
        heap.live_size = sizes.sum();
        let step = control.begin(Phase::Sizes, 1);
        let cycles = kept_by_cycles(&heap, [&wasm.heap, &js.heap], &step)?;
        drop(step);
        let sums = JoinedSums {
            javascript: totals(&heap, count..heap.objects.len()),
            wasm: totals(&heap, 0..count),
            cycles,
            ..self.sums
        };
        let heap = Arc::new(heap);
        let source = JoinedSource {
            facts: facts(wasm.source.facts(), js.source.facts()),
            heap: Arc::clone(&heap),
            wasm: half(wasm.heap, wasm.source),
            js: half(js.heap, js.source),
            labels: self.labels,
            extras: graph.extras,
            left_out: graph.left_out,
            pins: self.pins,
            possible: self.judged.possible,
            wasm_retained,
            sums,
        };
        Ok(Opened {
            heap,
            roots: slots,
            source: Box::new(source),
            indexes: None,
        })
    }
}

fn half(heap: Arc<Heap>, source: Box<dyn heap::Source>) -> Half {
    Half { heap, source }
}

/// The objects that the host may hold by their addresses.
fn pinned_objects(wasm: &Opened) -> Result<Bits> {
    let mut pinned = Bits::new(wasm.heap.objects.len())?;
    for slot in wasm.roots.all() {
        if matches!(
            slot.kind,
            RootKind::Pinned | RootKind::Host | RootKind::Unreferenced
        ) {
            pinned.insert(slot.object.0);
        }
    }
    Ok(pinned)
}

/// The objects that stand for a cycle of blocks to which nothing in the memory refers, if JavaScript holds another block of
/// the cycle.
fn cycles_held(wasm: &Opened, judged: &Judged, control: &Control) -> Result<Vec<ObjectIndex>> {
    let entries = wasm.roots.all().iter();
    let entries = entries.filter(|slot| slot.kind == RootKind::Unreferenced);
    let mut entries = entries.map(|slot| slot.object).peekable();
    if entries.peek().is_none() {
        return Ok(Vec::new());
    }
    let held = judged.handles.iter().map(|handle| handle.target);
    let reached = reached_from(&wasm.heap, held, &[], control)?;
    let is_reached =
        |object: &ObjectIndex| reached[object.at() / 64] >> (object.at() % 64) & 1 != 0;
    let mut found = Vec::new();
    for entry in entries.filter(is_reached) {
        columns::push(&mut found, entry)?;
    }
    Ok(found)
}

/// The part of all possible addresses that are those of pinned objects.
fn density(wasm: &Opened, pinned: &Bits) -> f64 {
    let count = pinned.iter_in(0..wasm.heap.objects.len() as u32).count();
    let bytes = wasm.heap.total_size.unwrap_or(0).max(GRANULE);
    // Of a heap without pinned objects, nothing is an address.
    (count as f64 / (bytes / GRANULE) as f64).clamp(1e-9, 0.999)
}

/// The references of slots with the addresses of pinned objects.
fn handle_references(
    handles: Vec<Handle>,
    first_js: u32,
    labels: &mut OwnLabels,
) -> Result<Vec<Extra>> {
    let mut references = columns::with_capacity(handles.len())?;
    for handle in handles {
        let (label, exact) = labels.of_slot(&handle.name)?;
        references.push(Extra {
            source: ObjectIndex(first_js + handle.holder.0),
            target: handle.target,
            label,
            exact,
            evidence: Some(handle.evidence),
        });
    }
    Ok(references)
}

/// The references from the instance to what its globals and its stack hold.
fn instance_references(
    instance: ObjectIndex,
    roots: &RootSlots,
    labels: &mut OwnLabels,
    into: &mut Vec<Extra>,
) -> Result<()> {
    for slot in roots.all() {
        let (kind, label) = match slot.kind {
            RootKind::Global => ("global", "global (unknown)"),
            RootKind::Stack => ("stack", "stack"),
            _ => continue,
        };
        let text = roots.name(*slot).map(|name| format!("{kind} {name}"));
        // The words of a stack move: they have one label.
        let label = match &text {
            Some(text) if slot.kind == RootKind::Global => labels.of_text(text)?,
            _ => labels.of_text(label)?,
        };
        let extra = Extra {
            source: instance,
            target: slot.object,
            label,
            exact: text,
            evidence: Some(HolderEvidence {
                kind: EvidenceKind::Exact,
                hits: 1,
                values: 1,
            }),
        };
        columns::push(into, extra)?;
    }
    Ok(())
}

/// By object: the bytes of the memory among its retained size. They fit, because a memory has at most 4 GiB, and
/// objects of 2 GiB and more are refused.
fn wasm_retained(dominators: &DominatorTree, wasm: &Heap, objects: usize) -> Result<Vec<u32>> {
    let live = dominators.live();
    let parents = dominators.immediate_dominators();
    let mut sums = columns::zeros::<u64>(live.len() + 1)?;
    let mut retained = columns::zeros::<u32>(objects)?;
    for number in (1..=live.len()).rev() {
        let object = live[number - 1];
        if object.at() < wasm.objects.len() {
            sums[number] += wasm.shallow_size(object);
        }
        let sum = sums[number];
        retained[object.at()] = u32::try_from(sum).unwrap_or(u32::MAX);
        // Dominators have smaller numbers.
        sums[parents[number] as usize] += sum;
    }
    Ok(retained)
}

fn totals(heap: &Heap, objects: std::ops::Range<usize>) -> HeapTotals {
    let objects = objects.map(|object| ObjectIndex(object as u32));
    let live = objects.filter(|&object| heap.is_live_on_heap(object));
    live.fold(HeapTotals::default(), |totals, object| HeapTotals {
        objects: totals.objects + 1,
        live_size: totals.live_size + heap.shallow_size(object),
    })
}

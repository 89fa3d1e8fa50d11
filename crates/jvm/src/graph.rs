//! From a file to a heap: reads it in passes, each of which is parallel.

use rayon::prelude::*;

use crate::class_parts::{FileInput, JavaClassParts};
use crate::classes::{JavaClasses, PlacedField};
use crate::container_layout::container_of;
use crate::contents::{MOST_BYTES, RecordOffsets};
use crate::edges::{FoundEdges, OwnNames};
use crate::graph_reader::GraphReader;
use crate::id_index::{IdIndex, Ids};
use crate::model::{JavaSlotKind, Model};
use crate::object_table::{TableMaker, sizes};
use crate::outline::Outline;
use crate::roots::{entries, starts};
use crate::scan::{FoundRecords, HprofReading, scan};
use crate::table::{ColumnReader, JavaSlots, ObjectColumns};
use crate::{HprofError, warnings};
use base::columns;
use base::control::{Control, Phase};
use base::error::Result;
use base::units::{AddressForm, ObjectIndex};
use heap::{
    Addresses, Heap, ObjectTable, RootKind, RootSlots, UnsizedTree, class_counts, live_classes,
};

/// The heap of a file.
pub(crate) struct Solved {
    pub(crate) heap: Heap,
    pub(crate) roots: RootSlots,
    /// Without what only questions need, if there are none.
    pub(crate) model: Model,
}

/// # Errors
/// [`HprofError`], [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
pub(crate) fn solve(input: FileInput<'_>, control: &Control) -> Result<Solved> {
    if input.bytes.len() as u64 >= MOST_BYTES {
        return Err(HprofError::at(0, "the file has 1 TiB or more").into());
    }
    let (outline, reading) = {
        let step = control.begin(Phase::Module, 1);
        let outline = Outline::read(input.bytes, &step)?;
        let reading = HprofReading {
            file: input.bytes,
            release: input.release,
            ids: outline.ids,
            is_partial: input.is_partial,
        };
        (outline, reading)
    };
    if outline.is_cut && !input.is_partial {
        let length = input.bytes.len() as u64;
        let expected = "the end of the heap";
        return Err(HprofError::Truncated { length, expected }.into());
    }
    let found = scan(&outline, reading, control)?;
    let parts = HprofParts::read(input, &outline, reading, found, control)?;
    parts.solve(input, control)
}

/// What the passes over the file found.
struct HprofParts {
    objects: ObjectTable,
    found: FoundEdges,
    roots: Vec<(ObjectIndex, RootKind)>,
    slots: RootSlots,
    model: Model,
    cut: Option<u64>,
    warnings: Vec<base::Warning>,
}

impl HprofParts {
    fn read(
        input: FileInput<'_>,
        outline: &Outline,
        reading: HprofReading<'_>,
        found: FoundRecords,
        control: &Control,
    ) -> Result<Self> {
        let count = found.objects.len();
        let step = control.begin(Phase::Objects, count as u64);
        let mut classes = JavaClasses::read(input.bytes, outline, &found.classes, &step)?;
        let own = OwnNames::new(&mut classes);
        let mut slots = JavaSlots::new(&classes);
        let columns = ColumnReader {
            reading,
            classes: &classes,
            objects: &found.objects,
        }
        .read(&mut slots, &step)?;
        let placed = placed_fields(&classes, &columns, reading)?;
        let parts = JavaClassParts {
            classes,
            placed,
            own,
        };
        let ids = found.objects.iter().map(|object| object.id);
        let addresses = Addresses::of_wide(columns::collected(ids)?)?;
        let sized = sizes(&parts.classes, &slots, &columns, &found, reading)?;
        let index = IdIndex::new(Ids(&addresses))?;
        drop(step);
        let step = control.begin(Phase::References, count as u64);
        let graph = GraphReader {
            input,
            outline,
            reading,
            parts: &parts,
            objects: &found.objects,
            index: &index,
            slots: &columns.slots,
        };
        let is_permanent = graph.permanent_classes(&found);
        let mut edges = graph.edges(&is_permanent, &step)?;
        let named = graph.roots(&found, &step)?;
        let roots = entries(&named)?;
        let mut root_slots = RootSlots::default();
        if input.for_questions {
            let starts = starts(&parts.classes, &is_permanent, reading, &index, count)?;
            root_slots = RootSlots::of_named(named)?.with_starts(starts)?;
        }
        let class_objects = graph.class_objects();
        let mut warnings = warnings::of_references(edges.dangling, found.cut);
        warnings.extend(warnings::of_sizes(&sized.2));
        drop(step);
        let offsets = found.objects.iter().map(|object| object.at);
        let offsets = if input.for_questions {
            RecordOffsets::new(offsets)?
        } else {
            RecordOffsets::default()
        };
        let cut = found.cut;
        drop(index);
        let mut table = TableMaker {
            slots: &slots,
            parts: &parts,
            class_objects: &class_objects,
            for_questions: input.for_questions,
        }
        .table(columns.slots, sized)?;
        table.0.addresses = addresses;
        let weak = std::mem::take(&mut edges.weak);
        let model = Model {
            is_permanent,
            ..parts.model(offsets, class_objects, table.1, weak, reading)
        };
        Ok(Self {
            objects: table.0,
            found: edges,
            roots,
            slots: root_slots,
            model,
            cut,
            warnings,
        })
    }

    fn solve(self, input: FileInput<'_>, control: &Control) -> Result<Solved> {
        let Self {
            objects,
            found,
            roots,
            slots,
            model,
            cut,
            warnings,
        } = self;
        let mut by_kind = columns::collected(roots.iter().copied())?;
        by_kind.sort_unstable_by_key(|&(object, kind)| (kind, object));
        let starts = columns::collected(by_kind.into_iter().map(|(object, _)| object))?;
        let tree = UnsizedTree::new(&found.edges, &starts, control)?;
        control.report_classes(|| class_counts(&objects, tree.reached().par_iter().copied()));
        let (dominators, retained_sizes, huge_retained_sizes) =
            tree.with_sizes(&objects.shallow_sizes, &objects.huge_sizes, control)?;
        let mut heap = Heap {
            total_size: None,
            live_size: 0,
            outside_size: 0,
            edges: found.edges,
            roots,
            dominators,
            retained_sizes,
            huge_retained_sizes,
            live_classes: Vec::new(),
            accounting: None,
            unreferenced: None,
            address_form: AddressForm::Hexadecimal,
            root_kinds: &[RootKind::Global, RootKind::Stack, RootKind::System],
            is_partial: cut.is_some(),
            warnings,
            objects,
        };
        if let (Some(offset), true) = (cut, input.is_partial) {
            heap.warnings.push(warnings::cut_at(offset));
        }
        heap.live_classes = live_classes(&heap);
        let sizes = heap.live_classes.iter().map(|class| class.shallow_size);
        heap.live_size = sizes.sum();
        Ok(Solved {
            heap,
            roots: slots,
            model,
        })
    }
}

/// By class with instances: its fields in the order of their records.
fn placed_fields(
    classes: &JavaClasses,
    columns: &ObjectColumns,
    reading: HprofReading<'_>,
) -> Result<Vec<Vec<PlacedField>>> {
    let mut all = columns::with_capacity(classes.all.len())?;
    for (class, length) in (0..).zip(&columns.instance_lengths) {
        let Some(length) = *length else {
            all.push(Vec::new());
            continue;
        };
        let placed = classes.placed_fields(class, length, reading.ids);
        all.push(placed.ok_or_else(|| {
            let name = &classes.all[class as usize].name;
            let message =
                format!("an instance of {name} has {length} bytes, but its fields do not");
            HprofError::at(0, message)
        })?);
    }
    Ok(all)
}

impl JavaClassParts {
    fn model(
        self,
        offsets: RecordOffsets,
        class_objects: Vec<(ObjectIndex, u32)>,
        slots: Vec<JavaSlotKind>,
        weak: Vec<crate::edges::WeakEdge>,
        reading: HprofReading<'_>,
    ) -> Model {
        let Self {
            classes, placed, ..
        } = self;
        let containers = (0..)
            .zip(&placed)
            .map(|(class, fields)| container_of(&classes, class, fields));
        Model {
            ids: reading.ids,
            containers: containers.collect(),
            string: Model::find_string(&classes, &placed),
            placed,
            slots,
            offsets,
            class_objects,
            is_permanent: Vec::new(),
            weak,
            length: reading.file.len() as u64,
            classes,
        }
    }
}

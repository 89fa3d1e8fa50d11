//! The instance of the program in the snapshot of its host.
//!
//! V8 writes the bytes of a memory as `system / JSArrayBufferData` of its size, below an `ArrayBuffer` below a `Memory`.
//! The instance refers to the memory: in newer versions through `system / WasmTrustedInstanceData` and an array, to which
//! all exported functions refer, before as `Instance`.

use std::collections::BTreeSet;

use base::bits::Bits;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{EdgeLabel, Heap, LabelKind, NameKind};
use v8::HostView;

/// The bytes of an `ArrayBuffer`.
const BUFFER_DATA: &str = "system / JSArrayBufferData";
const BUFFERS: [&str; 2] = ["ArrayBuffer", "SharedArrayBuffer"];
const MEMORY: &str = "Memory";
/// What an instance is called, the better one first.
const INSTANCES: [&str; 2] = ["system / WasmTrustedInstanceData", "Instance"];
/// References between an instance and its memory.
const MOST_STEPS: usize = 3;

/// What belongs to the memory of the dump.
#[derive(Debug, Default)]
pub(crate) struct HostProgram {
    /// The instance, if only one has a memory of this size.
    pub(crate) instance: Option<ObjectIndex>,
    /// The bytes of the memory as V8 counts them, if there is only one such memory.
    pub(crate) memory_data: Vec<ObjectIndex>,
    /// Whether there is a buffer of this size at all.
    pub(crate) has_size: bool,
}

impl HostProgram {
    /// Finds them by the size of the memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub(crate) fn find(
        js: &Heap,
        view: HostView<'_>,
        memory_size: u64,
        step: &Step<'_>,
    ) -> Result<Self> {
        let search = Search { js, view, step };
        let mut data = BTreeSet::new();
        for object in (0..js.objects.len() as u32).map(ObjectIndex) {
            if object.at().is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            if js.shallow_size(object) == memory_size && view.name(object) == BUFFER_DATA {
                data.insert(object);
            }
        }
        let mut program = Self {
            has_size: !data.is_empty(),
            ..Self::default()
        };
        let buffers = search.referrers(&data)?;
        let buffers = search.named(buffers, &BUFFERS);
        let memories = search.named(search.referrers(&buffers)?, &[MEMORY]);
        if memories.len() != 1 {
            return Ok(program);
        }
        // Each of these is below the one memory, or below none.
        program.memory_data = data
            .iter()
            .copied()
            .filter(|&data| search.is_below(&memories, data))
            .collect();
        let mut level = memories;
        let mut found = BTreeSet::new();
        for _ in 0..MOST_STEPS {
            let referrers = search.referrers(&level)?;
            found.extend(search.named(referrers.clone(), &INSTANCES));
            level = referrers;
            level.retain(|&object| !view.is_object(object));
        }
        program.instance = INSTANCES.iter().find_map(|name| {
            let mut of_name = found.iter().filter(|&&object| view.name(object) == *name);
            let first = of_name.next().copied();
            first.filter(|_| of_name.next().is_none())
        });
        Ok(program)
    }
}

struct Search<'h> {
    js: &'h Heap,
    view: HostView<'h>,
    step: &'h Step<'h>,
}

impl Search<'_> {
    /// The objects that refer to any of these, other than by a property of the program.
    fn referrers(&self, targets: &BTreeSet<ObjectIndex>) -> Result<BTreeSet<ObjectIndex>> {
        let mut found = BTreeSet::new();
        if targets.is_empty() {
            return Ok(found);
        }
        let edges = &self.js.edges;
        let mut wanted = Bits::new(self.js.objects.len())?;
        for target in targets {
            wanted.insert(target.0);
        }
        for holder in (0..self.js.objects.len() as u32).map(ObjectIndex) {
            if holder.at().is_multiple_of(CHECK_INTERVAL) {
                self.step.advance(0)?;
            }
            let mut positions = edges.range(holder);
            let is_referrer = positions.any(|position| {
                let kind = edges.label(position).map(EdgeLabel::kind);
                let is_own = !matches!(
                    kind,
                    Some(LabelKind::Named(NameKind::Property | NameKind::Context, _))
                );
                is_own && wanted.contains(edges.target(position).0)
            });
            if is_referrer {
                found.insert(holder);
            }
        }
        Ok(found)
    }

    fn named(&self, mut objects: BTreeSet<ObjectIndex>, names: &[&str]) -> BTreeSet<ObjectIndex> {
        objects.retain(|&object| names.contains(&&*self.view.name(object)));
        objects
    }

    /// Whether one of these memories has a buffer with this data.
    fn is_below(&self, memories: &BTreeSet<ObjectIndex>, data: ObjectIndex) -> bool {
        let edges = &self.js.edges;
        memories.iter().any(|&memory| {
            let mut buffers = edges.targets(memory).iter();
            buffers.any(|&buffer| edges.targets(buffer).contains(&data))
        })
    }
}

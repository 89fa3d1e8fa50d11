//! What only objects of one kind keep alive, by the rules of DevTools' filters: a search from the root that does not
//! pass through these objects does not find it.

use super::names::SnapshotNames;
use super::source::SnapshotSource;
use base::bits::Bits;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase, Step};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{Category, EdgeLabel, Heap, LabelKind};

/// The end of the name of a reference that the console holds.
const CONSOLE: &[u8] = b"DevTools console";

/// Where the search does not go.
enum Barrier {
    /// To these objects.
    Objects(Bits),
    /// Over references of the console.
    Console,
}

impl SnapshotSource {
    /// The objects of a category: alive, and not found.
    pub(super) fn members(&self, category: Category, control: &Control) -> Result<Bits> {
        let heap = self.heap();
        let count = heap.objects.len() as u32;
        let step = control.begin(Phase::View, 2 * u64::from(count));
        let cut = self.cut(category, &step)?;
        let found = self.found_without(&cut, &step)?;
        let names = self.names();
        let is_member =
            |object: u32| !found.contains(object) && names.distance(ObjectIndex(object)).is_some();
        Bits::of(count, is_member, control)
    }

    fn cut(&self, category: Category, step: &Step<'_>) -> Result<Barrier> {
        let (heap, names) = (self.heap(), self.names());
        let mut objects = Bits::new(heap.objects.len())?;
        for object in 0..heap.objects.len() as u32 {
            if (object as usize).is_multiple_of(CHECK_INTERVAL) {
                step.advance(CHECK_INTERVAL as u64)?;
            }
            let object = ObjectIndex(object);
            match category {
                Category::Console => return Ok(Barrier::Console),
                Category::DetachedNodes if names.is_detached_node(object) => {
                    objects.insert(object.0);
                }
                Category::Contexts if names.is_context(object) => {
                    objects.insert(object.0);
                }
                // A listener of a detached node counts with that node.
                Category::EventHandlers
                    if names.raw_name(object) == b"V8EventListener"
                        && !names.is_detached_node(object) =>
                {
                    if let Some(handler) = handler(heap, names, object) {
                        objects.insert(handler.0);
                    }
                }
                _ => {}
            }
        }
        Ok(Barrier::Objects(objects))
    }

    fn found_without(&self, cut: &Barrier, step: &Step<'_>) -> Result<Bits> {
        let (heap, names) = (self.heap(), self.names());
        let mut found = Bits::new(heap.objects.len())?;
        let mut pending: Vec<ObjectIndex> = Vec::new();
        let goes_to = |object: ObjectIndex| match cut {
            Barrier::Objects(objects) => !objects.contains(object.0),
            Barrier::Console => true,
        };
        for &(root, _) in &heap.roots {
            // What is alive without a strong reference has no distance: the root of the snapshot does not refer to it.
            if names.distance(root).is_some() && goes_to(root) && found.insert(root.0) {
                columns::push(&mut pending, root)?;
            }
        }
        let mut followed = 0usize;
        while let Some(object) = pending.pop() {
            followed += 1;
            if followed.is_multiple_of(CHECK_INTERVAL) {
                step.advance(CHECK_INTERVAL as u64)?;
            }
            let is_part = matches!(cut, Barrier::Console) && names.is_synthetic(object);
            for position in heap.edges.range(object) {
                let label = heap.edges.label(position).unwrap_or_default();
                if is_part && is_of_console(names, label) {
                    continue;
                }
                let target = heap.edges.target(position);
                if goes_to(target) && found.insert(target.0) {
                    columns::push(&mut pending, target)?;
                }
            }
            let others = names.other_edges_of(object).filter(|edge| !edge.is_weak());
            for edge in others {
                if is_part && is_of_console(names, edge.label.label()) {
                    continue;
                }
                if goes_to(edge.target) && found.insert(edge.target.0) {
                    columns::push(&mut pending, edge.target)?;
                }
            }
        }
        Ok(found)
    }
}

fn is_of_console(names: &SnapshotNames, label: EdgeLabel) -> bool {
    match label.kind() {
        LabelKind::Named(_, name) => names.strings.bytes(name).ends_with(CONSOLE),
        _ => false,
    }
}

/// The function that a listener calls: it, or the first one that an object of a framework has.
fn handler(heap: &Heap, names: &SnapshotNames, listener: ObjectIndex) -> Option<ObjectIndex> {
    let edges = &heap.edges;
    let mut positions = edges.range(listener);
    let position = positions.find(|&position| {
        let index = edges.wide_label(position).and_then(heap::WideLabel::index);
        index == Some(1)
    });
    let callback = edges.target(position?);
    let has_code = |object| names.child(edges, object, b"code").is_some();
    if has_code(callback) {
        return Some(callback);
    }
    let children = edges.targets(callback).iter().copied();
    Some(
        children
            .into_iter()
            .find(|&child| has_code(child))
            .unwrap_or(callback),
    )
}

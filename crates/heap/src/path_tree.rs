//! The path of every live object: a shortest path from a global if a global reaches it, otherwise from the
//! stack, otherwise from a pinned object. Of several, it is the first by the name of the root and the labels
//! of the steps. A breadth-first search that takes roots and references in this order finds exactly these
//! paths.
//!
//! Where references are conservative, one whose field holds a number or a text by its type is probably none. Such
//! references are followed last: a path has one only if no other path leads there from the same kind of root.
//!
//! A path may have ten million steps. It is therefore divided into pieces that can be shown as one step, such
//! as a list or a recursion, and every object stores the start of the last piece of its path. [`PathGroups`]
//! defines the pieces.

use bytemuck::Zeroable;

use super::RootKind;
use super::edges::Edges;
use super::labels::{EdgeLabel, LabelKind};
use super::node_origin::NodeOrigin;
use super::objects::ObjectTable;
use super::path_groups::{GroupFinder, PathGroup, PathGroups, TextStep};
use super::prefetch::prefetch;
use super::root_slots::{RootOrigin, RootSlot, RootSlots};
use base::bits::Bits;
use base::columns;
use base::control::{self, CHECK_INTERVAL, Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;

/// How many objects in advance each kind of memory is prefetched. Each is found with the previous one.
const OFFSETS_AHEAD: usize = 24;
const REFERENCES_AHEAD: usize = 16;
const TARGETS_AHEAD: usize = 8;
/// How many targets of one object are prefetched at a time.
const MOST_TARGETS: usize = 8;
/// The parent of the first object of a path.
const NO_PARENT: u32 = u32::MAX;

/// The paths of all live objects.
#[derive(Debug)]
pub struct PathTree {
    nodes: Vec<TreeNode>,
    groups: PathGroups,
    /// Labels of references to an object's own storage.
    storage: Vec<EdgeLabel>,
    /// By class slot: whether its objects are storage of what refers to them.
    storage_slots: Vec<bool>,
}

/// An object in the tree.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
struct TreeNode {
    /// The object before it.
    parent: u32,
    /// The first object of the last piece of its path.
    entry: u32,
    group: PathGroup,
    /// The label of the reference from the parent.
    label: EdgeLabel,
    origin: NodeOrigin,
}

/// A breadth-first search from the roots.
struct PathSearch<'s> {
    objects: &'s ObjectTable,
    edges: &'s Edges,
    nodes: Vec<TreeNode>,
    groups: GroupFinder<'s>,
    /// Objects whose references were followed, then objects whose references were not followed yet.
    queue: Vec<ObjectIndex>,
    followed: usize,
    /// The last entry and group to which a path returned, and the entry that it got.
    last_back: ((u32, PathGroup), u32),
    step: &'s control::Step<'s>,
    /// Objects of the engine, which are left out for now.
    left_out: Option<&'s Bits>,
    /// The objects that refer to what was left out.
    waiting: Vec<ObjectIndex>,
}

impl<'s> PathSearch<'s> {
    /// Begins at what is not a root: first of the program, whose globals come with it, then of the engine.
    fn begin_before_roots(&mut self, roots: &'s RootSlots) -> Result<()> {
        let starts = &roots.starts;
        if starts.program.is_empty() && starts.engine.is_empty() {
            return Ok(());
        }
        self.left_out = Some(&starts.is_engine);
        let globals = roots.all().iter();
        let globals = globals.filter(|slot| slot.kind == RootKind::Global);
        for &slot in starts.program.iter().chain(globals) {
            self.begin_at(slot, roots.origin(slot))?;
        }
        self.follow_all(RootKind::Global)?;
        self.left_out = Some(&starts.realms);
        for &slot in &starts.engine {
            self.begin_at(slot, roots.origin(slot))?;
        }
        self.follow_all(RootKind::Global)?;
        self.follow_waiting()?;
        self.left_out = None;
        Ok(())
    }

    /// Follows the references to what was left out, as far as it is not left out any more.
    fn follow_waiting(&mut self) -> Result<()> {
        for source in std::mem::take(&mut self.waiting) {
            self.follow::<false>(source, RootKind::Global, false)?;
        }
        self.follow_all(RootKind::Global)
    }

    /// Adds the object to which a root refers.
    fn begin_at(&mut self, slot: RootSlot, origin: RootOrigin) -> Result<()> {
        let object = slot.object;
        if self.nodes[object.at()].origin.0 != 0 {
            return Ok(());
        }
        self.nodes[object.at()] = TreeNode {
            parent: NO_PARENT,
            entry: object.0,
            group: self.groups.first(origin, object)?,
            label: EdgeLabel::default(),
            origin: NodeOrigin::new(1, true, slot.kind),
        };
        columns::push(&mut self.queue, object)
    }

    /// Follows references until no new objects are found.
    fn follow_all(&mut self, kind: RootKind) -> Result<()> {
        if self.objects.plain_fields.iter().all(Vec::is_empty) {
            return self.follow_queue::<false>(kind);
        }
        let mut nth = self.followed;
        self.follow_queue::<true>(kind)?;
        while let Some(&source) = self.queue.get(nth) {
            nth += 1;
            if nth.is_multiple_of(CHECK_INTERVAL) {
                self.step.advance(0)?;
            }
            if !self.plain_fields(source).is_empty() {
                self.follow::<true>(source, kind, true)?;
                self.follow_queue::<true>(kind)?;
            }
        }
        Ok(())
    }

    /// By the number of a field, whether the type of the object says that it holds no reference.
    #[inline]
    fn plain_fields(&self, object: ObjectIndex) -> &'s [bool] {
        let slot = self.objects.class_slots[object.at()] as usize;
        self.objects
            .plain_fields
            .get(slot)
            .map_or(&[], Vec::as_slice)
    }

    /// Follows the references of all objects in the queue; if types are known, without those out of plain fields.
    fn follow_queue<const TYPED: bool>(&mut self, kind: RootKind) -> Result<()> {
        while let Some(&source) = self.queue.get(self.followed) {
            self.followed += 1;
            self.prefetch_ahead();
            if self.followed.is_multiple_of(CHECK_INTERVAL) {
                self.step.advance(CHECK_INTERVAL as u64)?;
            }
            self.follow::<TYPED>(source, kind, false)?;
        }
        Ok(())
    }

    #[inline]
    fn prefetch_ahead(&self) {
        let edges = self.edges;
        if let Some(&ahead) = self.queue.get(self.followed + OFFSETS_AHEAD) {
            edges.prefetch_range(ahead);
        }
        if let Some(&ahead) = self.queue.get(self.followed + REFERENCES_AHEAD) {
            edges.prefetch_references(ahead);
        }
        if let Some(&ahead) = self.queue.get(self.followed + TARGETS_AHEAD) {
            prefetch(&self.nodes, ahead.0);
            edges
                .range(ahead)
                .take(MOST_TARGETS)
                .for_each(|position| self.prefetch_target(position));
        }
    }

    #[inline]
    fn prefetch_target(&self, position: u32) {
        let target = self.edges.target(position);
        prefetch(&self.nodes, target.0);
        prefetch(&self.objects.class_slots, target.0);
    }

    /// Adds the objects to which an object refers, and which are not found yet. If types are known, only by references
    /// out of plain fields, or only by all others.
    #[inline]
    fn follow<const TYPED: bool>(
        &mut self,
        source: ObjectIndex,
        kind: RootKind,
        wants_plain: bool,
    ) -> Result<()> {
        let plain = if TYPED {
            self.plain_fields(source)
        } else {
            &[]
        };
        let parent = self.nodes[source.at()];
        let is_storage = self.groups.is_storage(parent.group, source);
        let range = self.edges.range(source);
        for position in range.clone() {
            let ahead = position.saturating_add(MOST_TARGETS as u32);
            if ahead < range.end {
                self.prefetch_target(ahead);
            }
            let target = self.edges.target(position);
            if self.nodes[target.at()].origin.0 != 0 {
                continue;
            }
            if self.left_out.is_some_and(|out| out.contains(target.0)) {
                if self.waiting.last() != Some(&source) {
                    columns::push(&mut self.waiting, source)?;
                }
                continue;
            }
            let label = self.edges.label(position).unwrap_or_default();
            if TYPED && is_plain(plain, label) != wants_plain {
                continue;
            }
            // What an owner and its storage refer to are the same elements.
            let step_label = match label.kind() {
                LabelKind::Hidden if is_storage => EdgeLabel::ELEMENT,
                _ => label,
            };
            let (group, step) = self.groups.next(parent.group, step_label, target)?;
            let entry = match step {
                TextStep::SameClass => parent.entry,
                TextStep::New => target.0,
                TextStep::Back(to) => {
                    // The references of one object often return to the same group.
                    if self.last_back.0 != (parent.entry, to) {
                        let entry = entry_of(&self.nodes, parent.entry, to);
                        self.last_back = ((parent.entry, to), entry);
                    }
                    self.last_back.1
                }
            };
            let is_uniform = match step {
                TextStep::New => true,
                // The first reference of a piece leads to its entry and is not counted.
                TextStep::SameClass => {
                    parent.origin.is_uniform()
                        && group != PathGroup::REST
                        && (parent.entry == source.0 || parent.label == label)
                }
                TextStep::Back(_) => false,
            };
            self.nodes[target.at()] = TreeNode {
                parent: source.0,
                entry,
                group,
                label,
                origin: NodeOrigin::new(parent.origin.depth() + 1, is_uniform, kind),
            };
            columns::push(&mut self.queue, target)?;
        }
        Ok(())
    }
}

impl PathTree {
    /// The size of the index in bytes.
    pub fn memory_size(&self) -> u64 {
        (self.nodes.capacity() * size_of::<TreeNode>()) as u64
    }

    /// Finds the paths of all live objects, given all objects, their references with labels, and the roots.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub fn new(
        objects: &ObjectTable,
        edges: &Edges,
        roots: &RootSlots,
        control: &Control,
    ) -> Result<Self> {
        let count = objects.len();
        let step = control.begin(Phase::View, count as u64);
        let mut search = PathSearch {
            objects,
            edges,
            nodes: columns::zeros::<TreeNode>(count)?,
            groups: GroupFinder::new(objects, &roots.starts),
            queue: columns::with_capacity(count)?,
            followed: 0,
            last_back: ((NO_PARENT, PathGroup::REST), NO_PARENT),
            step: &step,
            left_out: None,
            waiting: Vec::new(),
        };
        search.begin_before_roots(roots)?;
        let slots = roots.all();
        for (nth, slot) in slots.iter().enumerate() {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            search.begin_at(*slot, roots.origin(*slot))?;
            // All objects that one kind of root reaches are found before the next kind begins.
            let is_last_of_kind = slots.get(nth + 1).is_none_or(|next| next.kind != slot.kind);
            if is_last_of_kind {
                search.follow_all(slot.kind)?;
            }
        }
        search.follow_waiting()?;
        let (groups, storage_slots) = search.groups.finish();
        Ok(Self {
            nodes: search.nodes,
            groups,
            storage: roots.starts.storage.clone(),
            storage_slots,
        })
    }

    /// Asks for the memory of an object's path.
    #[inline]
    pub fn prefetch(&self, object: ObjectIndex) {
        prefetch(&self.nodes, object.0);
    }

    /// Whether a reference leads to the storage of its holder, which is of the same group.
    pub fn is_storage(&self, label: EdgeLabel) -> bool {
        self.storage.contains(&label)
    }

    /// Whether objects of a class are storage of what refers to them, given the first slot of its name.
    pub fn is_storage_class(&self, slot: u32) -> bool {
        self.storage_slots.get(slot as usize) == Some(&true)
    }

    /// Whether there is storage of the same group as its owner.
    pub fn has_storage(&self) -> bool {
        !self.storage.is_empty()
    }

    /// Whether a root reaches an object.
    pub fn is_reached(&self, object: ObjectIndex) -> bool {
        self.nodes[object.at()].origin.0 != 0
    }

    /// The kind of root of an object's path; `None` if no root reaches it.
    #[inline]
    pub fn root_kind(&self, object: ObjectIndex) -> Option<RootKind> {
        self.nodes[object.at()].origin.root()
    }

    /// The group of a live object's path.
    #[inline]
    pub fn group(&self, object: ObjectIndex) -> PathGroup {
        self.nodes[object.at()].group
    }

    /// The groups of all paths.
    pub fn groups(&self) -> &PathGroups {
        &self.groups
    }

    /// The object before a live one on its path, and the label of the reference; `None` if a root
    /// refers to it.
    pub fn parent(&self, object: ObjectIndex) -> Option<(ObjectIndex, EdgeLabel)> {
        let node = self.nodes[object.at()];
        (node.parent != NO_PARENT).then_some((ObjectIndex(node.parent), node.label))
    }

    /// The pieces of a live object's path, from the root on.
    pub fn pieces(&self, object: ObjectIndex) -> Vec<PathPiece> {
        let mut pieces = Vec::new();
        let mut last = Some(object);
        while let Some(end) = last {
            let node = self.nodes[end.at()];
            let first = ObjectIndex(node.entry);
            pieces.push(PathPiece {
                first,
                last: end,
                repeat: node.origin.depth() - self.nodes[first.at()].origin.depth(),
                is_uniform: node.origin.is_uniform(),
            });
            last = self.parent(first).map(|(parent, _)| parent);
        }
        pieces.reverse();
        pieces
    }
}

/// A part of a path that is shown as one step: an object, and the objects after it until the path finally
/// leaves the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPiece {
    /// The first object.
    pub first: ObjectIndex,
    /// The last object.
    pub last: ObjectIndex,
    /// The number of references from the first to the last.
    pub repeat: u32,
    /// Whether these all have the same label.
    pub is_uniform: bool,
}

/// Whether a reference comes out of one of these fields.
fn is_plain(fields: &[bool], label: EdgeLabel) -> bool {
    let LabelKind::Field(field) = label.kind() else {
        return false;
    };
    fields.get(field as usize) == Some(&true)
}

/// The start of the piece of this group, searched upwards from the piece that begins with `entry`.
fn entry_of(nodes: &[TreeNode], mut entry: u32, group: PathGroup) -> u32 {
    while nodes[entry as usize].group != group {
        entry = nodes[nodes[entry as usize].parent as usize].entry;
    }
    entry
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;
    use crate::{FoundSlots, HeapClass};

    /// The path to the last of four objects: object 0 is a root, refers by field 0 to object 3, and by field 1 to object 1,
    /// which leads to object 3 by way of object 2.
    fn path_to_last(plain_fields: Vec<Vec<bool>>, chain: &[(u32, u32)]) -> Vec<u32> {
        let class = HeapClass {
            name: "node".to_owned(),
            origin: None,
            evidence: None,
            count: 4,
        };
        let objects = ObjectTable {
            addresses: vec![8, 16, 24, 32].into(),
            class_slots: vec![0; 4],
            shallow_sizes: vec![8; 4],
            classes: vec![class],
            plain_fields,
            ..ObjectTable::default()
        };
        let mut offsets = vec![0];
        let (mut targets, mut labels) = (Vec::new(), Vec::new());
        for source in 0..4 {
            let all = [(0, 3, 0)].into_iter();
            let all = all.chain(chain.iter().map(|&(from, to)| (from, to, 1)));
            for (_, target, field) in all.filter(|&(from, ..)| from == source) {
                targets.push(ObjectIndex(target));
                labels.push(EdgeLabel::field(field).narrow());
            }
            offsets.push(targets.len() as u32);
        }
        let edges = Edges::with_narrow_labels(offsets, targets, labels);
        let mut slots = FoundSlots::default();
        slots.add_global("first", ObjectIndex(0)).unwrap();
        let slots = slots.into_slots().unwrap();
        let tree = PathTree::new(&objects, &edges, &slots, &Control::default()).unwrap();
        let mut path = vec![3];
        while let Some((parent, _)) = tree.parent(ObjectIndex(path[0])) {
            path.insert(0, parent.0);
        }
        path
    }

    #[test]
    fn a_field_that_holds_a_number_is_followed_last() {
        let chain = [(0, 1), (1, 2), (2, 3)];
        assert_eq!(path_to_last(Vec::new(), &chain), [0, 3]);
        let plain = || vec![vec![true, false]];
        assert_eq!(path_to_last(plain(), &chain), [0, 1, 2, 3]);
        // Without another path, it is followed nevertheless.
        assert_eq!(path_to_last(plain(), &chain[..2]), [0, 3]);
    }
}

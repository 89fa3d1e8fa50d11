//! The path of every live object: a shortest path from a global if a global reaches it, otherwise from the
//! stack, otherwise from a pinned object. Of several, it is the first by the name of the root and the labels
//! of the steps. A breadth-first search that takes roots and references in this order finds exactly these
//! paths.
//!
//! A path may have ten million steps. It is therefore divided into pieces that can be shown as one step, such
//! as a list or a recursion, and every object stores the start of the last piece of its path. [`PathGroups`]
//! defines the pieces.

use bytemuck::Zeroable;

use super::RootKind;
use super::edges::Edges;
use super::labels::EdgeLabel;
use super::objects::ObjectTable;
use super::path_groups::{GroupFinder, PathGroup, PathGroups, TextStep};
use super::prefetch::prefetch;
use super::root_slots::{RootOrigin, RootSlot, RootSlots};
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

/// The rest of a node in 32 bits: from the highest one, three bits for the kind of root from which the path
/// begins, one for whether all references since the entry have the same label, and the number of objects on the
/// path, the node included. All are 0 if no root reaches the object.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
struct NodeOrigin(u32);

/// More objects than a heap can have.
const MOST_DEPTH: u32 = (1 << 28) - 1;

impl NodeOrigin {
    fn new(depth: u32, is_uniform: bool, root: RootKind) -> Self {
        let root = root as u32 + 1;
        Self(root << 29 | u32::from(is_uniform) << 28 | depth & MOST_DEPTH)
    }

    fn depth(self) -> u32 {
        self.0 & MOST_DEPTH
    }

    fn is_uniform(self) -> bool {
        self.0 >> 28 & 1 != 0
    }

    fn root(self) -> Option<RootKind> {
        match self.0 >> 29 {
            1 => Some(RootKind::Global),
            2 => Some(RootKind::Stack),
            3 => Some(RootKind::Pinned),
            4 => Some(RootKind::System),
            5 => Some(RootKind::Host),
            6 => Some(RootKind::Unreferenced),
            _ => None,
        }
    }
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
}

impl PathSearch<'_> {
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
        while let Some(&source) = self.queue.get(self.followed) {
            self.followed += 1;
            self.prefetch_ahead();
            if self.followed.is_multiple_of(CHECK_INTERVAL) {
                self.step.advance(CHECK_INTERVAL as u64)?;
            }
            self.follow(source, kind)?;
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

    /// Adds the objects to which an object refers, and which are not found yet.
    #[inline]
    fn follow(&mut self, source: ObjectIndex, kind: RootKind) -> Result<()> {
        let parent = self.nodes[source.at()];
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
            let label = self.edges.label(position).unwrap_or_default();
            let (group, step) = self.groups.next(parent.group, label, target)?;
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
            groups: GroupFinder::new(objects),
            queue: columns::with_capacity(count)?,
            followed: 0,
            last_back: ((NO_PARENT, PathGroup::REST), NO_PARENT),
            step: &step,
        };
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
        Ok(Self {
            nodes: search.nodes,
            groups: search.groups.finish(),
        })
    }

    /// Asks for the memory of an object's path.
    #[inline]
    pub fn prefetch(&self, object: ObjectIndex) {
        prefetch(&self.nodes, object.0);
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

/// The start of the piece of this group, searched upwards from the piece that begins with `entry`.
fn entry_of(nodes: &[TreeNode], mut entry: u32, group: PathGroup) -> u32 {
    while nodes[entry as usize].group != group {
        entry = nodes[nodes[entry as usize].parent as usize].entry;
    }
    entry
}

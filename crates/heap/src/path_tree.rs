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
use super::path_groups::{Groups, PathGroup, PathGroups, Step};
use super::prefetch::prefetch;
use super::root_slots::RootSlots;
use base::columns;
use base::control::{Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;

/// The number of objects between two checks for cancellation.
const CHECK_INTERVAL: usize = 1 << 14;
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
    nodes: Vec<Node>,
    groups: PathGroups,
}

/// An object's place in the tree.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
struct Node {
    /// The object before it.
    parent: u32,
    /// The first object of the last piece of its path.
    entry: u32,
    group: PathGroup,
    /// The label of the reference from the parent.
    label: EdgeLabel,
    place: Place,
}

/// The rest of a node in 32 bits: from the highest one, three bits for the kind of root from which the path
/// begins, one for whether all references since the entry have the same label, and the number of objects on the
/// path, the node included. All are 0 if no root reaches the object.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
struct Place(u32);

/// More objects than a heap can have.
const MOST_DEPTH: u32 = (1 << 28) - 1;

impl Place {
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
            _ => None,
        }
    }
}

impl PathTree {
    /// The size of the index in bytes.
    pub fn memory_size(&self) -> u64 {
        (self.nodes.capacity() * size_of::<Node>()) as u64
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
        let mut nodes = columns::zeros::<Node>(count)?;
        let mut groups = Groups::new(objects);
        // Objects whose references were followed, then objects whose references were not followed yet.
        let mut queue: Vec<ObjectIndex> = columns::with_capacity(count)?;
        let mut followed = 0;
        let mut last_back = ((NO_PARENT, PathGroup::REST), NO_PARENT);
        let prefetch_target = |nodes: &[Node], place: u32| {
            let target = edges.target(place);
            prefetch(nodes, target.0);
            prefetch(&objects.class_slots, target.0);
        };
        let slots = roots.all();
        for (nth, slot) in slots.iter().enumerate() {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            let object = slot.object;
            if nodes[object.at()].place.0 == 0 {
                nodes[object.at()] = Node {
                    parent: NO_PARENT,
                    entry: object.0,
                    group: groups.first(roots.origin(*slot), object)?,
                    label: EdgeLabel::default(),
                    place: Place::new(1, true, slot.kind),
                };
                columns::push(&mut queue, object)?;
            }
            // All objects that one kind of root reaches are found before the next kind begins.
            let is_last_of_kind = slots.get(nth + 1).is_none_or(|next| next.kind != slot.kind);
            if !is_last_of_kind {
                continue;
            }
            while let Some(&source) = queue.get(followed) {
                followed += 1;
                if let Some(&ahead) = queue.get(followed + OFFSETS_AHEAD) {
                    edges.prefetch_range(ahead);
                }
                if let Some(&ahead) = queue.get(followed + REFERENCES_AHEAD) {
                    edges.prefetch_references(ahead);
                }
                if let Some(&ahead) = queue.get(followed + TARGETS_AHEAD) {
                    prefetch(&nodes, ahead.0);
                    edges
                        .range(ahead)
                        .take(MOST_TARGETS)
                        .for_each(|place| prefetch_target(&nodes, place));
                }
                if followed.is_multiple_of(CHECK_INTERVAL) {
                    step.advance(CHECK_INTERVAL as u64)?;
                }
                let parent = nodes[source.at()];
                // The queue is emptied before the next kind begins.
                let kind = slot.kind;
                let range = edges.range(source);
                for place in range.clone() {
                    let ahead = place.saturating_add(MOST_TARGETS as u32);
                    if ahead < range.end {
                        prefetch_target(&nodes, ahead);
                    }
                    let target = edges.target(place);
                    if nodes[target.at()].place.0 != 0 {
                        continue;
                    }
                    let label = edges.label(place).unwrap_or_default();
                    let (group, step) = groups.next(parent.group, label, target)?;
                    let entry = match step {
                        Step::SameClass => parent.entry,
                        Step::New => target.0,
                        Step::Back(to) => {
                            // The references of one object often return to the same group.
                            if last_back.0 != (parent.entry, to) {
                                let entry = entry_of(&nodes, parent.entry, to);
                                last_back = ((parent.entry, to), entry);
                            }
                            last_back.1
                        }
                    };
                    let is_uniform = match step {
                        Step::New => true,
                        // The first reference of a piece leads to its entry and is not counted.
                        Step::SameClass => {
                            parent.place.is_uniform()
                                && group != PathGroup::REST
                                && (parent.entry == source.0 || parent.label == label)
                        }
                        Step::Back(_) => false,
                    };
                    nodes[target.at()] = Node {
                        parent: source.0,
                        entry,
                        group,
                        label,
                        place: Place::new(parent.place.depth() + 1, is_uniform, kind),
                    };
                    columns::push(&mut queue, target)?;
                }
            }
        }
        Ok(Self {
            nodes,
            groups: groups.finish(),
        })
    }

    /// Asks for the memory of an object's path.
    #[inline]
    pub fn prefetch(&self, object: ObjectIndex) {
        prefetch(&self.nodes, object.0);
    }

    /// Whether a root reaches an object.
    pub fn is_reached(&self, object: ObjectIndex) -> bool {
        self.nodes[object.at()].place.0 != 0
    }

    /// The kind of root of an object's path; `None` if no root reaches it.
    #[inline]
    pub fn root_kind(&self, object: ObjectIndex) -> Option<RootKind> {
        self.nodes[object.at()].place.root()
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
                repeat: node.place.depth() - self.nodes[first.at()].place.depth(),
                is_uniform: node.place.is_uniform(),
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
fn entry_of(nodes: &[Node], mut entry: u32, group: PathGroup) -> u32 {
    while nodes[entry as usize].group != group {
        entry = nodes[nodes[entry as usize].parent as usize].entry;
    }
    entry
}

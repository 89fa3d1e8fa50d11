//! What all passes need, and the lines of nodes and edges.

use super::super::output::Line;
use super::chosen::Chosen;
use super::names::NumberedNames;
use super::object_ids::ObjectIds;
use super::options::HeapSnapshotOptions;
use super::schema::{EdgeType, NODE_FIELDS, NodeType};
use base::control::Step;
use base::units::ObjectIndex;
use heap::{ClassNaming, LabelKind, NamedBy};
use questions::LoadedHeap;

/// A snapshot that is written.
pub(super) struct Writer<'h> {
    pub(super) heap: &'h LoadedHeap,
    /// By class slot.
    pub(super) classes: Vec<ClassNaming>,
    pub(super) ids: ObjectIds,
    pub(super) options: HeapSnapshotOptions,
    pub(super) names: NumberedNames,
    pub(super) chosen: &'h Chosen,
    pub(super) step: Step<'h>,
}

impl Writer<'_> {
    /// Whether an object is named by what it contains.
    #[inline]
    pub(super) fn shows_contents(&self, object: ObjectIndex) -> bool {
        self.options.strings && self.naming(object).is_text
    }

    #[inline]
    pub(super) fn node(
        &self,
        line: &mut Line,
        node_type: NodeType,
        name: u32,
        id: u32,
        self_size: u32,
        edges: u32,
    ) {
        line.character(b'0');
        line.character(b',');
        line.character(b'0');
        for number in [edges, self_size, id, name, node_type as u32] {
            line.character(b',');
            line.number(number);
        }
    }

    /// How the references of an object are named.
    #[inline]
    pub(super) fn naming(&self, object: ObjectIndex) -> ClassNaming {
        self.classes[self.heap.heap().objects.class_slots[object.at()] as usize]
    }

    /// The type and the number of the name that a reference has by its label.
    #[inline]
    pub(super) fn label_name(&self, class_slot: usize, position: u32) -> (EdgeType, u32) {
        let names = &self.names;
        let label = self.heap.heap().edges.label(position);
        let name = match label.map(|label| label.kind()) {
            Some(LabelKind::TupleElement(nth)) => return (EdgeType::Element, nth),
            Some(LabelKind::Field(nth)) => names.field(class_slot, nth),
            Some(LabelKind::Word(offset)) => names.word(offset),
            Some(LabelKind::FarField) => names.far_field,
            Some(LabelKind::Key) => names.any_key,
            Some(LabelKind::Member) => names.any_member,
            _ => names.any_element,
        };
        (EdgeType::Property, name)
    }

    /// There are fewer objects than blocks of 16 bytes, so the numbers of nodes have room.
    #[inline]
    pub(super) fn edge(&self, line: &mut Line, edge_type: EdgeType, name: u32, node: u32) {
        line.number(node * NODE_FIELDS);
        line.character(b',');
        line.number(name);
        line.character(b',');
        line.number(edge_type as u32);
    }
}

/// How references are named, by class slot. Keys are named only with what strings contain.
pub(super) fn class_namings(heap: &LoadedHeap, options: HeapSnapshotOptions) -> Vec<ClassNaming> {
    let slots = 0..heap.heap().objects.classes.len() as u32;
    let contents = heap.source().all_contents();
    let namings = slots.map(|slot| {
        let naming = contents.map_or_else(ClassNaming::default, |all| all.class_naming(slot));
        match naming.by {
            NamedBy::Key if !options.strings => ClassNaming {
                by: NamedBy::Label,
                ..naming
            },
            _ => naming,
        }
    });
    namings.collect()
}

//! The words of blocks that refer to other blocks, as values. A field is the offset of its word, as labels show it:
//! `+0x8`.

use base::columns;
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{Cell, EdgeLabel, FieldReader, FieldType, Heap, LabelKind};

/// Reads the references of blocks.
pub(crate) struct NativeFields<'h> {
    heap: &'h Heap,
    /// By field: its offset, if its name is one.
    offsets: Vec<Option<u32>>,
    control: Control,
}

/// The offset that a name of a field is.
fn offset_of(name: &str) -> Option<u32> {
    u32::from_str_radix(name.strip_prefix("+0x")?, 16).ok()
}

/// What a field with this name holds.
pub(crate) fn type_of_field(name: &str) -> Option<FieldType> {
    offset_of(name).map(|_| FieldType::Reference)
}

impl<'h> NativeFields<'h> {
    pub(crate) fn new(heap: &'h Heap, names: &[String], control: &Control) -> Self {
        Self {
            heap,
            offsets: names.iter().map(|name| offset_of(name)).collect(),
            control: control.clone(),
        }
    }
}

impl FieldReader for NativeFields<'_> {
    fn fields(
        &mut self,
        field: usize,
        objects: &[ObjectIndex],
        into: &mut Vec<Cell>,
    ) -> Result<()> {
        columns::reserve(into, objects.len())?;
        let edges = &self.heap.edges;
        let wanted = self.offsets.get(field).copied().flatten();
        let is_wanted = |position: &u32| match edges.label(*position).map(EdgeLabel::kind) {
            Some(LabelKind::Word(offset)) => Some(offset) == wanted,
            _ => false,
        };
        let mut read = 0;
        for &object in objects {
            let mut positions = edges.range(object);
            read += 1 + positions.len() as u64;
            let position = positions.find(is_wanted);
            into.push(position.map_or(Cell::Absent, |position| {
                Cell::Object(edges.target(position))
            }));
        }
        self.control.count(read)
    }
}

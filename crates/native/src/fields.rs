//! The words of blocks that refer to other blocks, as values. A field is the offset of its word, as labels show it:
//! `+0x8`.

use base::columns;
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{Cell, EdgeLabel, FieldReader, FieldType, Heap, LabelKind, MemberSink, Membership};

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
        let is_wanted = |place: &u32| match edges.label(*place).map(EdgeLabel::kind) {
            Some(LabelKind::Word(offset)) => Some(offset) == wanted,
            _ => false,
        };
        let mut read = 0;
        for &object in objects {
            let mut places = edges.range(object);
            read += 1 + places.len() as u64;
            let place = places.find(is_wanted);
            into.push(place.map_or(Cell::Absent, |place| Cell::Object(edges.target(place))));
        }
        self.control.count(read)
    }

    fn is_text(&self, _: ObjectIndex) -> bool {
        false
    }

    fn text(&mut self, _: ObjectIndex, _: usize, into: &mut Vec<u16>) -> Result<Option<usize>> {
        into.clear();
        Ok(None)
    }

    fn size(&mut self, _: ObjectIndex) -> Result<Option<u64>> {
        Ok(None)
    }

    fn members(&mut self, _: ObjectIndex, _: &mut MemberSink<'_>) -> Result<Membership> {
        Ok(Membership::NoContainer)
    }
}

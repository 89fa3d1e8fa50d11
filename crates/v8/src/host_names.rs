//! What V8 and the page say of the objects of a snapshot.

use super::source::SnapshotSource;
use base::bits::Bits;
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{
    Category, ClassFields, ClassOrigin, FieldReader, FieldType, Heap, HostNames, OtherEdge,
    PropertyClass, SourceLocation, SourceLocations,
};

impl HostNames for SnapshotSource {
    fn is_root_part(&self, object: ObjectIndex) -> bool {
        self.names().is_root_part(object)
    }

    fn root_holders(&self) -> Result<Option<Bits>> {
        let count = self.heap().objects.len();
        let mut holders = Bits::new(count)?;
        let objects = (0..count as u32).map(ObjectIndex);
        for object in objects.filter(|&object| self.names().is_synthetic(object)) {
            holders.insert(object.0);
        }
        Ok(Some(holders))
    }

    fn program_name(
        &self,
        holder: ObjectIndex,
        target: ObjectIndex,
        label: &str,
    ) -> Option<String> {
        self.names()
            .program_name(&self.heap().edges, (holder, target), label)
    }

    fn global(&self, name: &str) -> Option<ObjectIndex> {
        self.global_named(name)
    }

    fn category(&self, category: Category, control: &Control) -> Result<Option<Bits>> {
        Ok(Some(self.members(category, control)?))
    }

    fn distance(&self, object: ObjectIndex) -> Option<u32> {
        self.names().distance(object)
    }

    fn other_edges_to(&self, target: ObjectIndex) -> Vec<OtherEdge> {
        let edges = self.names().other_edges_to(target);
        edges
            .map(|(number, edge)| OtherEdge {
                source: edge.source,
                is_weak: edge.is_weak(),
                number,
            })
            .collect()
    }

    fn other_label(&self, edge: OtherEdge) -> Option<String> {
        let names = self.names();
        Some(names.other_label(names.other_edge(edge.number)))
    }

    fn property_classes(&self) -> &[PropertyClass] {
        &self.names().interfaces
    }

    /// Plain objects have the classes that they have in the later snapshot.
    fn with_property_classes(
        &self,
        later: &[PropertyClass],
        control: &Control,
    ) -> Result<Option<Heap>> {
        let heap = self.names().classified_as(self.heap(), later, control)?;
        Ok(Some(heap))
    }
}

impl SourceLocations for SnapshotSource {
    fn class_location(&self, class_slot: u32) -> Option<SourceLocation> {
        let class = self.heap().objects.classes.get(class_slot as usize)?;
        let Some(ClassOrigin::Constructor(location)) = class.origin else {
            return None;
        };
        Some(SourceLocation {
            file: self.names().script(location.script)?,
            line: location.line.saturating_add(1),
            column: location.column.saturating_add(1),
        })
    }
}

impl ClassFields for SnapshotSource {
    fn type_of(
        &self,
        name: &str,
        class_slots: &[bool],
        control: &Control,
    ) -> Result<Option<FieldType>> {
        self.type_of_field(name, class_slots, control)
    }

    fn names(&self, class_slots: &[bool]) -> Vec<String> {
        self.names_of_fields(class_slots)
    }

    fn reader(&self, names: &[String], control: &Control) -> Result<Box<dyn FieldReader + '_>> {
        self.read_fields(names, control)
    }
}

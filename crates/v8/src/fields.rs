//! Properties, texts and members of many objects of a snapshot as values.

use super::raw::NodeKind;
use super::source::SnapshotSource;
use super::strings::{code_units, length};
use super::tables::{MAP, Part, SET};
use base::columns;
use base::control::{CHECK_INTERVAL, Control};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{
    Cell, EdgeLabel, FieldReader, FieldType, LabelKind, Member, MemberSink, Membership, NameKind,
};

/// The number of references whose names are suggested.
const MOST_NAMES: usize = 10_000;
/// What V8 calls `true`, `false`, `null` and `undefined`, and its own markers.
const ODDBALL: &[u8] = b"system / Oddball";
/// The class of arrays.
const ARRAY: &str = "Array";

/// Reads properties of a snapshot.
struct SnapshotFields<'s> {
    source: &'s SnapshotSource,
    /// By field: the numbers of its name.
    names: Vec<Vec<u32>>,
    control: Control,
    read: u64,
}

impl SnapshotSource {
    /// The numbers of a name among the strings.
    fn numbers_of(&self, name: &str, control: &Control) -> Result<Vec<u32>> {
        let strings = &self.names().strings;
        let mut numbers = Vec::new();
        for number in 0..strings.len() as u32 {
            if (number as usize).is_multiple_of(CHECK_INTERVAL) {
                control.count(CHECK_INTERVAL as u64)?;
            }
            if strings.bytes(number) == name.as_bytes() {
                columns::push(&mut numbers, number)?;
            }
        }
        Ok(numbers)
    }

    /// Whether an object of these class slots, other than a global object, has a property or a variable of this name. Its
    /// values differ from object to object.
    pub(super) fn type_of_field(
        &self,
        name: &str,
        class_slots: &[bool],
        control: &Control,
    ) -> Result<Option<FieldType>> {
        let numbers = self.numbers_of(name, control)?;
        if numbers.is_empty() {
            return Ok(None);
        }
        let objects = &self.heap().objects;
        let edges = &self.heap().edges;
        let mut read = 0;
        for (object, &slot) in (0..).map(ObjectIndex).zip(&objects.class_slots) {
            if !class_slots[slot as usize] || self.names().globals.contains(&object) {
                continue;
            }
            let mut positions = edges.range(object);
            read += 1 + positions.len() as u64;
            if read >= CHECK_INTERVAL as u64 {
                control.count(std::mem::take(&mut read))?;
            }
            let is_named =
                positions.any(
                    |position| match edges.label(position).map(EdgeLabel::kind) {
                        Some(LabelKind::Named(NameKind::Property | NameKind::Context, number)) => {
                            numbers.contains(&number)
                        }
                        _ => false,
                    },
                );
            if is_named {
                return Ok(Some(FieldType::Any));
            }
        }
        Ok(None)
    }

    /// The names of properties and variables of the first objects of these class slots.
    pub(super) fn names_of_fields(&self, class_slots: &[bool]) -> Vec<String> {
        let objects = (0..).map(ObjectIndex).zip(&self.heap().objects.class_slots);
        let wanted = objects.filter(|&(_, &slot)| class_slots[slot as usize]);
        let edges = &self.heap().edges;
        let positions = wanted
            .flat_map(|(object, _)| edges.range(object))
            .take(MOST_NAMES);
        let mut names: Vec<String> = positions
            .filter_map(
                |position| match edges.label(position).map(EdgeLabel::kind) {
                    Some(LabelKind::Named(NameKind::Property | NameKind::Context, number)) => {
                        Some(self.names().string(number))
                    }
                    _ => None,
                },
            )
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The object that a property of a global object has for its value.
    pub(super) fn global_named(&self, name: &str) -> Option<ObjectIndex> {
        let names = self.names();
        let edges = &self.heap().edges;
        let globals = names.globals.iter();
        let mut targets = globals.flat_map(|&global| {
            edges.range(global).filter_map(|position| {
                let label = edges.label(position).map(EdgeLabel::kind);
                let is_named = match label {
                    Some(LabelKind::Named(NameKind::Property, number)) => {
                        names.strings.bytes(number) == name.as_bytes()
                    }
                    _ => false,
                };
                is_named.then(|| edges.target(position))
            })
        });
        targets.next()
    }

    /// Reads the properties with these names.
    pub(super) fn read_fields(
        &self,
        names: &[String],
        control: &Control,
    ) -> Result<Box<dyn FieldReader + '_>> {
        let names = names.iter().map(|name| self.numbers_of(name, control));
        Ok(Box::new(SnapshotFields {
            source: self,
            names: names.collect::<Result<_>>()?,
            control: control.clone(),
            read: 0,
        }))
    }

    /// An object as a value.
    fn cell(&self, target: ObjectIndex) -> Cell {
        let names = self.names();
        let edges = &self.heap().edges;
        match names.kind(target) {
            NodeKind::Number => match names.number(edges, target) {
                None => Cell::Unknown,
                Some(text) => match (text.parse::<i64>(), text.parse::<f64>()) {
                    (Ok(integer), _) => Cell::Integer(integer),
                    (_, Ok(double)) => Cell::Double(double),
                    _ => Cell::Unknown,
                },
            },
            NodeKind::String | NodeKind::ConsString | NodeKind::SlicedString => {
                Cell::Object(target)
            }
            _ if names.raw_name(target) == ODDBALL => self.oddball(target),
            _ => Cell::Object(target),
        }
    }

    /// The value of an oddball, which the first of its strings says.
    fn oddball(&self, object: ObjectIndex) -> Cell {
        let names = self.names();
        let edges = &self.heap().edges;
        let mut positions = edges.range(object);
        let text = positions.find_map(|position| {
            let label = edges.label(position).map(EdgeLabel::kind);
            let whole = names.whole_name(edges.target(position));
            let is_hidden = matches!(label, Some(LabelKind::Hidden));
            whole.filter(|_| is_hidden).map(|(_, text)| text)
        });
        match text {
            Some(b"true") => Cell::Bool(true),
            Some(b"false") => Cell::Bool(false),
            Some(b"null" | b"undefined") => Cell::Null,
            _ => Cell::Unknown,
        }
    }
}

impl SnapshotFields<'_> {
    /// Counts references that are read.
    fn count(&mut self, references: usize) -> Result<()> {
        self.read += 1 + references as u64;
        if self.read >= CHECK_INTERVAL as u64 {
            self.control.count(std::mem::take(&mut self.read))?;
        }
        Ok(())
    }

    fn field(&self, names: &[u32], object: ObjectIndex) -> Cell {
        let edges = &self.source.heap().edges;
        let mut variable = None;
        for position in edges.range(object) {
            match edges.label(position).map(EdgeLabel::kind) {
                Some(LabelKind::Named(NameKind::Property, name)) if names.contains(&name) => {
                    return self.source.cell(edges.target(position));
                }
                Some(LabelKind::Named(NameKind::Context, name)) if names.contains(&name) => {
                    variable = Some(edges.target(position));
                }
                _ => {}
            }
        }
        variable.map_or(Cell::Absent, |target| self.source.cell(target))
    }
}

impl FieldReader for SnapshotFields<'_> {
    fn fields(
        &mut self,
        field: usize,
        objects: &[ObjectIndex],
        into: &mut Vec<Cell>,
    ) -> Result<()> {
        columns::reserve(into, objects.len())?;
        for &object in objects {
            self.count(self.source.heap().edges.range(object).len())?;
            let names = self.names.get(field).map_or(&[][..], Vec::as_slice);
            into.push(self.field(names, object));
        }
        Ok(())
    }

    fn is_text(&self, object: ObjectIndex) -> bool {
        self.source.names().is_string(object)
    }

    fn text(
        &mut self,
        object: ObjectIndex,
        most: usize,
        into: &mut Vec<u16>,
    ) -> Result<Option<usize>> {
        into.clear();
        let names = self.source.names();
        let edges = &self.source.heap().edges;
        let joined;
        let bytes = match names.whole_name(object) {
            Some((_, bytes)) => bytes,
            None => match names.known_contents(edges, object) {
                Some(contents) => {
                    joined = contents;
                    &joined
                }
                None => return Ok(None),
            },
        };
        self.count(bytes.len() / 64)?;
        columns::reserve(into, most.min(bytes.len()))?;
        into.extend(code_units(bytes).take(most));
        Ok(Some(length(bytes)))
    }

    fn size(&mut self, object: ObjectIndex) -> Result<Option<u64>> {
        // A snapshot has no length of an array, and no element that is empty.
        let mut units = Vec::new();
        Ok(self
            .text(object, 0, &mut units)?
            .map(|length| length as u64))
    }

    fn members(&mut self, object: ObjectIndex, sink: &mut MemberSink<'_>) -> Result<Membership> {
        let names = self.source.names();
        let edges = &self.source.heap().edges;
        if names.is_string(object) || names.kind(object) == NodeKind::Number {
            return Ok(Membership::NoContainer);
        }
        if let Some(table) = self.source.entry_table(object) {
            let references = self.source.table_references(table, &self.control)?;
            for reference in references.iter().filter(|one| one.part == Part::Key) {
                if !sink(Member::Cell(self.source.cell(reference.target)))? {
                    return Ok(Membership::Complete);
                }
            }
            return Ok(Membership::OnlyObjects);
        }
        let is_array = match self.source.class_name(object) {
            ARRAY => true,
            // A map or a set whose table has another form.
            MAP | SET => return Ok(Membership::NoContainer),
            _ => false,
        };
        self.count(edges.range(object).len())?;
        let mut units = Vec::new();
        for position in edges.range(object) {
            let goes_on = match edges.label(position).map(EdgeLabel::kind) {
                Some(LabelKind::Element) if is_array => {
                    sink(Member::Cell(self.source.cell(edges.target(position))))?
                }
                Some(LabelKind::Named(NameKind::Property, name)) if !is_array => {
                    units.clear();
                    units.extend(code_units(names.strings.bytes(name)));
                    sink(Member::Text(&units))?
                }
                _ => true,
            };
            if !goes_on {
                return Ok(Membership::Complete);
            }
        }
        Ok(if is_array {
            Membership::WithoutNumbers
        } else {
            Membership::Complete
        })
    }
}

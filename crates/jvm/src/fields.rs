//! Fields, texts and members of many objects as values, for expressions.

use crate::bytes::JavaType;
use crate::classes::PlacedField;
use crate::jvm_heap::JvmSource;
use crate::model::JavaSlotKind;
use crate::values::ValueReader;
use base::columns;
use base::control::{CHECK_INTERVAL, Control};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{Cell, ClassFields, FieldReader, FieldType, Member, MemberSink, Membership};

/// Names of fields that are suggested.
const MOST_NAMES: usize = 10_000;

struct JvmFields<'s> {
    values: ValueReader<'s>,
    names: Vec<String>,
    /// By number of a field, by class: the field.
    placed: Vec<Vec<Option<PlacedField>>>,
    control: Control,
    read: u64,
}

impl JvmSource {
    fn classes_of<'s>(&'s self, slots: &'s [bool]) -> impl Iterator<Item = u32> + 's {
        let wanted = self.model.slots.iter().zip(slots).filter(|&(_, &is)| is);
        wanted.filter_map(|(kind, _)| match *kind {
            JavaSlotKind::Instances(class) => Some(class),
            _ => None,
        })
    }
}

impl ClassFields for JvmSource {
    fn type_of(&self, name: &str, slots: &[bool], control: &Control) -> Result<Option<FieldType>> {
        let mut found: Option<FieldType> = None;
        for (nth, class) in self.classes_of(slots).enumerate() {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                control.count(CHECK_INTERVAL as u64)?;
            }
            let Some(placed) = self.model.field(class, name) else {
                continue;
            };
            let this = match placed.field.java_type {
                JavaType::Object => FieldType::Reference,
                JavaType::Boolean => FieldType::Bool,
                _ => FieldType::Number,
            };
            found = Some(found.map_or(this, |known| known.or(this)));
        }
        Ok(found)
    }

    fn names(&self, slots: &[bool]) -> Vec<String> {
        let fields = self
            .classes_of(slots)
            .flat_map(|class| &self.model.placed[class as usize]);
        let numbers = fields.map(|placed| placed.field.name).take(MOST_NAMES);
        let mut names: Vec<String> = numbers
            .map(|name| self.model.classes.names.text(name).to_owned())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn reader(&self, names: &[String], control: &Control) -> Result<Box<dyn FieldReader + '_>> {
        let classes = 0..self.model.classes.all.len() as u32;
        let placed = names.iter().map(|name| {
            let field = |class| self.model.field(class, name);
            classes.clone().map(field).collect()
        });
        Ok(Box::new(JvmFields {
            values: self.values()?,
            names: names.to_vec(),
            placed: placed.collect(),
            control: control.clone(),
            read: 0,
        }))
    }
}

impl JvmFields<'_> {
    fn count(&mut self) -> Result<()> {
        self.read += 1;
        if self.read >= CHECK_INTERVAL as u64 {
            self.control.count(std::mem::take(&mut self.read))?;
        }
        Ok(())
    }

    fn cell(&mut self, field: usize, object: ObjectIndex) -> Result<Cell> {
        let JavaSlotKind::Instances(class) = self.values.model.kind(self.values.heap, object)
        else {
            return Ok(Cell::Absent);
        };
        let placed = self
            .placed
            .get(field)
            .and_then(|placed| placed[class as usize]);
        let Some(placed) = placed else {
            return Ok(Cell::Absent);
        };
        let java_type = placed.field.java_type;
        let value = self.values.field_at(object, placed.offset, java_type)?;
        Ok(value.map_or(Cell::Unknown, |value| value.cell(self.values.heap)))
    }
}

impl FieldReader for JvmFields<'_> {
    fn fields(
        &mut self,
        field: usize,
        objects: &[ObjectIndex],
        into: &mut Vec<Cell>,
    ) -> Result<()> {
        columns::reserve(into, objects.len())?;
        debug_assert!(field < self.names.len());
        for &object in objects {
            self.count()?;
            let cell = self.cell(field, object)?;
            into.push(cell);
        }
        Ok(())
    }

    fn is_text(&self, object: ObjectIndex) -> bool {
        self.values.is_text(object)
    }

    fn text(
        &mut self,
        object: ObjectIndex,
        most: usize,
        into: &mut Vec<u16>,
    ) -> Result<Option<usize>> {
        into.clear();
        self.count()?;
        let Some(text) = self.values.text(object, most)? else {
            return Ok(None);
        };
        columns::extend(into, &text.units)?;
        Ok(Some(text.length))
    }

    fn size(&mut self, object: ObjectIndex) -> Result<Option<u64>> {
        self.count()?;
        if let Some(text) = self.values.text(object, 0)? {
            return Ok(Some(text.length as u64));
        }
        let container = match self.values.model.kind(self.values.heap, object) {
            JavaSlotKind::Instances(class) => self.values.model.containers[class as usize],
            JavaSlotKind::References | JavaSlotKind::Values(_) => {
                return Ok(self.values.array_length(object)?.map(u64::from));
            }
            _ => None,
        };
        match container {
            Some(container) => container.count(&mut self.values, object),
            None => Ok(None),
        }
    }

    fn members(&mut self, object: ObjectIndex, sink: &mut MemberSink<'_>) -> Result<Membership> {
        self.count()?;
        let heap = self.values.heap;
        let class = match self.values.model.kind(heap, object) {
            JavaSlotKind::Instances(class) => class,
            JavaSlotKind::References | JavaSlotKind::Values(_) => {
                let count = self.values.array_length(object)?.unwrap_or(0);
                for index in 0..count {
                    self.count()?;
                    let value = self.values.element(object, index)?;
                    let cell = value.map_or(Cell::Unknown, |value| value.cell(heap));
                    if !sink(Member::Cell(cell))? {
                        break;
                    }
                }
                return Ok(Membership::Complete);
            }
            _ => return Ok(Membership::NoContainer),
        };
        let Some(container) = self.values.model.containers[class as usize] else {
            return Ok(Membership::NoContainer);
        };
        let control = self.control.clone();
        container.walk(&mut self.values, object, &control, &mut |_, entry| {
            let value = entry.key.or(entry.value);
            let cell = value.map_or(Cell::Unknown, |value| value.cell(heap));
            sink(Member::Cell(cell))
        })?;
        Ok(Membership::Complete)
    }
}

//! Shows single objects: previews, fields, entries, and the labels of references.

use crate::bytes::JavaType;
use crate::heap_records::ObjectRecord;
use crate::jvm_heap::JvmSource;
use crate::model::JavaSlotKind;
use crate::values::{JavaValue, ValueReader};
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use base::warning::Warning;
use heap::literal::{SHOWN, literal};
use heap::{
    ContainerEntry, ContainerKind, ContainerPage, EdgeLabel, FieldValue, HeldValue, ObjectReader,
    ShownValue, Source, WantedEntries,
};

/// The most fields in a preview.
const ITEMS: usize = 10;
/// The most fields of an object that are listed: the static ones of a class may be as many.
const MOST_FIELDS: usize = 1000;
/// Classes of values in objects of their own.
const BOXES: [&str; 10] = [
    "java.lang.Integer",
    "java.lang.Long",
    "java.lang.Short",
    "java.lang.Byte",
    "java.lang.Character",
    "java.lang.Boolean",
    "java.lang.Float",
    "java.lang.Double",
    "java.util.concurrent.atomic.AtomicInteger",
    "java.util.concurrent.atomic.AtomicLong",
];

/// Reads objects.
pub(crate) struct JvmReader<'s> {
    source: &'s JvmSource,
    control: Control,
    /// Made when it is needed.
    values: Option<ValueReader<'s>>,
}

impl<'s> JvmReader<'s> {
    pub(crate) fn new(source: &'s JvmSource, control: &Control) -> Self {
        Self {
            source,
            control: control.clone(),
            values: None,
        }
    }

    fn values(&mut self) -> Result<&mut ValueReader<'s>> {
        match &mut self.values {
            Some(values) => Ok(values),
            none => Ok(none.insert(self.source.values()?)),
        }
    }

    /// A string with its quotes.
    fn literal_of(&mut self, object: ObjectIndex) -> Result<Option<String>> {
        let text = self.values()?.text(object, SHOWN + 1)?;
        Ok(text.map(|text| literal(text.units.iter().copied(), text.is_whole())))
    }

    /// What stands for an object as the value of a field: a string, the value of a box, or its class and address.
    fn shown_object(&mut self, object: ObjectIndex) -> Result<ShownValue> {
        if let Some(text) = self.literal_of(object)? {
            return Ok(ShownValue::Text(text));
        }
        let name = self.source.class_name(object);
        if BOXES.contains(&name)
            && let Some(value) = self.values()?.field(object, "value")?
        {
            return Ok(value.shown());
        }
        if let Some(class) = self.source.model.class_of_object(object) {
            let name = &self.source.model.classes.all[class as usize].name;
            return Ok(ShownValue::Text(format!("class {name}")));
        }
        let address = self.source.heap.address(object);
        Ok(ShownValue::Text(format!("{name}@{address}")))
    }

    fn held(&mut self, value: Option<JavaValue>) -> Result<HeldValue> {
        let Some(value) = value else {
            return Ok(HeldValue::plain(ShownValue::Null));
        };
        let object = match value {
            JavaValue::Object(id) => self.values()?.object(id),
            _ => None,
        };
        let Some(object) = object else {
            return Ok(HeldValue::plain(value.shown()));
        };
        let address = self.source.heap.address(object);
        Ok(HeldValue {
            value: self.shown_object(object)?,
            address: Some(address.0),
            address_text: Some(address.to_string()),
            class_name: Some(self.source.class_name(object).to_owned()),
            function_name: None,
        })
    }

    fn field_value(
        &mut self,
        name: u32,
        java_type: JavaType,
        value: Option<JavaValue>,
    ) -> Result<FieldValue> {
        let held = self.held(value)?;
        let type_name = match (java_type, &held.class_name) {
            (JavaType::Object, Some(class)) => class.clone(),
            (java_type, _) => java_type.name().to_owned(),
        };
        Ok(FieldValue {
            name: self.source.model.classes.names.text(name).to_owned(),
            type_name,
            value: held.value,
            address: held.address,
            class_name: held.class_name,
            function_name: None,
        })
    }

    /// The static fields of a class.
    fn statics(&mut self, class: u32, notes: &mut Vec<Warning>) -> Result<Vec<FieldValue>> {
        let model = &self.source.model;
        let statics = &model.classes.all[class as usize].statics;
        if let Some(more @ 1..) = statics.len().checked_sub(MOST_FIELDS) {
            notes.push(Warning::EdgesLeftOut { count: more as u64 });
        }
        let mut fields = Vec::new();
        for value in statics.iter().take(MOST_FIELDS) {
            let size = value.java_type.bytes(model.ids);
            let bytes = self.values()?.file.bytes(value.at, size)?;
            let read = JavaValue::of(value.java_type, bytes, model);
            fields.push(self.field_value(value.name, value.java_type, read)?);
        }
        Ok(fields)
    }

    fn instance_fields(
        &mut self,
        object: ObjectIndex,
        class: u32,
        most: usize,
    ) -> Result<Vec<FieldValue>> {
        let placed = &self.source.model.placed[class as usize];
        let mut fields = Vec::new();
        for placed in placed.iter().take(most) {
            let java_type = placed.field.java_type;
            let value = self.values()?.field_at(object, placed.offset, java_type)?;
            fields.push(self.field_value(placed.field.name, java_type, value)?);
        }
        Ok(fields)
    }

    /// How many elements an array or a collection has.
    fn count_text(&mut self, object: ObjectIndex) -> Result<Option<String>> {
        let kind = self.source.model.kind(&self.source.heap, object);
        let container = match kind {
            JavaSlotKind::Instances(class) => self.source.model.containers[class as usize],
            JavaSlotKind::References | JavaSlotKind::Values(_) => {
                let count = self.values()?.array_length(object)?;
                return Ok(count.map(|count| plural(count.into(), "element")));
            }
            _ => None,
        };
        let Some(container) = container else {
            return Ok(None);
        };
        let what = match container.kind() {
            ContainerKind::Map => "entr",
            _ => "element",
        };
        let count = container.count(self.values()?, object)?;
        Ok(count.map(|count| plural(count, what)))
    }

    fn array_page(
        &mut self,
        object: ObjectIndex,
        wanted: WantedEntries,
    ) -> Result<Option<ContainerPage>> {
        let total = u64::from(self.values()?.array_length(object)?.unwrap_or(0));
        let mut entries = Vec::new();
        for index in wanted.offset..wanted.offset.saturating_add(wanted.limit).min(total) {
            let value = self.values()?.element(object, index as u32)?;
            entries.push(ContainerEntry {
                index,
                name: Some(format!("[{index}]")),
                key: None,
                value: self.held(value)?,
            });
        }
        Ok(Some(ContainerPage {
            kind: ContainerKind::Elements,
            total,
            offset: wanted.offset,
            limit: wanted.limit,
            entries,
        }))
    }
}

fn plural(count: u64, what: &str) -> String {
    match (what, count) {
        ("entr", 1) => "1 entry".to_owned(),
        ("entr", _) => format!("{count} entries"),
        (_, 1) => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

impl ObjectReader for JvmReader<'_> {
    fn label(
        &mut self,
        source: ObjectIndex,
        target: ObjectIndex,
        label: EdgeLabel,
        skipped: usize,
    ) -> Result<String> {
        let heap = &self.source.heap;
        let class_slot = heap.objects.class_slots[source.at()];
        Ok(match heap.edges.position(source, target, label, skipped) {
            Some(position) => self.source.label_at(class_slot, position),
            None => self.source.class_label(class_slot, label),
        })
    }

    fn label_at(&mut self, source: ObjectIndex, position: u32, _: usize) -> Result<String> {
        let class_slot = self.source.heap.objects.class_slots[source.at()];
        Ok(self.source.label_at(class_slot, position))
    }

    fn preview(&mut self, object: ObjectIndex) -> Result<Option<String>> {
        let source = self.source;
        if let Some(text) = self.literal_of(object)? {
            return Ok(Some(text));
        }
        if source.model.class_of_object(object).is_some()
            || BOXES.contains(&source.class_name(object))
        {
            return Ok(Some(self.shown_object(object)?.to_string()));
        }
        if let Some(count) = self.count_text(object)? {
            return Ok(Some(count));
        }
        let JavaSlotKind::Instances(class) = source.model.kind(&source.heap, object) else {
            return Ok(None);
        };
        let fields = self.instance_fields(object, class, ITEMS)?;
        if fields.is_empty() {
            return Ok(None);
        }
        let items = fields
            .iter()
            .map(|field| format!("{}: {}", field.name, field.value));
        let items: Vec<String> = items.collect();
        let more = if source.model.placed[class as usize].len() > ITEMS {
            ", …"
        } else {
            ""
        };
        Ok(Some(format!("{{{}{more}}}", items.join(", "))))
    }

    fn fields(&mut self, object: ObjectIndex, notes: &mut Vec<Warning>) -> Result<Vec<FieldValue>> {
        let model = &self.source.model;
        if let Some(class) = model.class_of_object(object) {
            return self.statics(class, notes);
        }
        match model.kind(&self.source.heap, object) {
            JavaSlotKind::Instances(class) | JavaSlotKind::Classes(Some(class)) => {
                let count = model.placed[class as usize].len();
                if let Some(more @ 1..) = count.checked_sub(MOST_FIELDS) {
                    notes.push(Warning::EdgesLeftOut { count: more as u64 });
                }
                self.instance_fields(object, class, MOST_FIELDS)
            }
            _ => Ok(Vec::new()),
        }
    }

    fn entries(
        &mut self,
        object: ObjectIndex,
        wanted: WantedEntries,
    ) -> Result<Option<ContainerPage>> {
        let model = &self.source.model;
        let class = match model.kind(&self.source.heap, object) {
            JavaSlotKind::References | JavaSlotKind::Values(_) => {
                return self.array_page(object, wanted);
            }
            JavaSlotKind::Instances(class) => class,
            _ => return Ok(None),
        };
        let Some(container) = model.containers[class as usize] else {
            return Ok(None);
        };
        let control = self.control.clone();
        let mut total = 0u64;
        let mut found = Vec::new();
        let end = wanted.offset.saturating_add(wanted.limit);
        container.walk(self.values()?, object, &control, &mut |_, entry| {
            if total >= wanted.offset && total < end {
                found.push((total, entry));
            }
            total += 1;
            Ok(true)
        })?;
        let mut entries = Vec::new();
        for (index, entry) in found {
            let is_list = container.kind() == ContainerKind::Elements;
            entries.push(ContainerEntry {
                index,
                name: is_list.then(|| format!("[{index}]")),
                key: match entry.key {
                    Some(key) => Some(self.held(Some(key))?),
                    None => None,
                },
                value: self.held(entry.value)?,
            });
        }
        Ok(Some(ContainerPage {
            kind: container.kind(),
            total,
            offset: wanted.offset,
            limit: wanted.limit,
            entries,
        }))
    }

    fn literal(&mut self, object: ObjectIndex) -> Result<Option<String>> {
        self.literal_of(object)
    }

    fn shared_contents(&mut self, object: ObjectIndex) -> Result<String> {
        if let Some(text) = self.literal_of(object)? {
            return Ok(text);
        }
        let at = self.source.model.offsets.get(object);
        let found = self.values()?.file.record(at)?;
        Ok(match found.record {
            ObjectRecord::PrimitiveArray { count, .. } => plural(count.into(), "element"),
            _ => String::new(),
        })
    }
}

//! A dump as the source of a heap.

use memchr::memmem::Finder;

use crate::jvm_heap::JvmSource;
use crate::reader::JvmReader;
use crate::values::ValueReader;
use base::control::{CHECK_INTERVAL, Control, Step};
use base::error::Result;
use base::units::{ObjectAddress, ObjectIndex};
use base::warning::Warning;
use heap::{
    ClassFields, DominatorIndex, EdgeLabel, Facts, Found, HostNames, LabelKind, Name, NameKind,
    ObjectReader, OtherEdge, ReadOrder, Source, Survey, TextFilter, WideLabel,
};

/// The longest string in which a text is looked for, in code units.
const LONGEST_TEXT: usize = 1 << 24;

impl Source for JvmSource {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn memory_size(&self) -> u64 {
        self.model.memory_size()
    }

    fn class_label(&self, _: u32, label: EdgeLabel) -> String {
        match label.kind() {
            LabelKind::Named(_, name) => self.model.classes.names.text(name).to_owned(),
            LabelKind::Folded => "…".to_owned(),
            _ => "[*]".to_owned(),
        }
    }

    fn label_at(&self, class_slot: u32, position: u32) -> String {
        let edges = &self.heap.edges;
        let label = edges.label(position).unwrap_or_default();
        match edges.wide_label(position).and_then(WideLabel::index) {
            Some(index) => format!("[{index}]"),
            None => self.class_label(class_slot, label),
        }
    }

    fn without_key<'l>(&self, label: &'l str) -> &'l str {
        let inner = label
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        match inner {
            Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => "[*]",
            _ => label,
        }
    }

    fn is_stable(&self, name: Name<'_>) -> bool {
        match name {
            // Lambdas, proxies and generated classes are numbered by each run.
            Name::Class(name) => {
                !name.contains("$$Lambda") && !name.contains("$Proxy") && !name.contains("/0x")
            }
            Name::Label(..) => true,
        }
    }

    fn is_own_storage(&self, class_slot: u32, label: EdgeLabel) -> bool {
        match label.kind() {
            LabelKind::Named(NameKind::Internal, name) => {
                self.storage.contains(&(class_slot, name))
            }
            _ => false,
        }
    }

    fn around(&self, address: u64, notes: &mut Vec<Warning>, _: &Control) -> Result<Option<Found>> {
        let addresses = &self.heap.objects.addresses;
        let Some(next) = address.checked_add(1) else {
            return Ok(None);
        };
        let after = addresses.first_from(ObjectAddress(next), 0..addresses.len());
        let Some(nth) = after.checked_sub(1) else {
            return Ok(None);
        };
        let object = ObjectIndex(nth as u32);
        let start = addresses.get(nth);
        if address - start.0 >= self.heap.shallow_size(object) {
            return Ok(None);
        }
        notes.push(Warning::AddressInside {
            address: ObjectAddress(address),
            what: "object",
            start,
        });
        Ok(Some(Found::Object(object)))
    }

    fn reader(&self, _: ReadOrder, control: &Control) -> Box<dyn ObjectReader + '_> {
        Box::new(JvmReader::new(self, control))
    }

    fn text_filter(&self, text: &str, control: &Control) -> Result<Box<dyn TextFilter + '_>> {
        Ok(Box::new(JvmTexts {
            values: self.values()?,
            text: Finder::new(text).into_owned(),
            control: control.clone(),
        }))
    }

    fn fields(&self) -> &dyn ClassFields {
        self
    }

    fn survey(&self, _: &DominatorIndex, step: &Step<'_>) -> Result<Survey> {
        self.survey_contents(step)
    }

    fn host_names(&self) -> Option<&dyn HostNames> {
        Some(self)
    }
}

impl HostNames for JvmSource {
    /// The objects of classes that the JVM never unloads.
    fn is_root_part(&self, object: ObjectIndex) -> bool {
        let class = self.model.class_of_object(object);
        class.is_some_and(|class| self.model.is_permanent[class as usize])
    }

    fn other_edges_to(&self, target: ObjectIndex) -> Vec<OtherEdge> {
        let weak = &self.model.weak;
        let first = weak.partition_point(|edge| edge.target < target);
        let edges = (first..).zip(&weak[first..]);
        edges
            .take_while(|(_, edge)| edge.target == target)
            .map(|(number, edge)| OtherEdge {
                source: edge.source,
                is_weak: true,
                number,
            })
            .collect()
    }

    fn other_label(&self, _: OtherEdge) -> Option<String> {
        Some("referent".to_owned())
    }

    fn global(&self, name: &str) -> Option<ObjectIndex> {
        let (class, field) = name.rsplit_once('.')?;
        let field = self.model.classes.names.find(field)?;
        let objects = self.model.class_objects.iter();
        let mut named =
            objects.filter(|(_, number)| self.model.classes.all[*number as usize].name == class);
        let &(object, _) = named.next()?;
        let edges = &self.heap.edges;
        let mut positions = edges.range(object);
        let position = positions.find(|&position| {
            let label = edges.label(position).map(EdgeLabel::kind);
            label == Some(LabelKind::Named(NameKind::Property, field))
        })?;
        Some(edges.target(position))
    }
}

/// Finds the strings that contain a text.
struct JvmTexts<'s> {
    values: ValueReader<'s>,
    text: Finder<'static>,
    control: Control,
}

impl TextFilter for JvmTexts<'_> {
    fn keep(&mut self, objects: &mut Vec<ObjectIndex>) -> Result<()> {
        let mut kept = 0;
        for nth in 0..objects.len() {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                self.control.count(CHECK_INTERVAL as u64)?;
            }
            let object = objects[nth];
            let Some(text) = self.values.text(object, LONGEST_TEXT)? else {
                continue;
            };
            let text = String::from_utf16_lossy(&text.units);
            if self.text.find(text.as_bytes()).is_some() {
                objects[kept] = object;
                kept += 1;
            }
        }
        objects.truncate(kept);
        Ok(())
    }
}

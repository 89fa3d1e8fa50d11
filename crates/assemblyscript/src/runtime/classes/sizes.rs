//! The sizes that the objects of a class can have.

use super::{Classes, ObjectSize};
use crate::runtime::container_layouts::is_standard_container;
use crate::runtime::layout::{ContentReferences, ReferenceLayout};
use crate::runtime::type_flags::TypeFlags;
use base::units::ClassId;
use runtime_code::std_library::{OBJECT_NAME, STRING};
use wasm::debug_info::{Class, TypeRef};

impl Classes<'_> {
    /// The end of the last field of a class of the program, which is the size of its objects. Objects of
    /// library classes can be larger than their fields.
    pub(super) fn declared_size(&self, class: &Class) -> Option<u32> {
        if !self.debug_info.describes_inheritance {
            return None;
        }
        let mut size = 0;
        let mut steps: usize = 1000;
        for class in self.chain(class) {
            // Classes with more bases and fields than this are not written by hand.
            steps = steps.checked_sub(1 + class.members.len())?;
            let is_told = match class.base {
                Some(base) => self.debug_info.class(base).is_some(),
                None => true,
            };
            if !is_told || (class.name.starts_with("~lib/") && class.name != OBJECT_NAME) {
                return None;
            }
            for member in &class.members {
                if member.type_ref == (TypeRef::Base { number: None }) {
                    return None;
                }
                let end = member.offset.checked_add(self.slot(member.type_ref).size)?;
                size = size.max(end);
            }
        }
        Some(size)
    }

    /// The sizes that the objects of a class can have.
    pub(super) fn object_size(
        &self,
        id: ClassId,
        class: Option<&Class>,
        layout: &ReferenceLayout,
    ) -> ObjectSize {
        let flags = self.flags.get(id);
        let is_variable = id.0 <= STRING.0
            || matches!(
                layout.contents,
                ContentReferences::Tuple | ContentReferences::Visited | ContentReferences::Unknown
            )
            || flags.is_none_or(TypeFlags::is_static_array);
        if is_variable {
            return ObjectSize::Any;
        }
        let container = flags.and_then(TypeFlags::container_size);
        // A class of the program can extend a container. Its own fields follow those of the container.
        match (container, class) {
            (Some(size), Some(class)) if is_standard_container(&class.name) => {
                ObjectSize::Exactly(size)
            }
            _ => {
                let end = layout
                    .offsets
                    .last()
                    .map_or(0, |&last| last.saturating_add(4));
                ObjectSize::Uniform(container.unwrap_or(0).max(end))
            }
        }
    }
}

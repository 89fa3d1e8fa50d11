//! What the debug information leaves out of a class whose code cannot be read.

use super::{Classes, Doubt, spend};
use crate::runtime::layout::ReferenceLayout;
use crate::runtime::type_flags::TypeFlags;
use runtime_code::std_library::OBJECT_NAME;
use wasm::debug_info::{Class, TypeRef};

/// The words of the objects of a class that no field covers.
enum Gaps {
    None,
    At(Vec<u32>),
    /// Its base is not described, and it has no fields: any word.
    Anywhere,
}

impl Classes<'_> {
    /// The layout of a class of which only the debug information knows the fields. It alone takes no field away: what it
    /// leaves out may be a reference.
    pub(super) fn with_gaps(
        &self,
        class: &Class,
        layout: ReferenceLayout,
        flags: Option<TypeFlags>,
    ) -> (Option<ReferenceLayout>, Doubt) {
        let has_references = flags.is_some_and(|flags| !flags.is_pointer_free());
        if layout.is_pointer_free() && has_references {
            // The compiler knows references of the class.
            return (None, Doubt::None);
        }
        match self.gaps(class) {
            Gaps::None => (Some(layout), Doubt::None),
            Gaps::At(words) => {
                if spend(&self.offsets_left, words.len()).is_none() {
                    return (None, Doubt::None);
                }
                let offsets = [layout.offsets, words].concat();
                let layout = ReferenceLayout::new(offsets, layout.contents);
                (Some(layout), Doubt::UnknownBases)
            }
            Gaps::Anywhere => (Some(ReferenceLayout::unknown()), Doubt::UnknownBases),
        }
    }

    /// The gaps between the fields of a class of the program, which the compiler aligns and nothing else. Classes of the
    /// library may have other words.
    fn gaps(&self, class: &Class) -> Gaps {
        /// More words than a lost field leaves.
        const MOST_WORDS: usize = 1 << 10;
        /// A type that is not described may be a vector.
        const LARGEST: u32 = 16;
        if !self.debug_info.describes_inheritance {
            return Gaps::None;
        }
        let mut fields = Vec::new();
        let mut is_told = true;
        let mut steps: usize = 1000;
        for class in self.chain(class) {
            let Some(left) = steps.checked_sub(1 + class.members.len()) else {
                return Gaps::None;
            };
            steps = left;
            if class.name.starts_with("~lib/") && class.name != OBJECT_NAME {
                return Gaps::None;
            }
            is_told = class
                .base
                .is_none_or(|base| self.debug_info.class(base).is_some());
            fields.extend(class.members.iter().map(|member| {
                let is_known = !matches!(
                    member.type_ref,
                    TypeRef::Unresolved | TypeRef::Base { number: None }
                );
                let size = self.slot(member.type_ref).size;
                (member.offset, size, if is_known { size } else { LARGEST })
            }));
        }
        if fields.is_empty() {
            return if is_told { Gaps::None } else { Gaps::Anywhere };
        }
        fields.sort_unstable();
        let (mut end, mut words) = (0_u32, Vec::new());
        for (offset, alignment, size) in fields {
            let aligned = |to: u32| end.checked_next_multiple_of(to).unwrap_or(u32::MAX);
            if offset > aligned(alignment) {
                let gap = aligned(4)..offset.saturating_sub(3);
                words.extend(gap.step_by(4).take(MOST_WORDS));
            }
            end = end.max(offset.saturating_add(size));
        }
        if words.is_empty() {
            Gaps::None
        } else {
            Gaps::At(words)
        }
    }
}

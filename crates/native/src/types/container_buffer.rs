//! The buffers of containers, and how much of each holds elements.

use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
use heap::TypeEvidence;

use super::container_use::{ContainerElements, ContainerPlace, ContainerUse, UsedBytes};
use super::spread::{BlockType, Spread};

/// The most words of a container.
const MOST_WORDS: u32 = 32;

impl Spread<'_, '_> {
    /// A pointer of a container to elements, of which the first ones are used.
    pub(super) fn refer_to_elements(&mut self, elements: ContainerElements) -> Result<()> {
        if let Some(block) = self.type_buffer(&elements)? {
            let size = self.types.size(elements.element);
            self.place(elements.start, elements.element, elements.used)?;
            let used = UsedBytes::First(elements.used.saturating_mul(size));
            self.add_use(elements.holder, block, used)?;
        }
        Ok(())
    }

    /// Gives the buffer of a container its type, if the elements for which the container has room take a block. The elements
    /// are not followed.
    pub(super) fn type_buffer(
        &mut self,
        elements: &ContainerElements,
    ) -> Result<Option<ObjectIndex>> {
        let size = self.types.size(elements.element);
        let bytes = elements
            .capacity
            .checked_mul(size)
            .filter(|&bytes| bytes > 0);
        let (Some(bytes), Some((block, start, usable))) = (bytes, self.block(elements.start))
        else {
            return Ok(None);
        };
        let takes_block = start == elements.start
            && bytes <= usable
            && bytes.saturating_add(self.slack(usable)) > usable;
        if !takes_block {
            return Ok(None);
        }
        self.assign_type(
            block,
            BlockType {
                type_id: self.types.resolved(elements.element),
                is_array: true,
                evidence: TypeEvidence::Container,
                base: 0,
            },
        )?;
        Ok(Some(block))
    }

    /// Notes how much of a buffer holds elements.
    pub(super) fn add_use(
        &mut self,
        holder: ContainerPlace,
        buffer: ObjectIndex,
        used: UsedBytes,
    ) -> Result<()> {
        let (used, is_from_start) = match used {
            UsedBytes::First(used) => (used, true),
            UsedBytes::Any(used) => (used, false),
        };
        let words = (0..(holder.size / 4).min(MOST_WORDS)).filter(|nth| {
            let word = holder.address.checked_add(nth * 4);
            let word = word.and_then(|at| self.word(at));
            word.and_then(|word| self.block(word))
                .map(|(block, ..)| block)
                == Some(buffer)
        });
        let references = words.count() as u32;
        columns::push(
            &mut self.uses,
            ContainerUse {
                holder: holder.address,
                buffer,
                used,
                is_from_start,
                references,
            },
        )
    }
}

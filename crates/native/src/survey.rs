//! What `waste` compares: the texts of live blocks, and the buffers of containers with the part that they use.
//!
//! Texts are compared by 96 bits of a keyed hash (SipHash-1-3). The keys are random, so that an attacker cannot choose
//! texts with equal hashes.

use std::hash::{BuildHasher, Hasher, RandomState};

use base::columns;
use base::control::Step;
use base::error::Result;
use base::units::ObjectIndex;
use heap::Survey;
use heap::survey::{ArrayUse, Containers, HashedObject, MemorySurvey};
use siphasher::sip128::{Hasher128, SipHasher13};

use crate::dump_memory::WindowReader;
use crate::typed_heap::NativeSource;
use crate::types::ContainerUse;
use crate::values::until_zero;

impl NativeSource {
    /// Reads the texts of live blocks, and counts what containers use.
    pub(crate) fn survey_memory(&self, step: &Step<'_>) -> Result<Survey> {
        let heap = self.heap();
        let random = RandomState::new();
        let keys = (random.hash_one(0), random.hash_one(1));
        let mut memory = WindowReader::new(self.memory(), step.control());
        let mut found = Survey::default();
        let mut sizes = columns::with_capacity(heap.objects.len())?;
        for object in (0..heap.objects.len() as u32).map(ObjectIndex) {
            step.control().count(1)?;
            // Every block is alive.
            sizes.push(self.usable(object));
            if !self.is_text(object) {
                continue;
            }
            let text = until_zero(self.text_of(object, &mut memory)?);
            let mut hasher = SipHasher13::new_with_keys(keys.0, keys.1);
            hasher.write(text);
            let hash = hasher.finish128().as_u128();
            columns::push(&mut found.texts, HashedObject::new(hash, object))?;
        }
        let mut containers = Containers::default();
        for found in &self.container_uses()? {
            step.control().count(1)?;
            columns::push(&mut containers.arrays, self.array_use(found))?;
        }
        found.memory = Some(MemorySurvey {
            sizes,
            containers: vec![containers],
            ..MemorySurvey::default()
        });
        Ok(found)
    }

    /// The buffers of containers, each once: a container may be the first member of another type.
    fn container_uses(&self) -> Result<Vec<ContainerUse>> {
        let mut uses = columns::collected(self.uses().iter().copied())?;
        uses.sort_unstable_by_key(|found| (found.buffer, found.holder));
        uses.dedup_by_key(|found| found.buffer);
        Ok(uses)
    }

    fn array_use(&self, found: &ContainerUse) -> ArrayUse {
        let holder = self.block_around(found.holder);
        let (references, roots) = match holder {
            Some(_) => (found.references, 0),
            None => (0, 1),
        };
        ArrayUse {
            array: holder.unwrap_or(found.buffer),
            buffer: found.buffer,
            used: found.used,
            references,
            roots,
        }
    }
}

//! Strings of equal contents, for `waste`.

use std::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher13};

use crate::jvm_heap::JvmSource;
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use heap::survey::{HashedObject, Survey};

/// The most code units of a string that are compared: longer ones are equal if these and their lengths are.
const MOST_UNITS: usize = 1 << 20;

impl JvmSource {
    /// The strings, by what they contain.
    pub(crate) fn survey_contents(&self, step: &Step<'_>) -> Result<Survey> {
        let mut values = self.values()?;
        let mut texts = Vec::new();
        for (nth, object) in self.heap.live_heap_objects().enumerate() {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                step.advance(CHECK_INTERVAL as u64)?;
            }
            if !values.is_text(object) {
                continue;
            }
            let Some(text) = values.text(object, MOST_UNITS)? else {
                continue;
            };
            let mut hasher = SipHasher13::new();
            hasher.write_usize(text.length);
            for unit in &text.units {
                hasher.write_u16(*unit);
            }
            let hash = hasher.finish128().as_u128();
            columns::push(&mut texts, HashedObject::new(hash, object))?;
        }
        Ok(Survey {
            texts,
            memory: None,
            notes: Vec::new(),
        })
    }
}

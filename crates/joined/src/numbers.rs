//! The numbers that a snapshot does not show: those in arrays, maps, sets and wrappers. Whoever captured the snapshot
//! read them at the same moment, and wrote those that may be addresses. The file is not trusted.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::moment::{DumpIdentity, unexpected, unreadable};
use base::error::Result;
use base::shown::Shown;

/// The first field of the file.
const FORMAT: &str = "warpo-heap-analyzer numbers 1";
/// The number of values that one container may have.
const MOST_SLOTS: usize = 1_000_000;
/// The steps by which the other numbers of an array are counted: 2, 3, … up to this one.
pub(crate) const MOST_STEP: u32 = 8;

/// The file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Numbers {
    /// The name of the format.
    pub format: String,
    /// The size of the dump of the same moment, in bytes.
    pub dump_size: u64,
    /// Its hash, in hexadecimal digits.
    pub dump_sha256: String,
    /// Numbers from here on are listed, if they are aligned as addresses.
    pub lo: u64,
    /// Numbers from here on are not listed.
    pub hi: u64,
    /// What was read.
    #[serde(default)]
    pub read: NumbersRead,
    /// The objects that have numbers.
    pub objects: Vec<NumberObject>,
}

/// What was read, and what was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NumbersRead {
    /// Containers of which not all numbers were read.
    #[serde(default)]
    pub cut_containers: u64,
    /// Objects with numbers that are not in the snapshot.
    #[serde(default)]
    pub unknown_objects: u64,
    /// Functions whose variables were read; absent if none were to be read.
    #[serde(default)]
    pub functions: Option<u64>,
    /// Whether the engine does not list typed arrays, so that not all were found.
    #[serde(default)]
    pub hidden_typed_arrays: bool,
    /// Functions that were left out, because there are too many.
    #[serde(default)]
    pub cut_functions: u64,
}

/// An object that has numbers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct NumberObject {
    /// Its id in the snapshot.
    pub id: u32,
    /// What it is.
    pub kind: ListedKind,
    /// The slots that may have an address: the name, the number, and the key of the entry of a map.
    pub slots: Vec<NumberSlot>,
    /// How many other numbers its slots of each kind have, without 0 and −1.
    #[serde(default)]
    pub other: BTreeMap<String, u64>,
    /// Of an array with both: its other numbers by index modulo 2, 3, … 8.
    #[serde(default)]
    pub steps: Option<Vec<Vec<u64>>>,
    /// Of a function: in which of its scopes the variables are, 0 for the innermost.
    #[serde(default)]
    pub scope: Option<u32>,
}

impl NumberObject {
    /// How many other numbers an array has at the indexes with this remainder.
    pub(crate) fn others_at(&self, step: u32, remainder: u32) -> u64 {
        let steps = self.steps.as_ref().and_then(|steps| {
            let of_step = steps.get(step.checked_sub(2)? as usize)?;
            of_step.get(remainder as usize).copied()
        });
        // Without counts by index, all may be there.
        steps.unwrap_or_else(|| self.all_others())
    }

    /// How many other numbers it has.
    pub(crate) fn all_others(&self) -> u64 {
        let counts = self.other.values();
        counts.fold(0, |sum, &count| sum.saturating_add(count))
    }
}

/// What an object with numbers is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListedKind {
    /// An array, whose slots are named by their indexes.
    Array,
    /// A map, whose slots are `key` and `value`.
    Map,
    /// A set, whose slots are `value`.
    Set,
    /// An object that wraps a number.
    Number,
    /// A function, whose slots are variables.
    Closure,
    /// A typed array.
    TypedArray,
}

impl<'de> Deserialize<'de> for ListedKind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Ok(match name.as_str() {
            "Array" => Self::Array,
            "Map" => Self::Map,
            "Set" => Self::Set,
            "Number" => Self::Number,
            "Closure" => Self::Closure,
            // `Int32Array` and others.
            name if name.ends_with("Array") => Self::TypedArray,
            name => {
                let message = format!("found the kind of object {name:?}");
                return Err(serde::de::Error::custom(message));
            }
        })
    }
}

/// A slot with a number that may be an address.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberSlot {
    /// An index, `key`, `value`, or the name of a variable.
    pub name: String,
    /// The number.
    pub value: u64,
    /// Of a value in a map, its key as text.
    pub key: Option<String>,
}

impl<'de> Deserialize<'de> for NumberSlot {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum SlotRow {
            Long(SlotText, f64, Option<String>),
            Short(SlotText, f64),
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum SlotText {
            Index(u64),
            Text(String),
        }
        let (name, value, key) = match SlotRow::deserialize(deserializer)? {
            SlotRow::Long(name, value, key) => (name, value, key),
            SlotRow::Short(name, value) => (name, value, None),
        };
        Ok(Self {
            name: match name {
                SlotText::Index(index) => index.to_string(),
                SlotText::Text(name) => name,
            },
            // A number that is no address becomes one that is none either.
            value: if value.fract() == 0.0 {
                value as u64
            } else {
                0
            },
            key,
        })
    }
}

impl Numbers {
    /// Reads the file of a dump.
    ///
    /// # Errors
    /// [`JoinError::Numbers`](crate::JoinError::Numbers), [`JoinError::OtherMoment`](crate::JoinError::OtherMoment).
    pub fn read(bytes: &[u8], dump: &DumpIdentity) -> Result<Self> {
        let numbers: Self = serde_json::from_slice(bytes).map_err(|error| unreadable(&error))?;
        if numbers.format != FORMAT {
            let found = Shown(&numbers.format);
            let message = format!("found the format {found}, expected {FORMAT}");
            return Err(unexpected(message).into());
        }
        let is_long = |object: &&NumberObject| object.slots.len() > MOST_SLOTS;
        if let Some(object) = numbers.objects.iter().find(is_long) {
            let (id, found) = (object.id, object.slots.len());
            let message = format!("@{id} has {found} slots, expected at most {MOST_SLOTS}");
            return Err(unexpected(message).into());
        }
        dump.check(numbers.dump_size, &numbers.dump_sha256)?;
        Ok(numbers)
    }

    /// Whether the variables of all functions were read.
    pub(crate) fn has_closures(&self) -> bool {
        self.read.functions.is_some() && self.read.cut_functions == 0
    }

    /// Whether all numbers in containers were read.
    pub(crate) fn has_containers(&self) -> bool {
        let NumbersRead {
            cut_containers,
            unknown_objects,
            hidden_typed_arrays,
            ..
        } = self.read;
        cut_containers == 0 && unknown_objects == 0 && !hidden_typed_arrays
    }
}

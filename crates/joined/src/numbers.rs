//! The numbers that a snapshot does not show: those in arrays, maps, sets and wrappers. Whoever captured the snapshot
//! read them at the same moment, and wrote those that may be addresses. The file is not trusted.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::JoinError;
use base::error::Result;

/// The version of the format.
const FORMAT: u32 = 1;
/// The number of values that one container may have.
const MOST_SLOTS: usize = 1_000_000;

/// The file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Numbers {
    /// The version of the format.
    pub format: u32,
    /// The size of the dump of the same moment, in bytes.
    pub dump_size: u64,
    /// Its hash, in hexadecimal digits.
    pub dump_sha256: String,
    /// Numbers from here on are listed, if they are multiples of 16.
    pub lo: u64,
    /// Numbers from here on are not listed.
    pub hi: u64,
    /// Whether the variables of functions were read.
    #[serde(default)]
    pub closures: bool,
    /// The objects that have numbers.
    pub objects: Vec<NumberObject>,
}

/// An object that has numbers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct NumberObject {
    /// Its id in the snapshot.
    pub id: u32,
    /// What it is.
    pub kind: NumberKind,
    /// Where in the source it is, if it is a function.
    #[serde(default)]
    pub loc: Option<String>,
    /// The slots that may have an address: the name, the number, and the key of the entry of a map.
    pub slots: Vec<NumberSlot>,
    /// How many other numbers its slots of each kind have.
    #[serde(default)]
    pub other: BTreeMap<String, u64>,
}

/// What an object with numbers is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NumberKind {
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

impl<'de> Deserialize<'de> for NumberKind {
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
        enum Row {
            Long(String, f64, Option<String>),
            Short(String, f64),
        }
        let (name, value, key) = match Row::deserialize(deserializer)? {
            Row::Long(name, value, key) => (name, value, key),
            Row::Short(name, value) => (name, value, None),
        };
        Ok(Self {
            name,
            // A number that is no address becomes one that is none either.
            value: if value.fract() == 0.0 { value as u64 } else { 0 },
            key,
        })
    }
}

impl Numbers {
    /// Reads the file.
    ///
    /// # Errors
    /// [`JoinError::Numbers`].
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let numbers: Self = serde_json::from_slice(bytes).map_err(|error| JoinError::Numbers {
            line: error.line(),
            column: error.column(),
            message: error.to_string(),
        })?;
        let wrong = |message: String| JoinError::Numbers {
            line: 0,
            column: 0,
            message,
        };
        if numbers.format != FORMAT {
            let found = numbers.format;
            return Err(wrong(format!("found format {found}, expected {FORMAT}")).into());
        }
        let is_long = |object: &&NumberObject| object.slots.len() > MOST_SLOTS;
        if let Some(object) = numbers.objects.iter().find(is_long) {
            let (id, found) = (object.id, object.slots.len());
            let message = format!("@{id} has {found} slots, expected at most {MOST_SLOTS}");
            return Err(wrong(message).into());
        }
        Ok(numbers)
    }

    /// Whether the variables of functions were read.
    pub(crate) fn has_closures(&self) -> bool {
        let is_closure = |object: &NumberObject| object.kind == NumberKind::Closure;
        self.closures || self.objects.iter().any(is_closure)
    }

    /// Refuses numbers of another dump than this one.
    ///
    /// # Errors
    /// [`JoinError::OtherMoment`].
    pub fn check_dump(&self, dump: &[u8]) -> Result<()> {
        let mut hash = String::new();
        for byte in Sha256::digest(dump) {
            // Writing to a string does not fail.
            _ = write!(hash, "{byte:02x}");
        }
        let size = dump.len() as u64;
        if self.dump_size == size && self.dump_sha256.eq_ignore_ascii_case(&hash) {
            return Ok(());
        }
        Err(JoinError::OtherMoment {
            expected_size: self.dump_size,
            expected_hash: self.dump_sha256.clone(),
            size,
            hash,
        }
        .into())
    }
}

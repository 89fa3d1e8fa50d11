//! Who pinned what: stacks of JavaScript, taken when it called `__pin`. The file is not trusted.

use serde::Deserialize;

use crate::moment::{DumpIdentity, unexpected, unreadable};
use base::error::Result;
use base::shown::Shown;

/// The first field of the file.
const FORMAT: &str = "warpo-heap-analyzer handles 1";
/// The frames of a stack that are kept.
const MOST_FRAMES: usize = 16;

/// The file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Handles {
    /// The name of the format.
    pub format: String,
    /// The size of the dump of the same moment, in bytes.
    pub dump_size: u64,
    /// Its hash, in hexadecimal digits.
    pub dump_sha256: String,
    /// The stacks, each from its innermost frame on.
    pub stacks: Vec<Vec<String>>,
    /// The address of each pinned object, and the number of the stack that pinned it; −1 if it was not taken.
    pub pins: Vec<(f64, i64)>,
}

impl Handles {
    /// Reads the file of a dump.
    ///
    /// # Errors
    /// [`JoinError::Numbers`](crate::JoinError::Numbers), [`JoinError::OtherMoment`](crate::JoinError::OtherMoment).
    pub fn read(bytes: &[u8], dump: &DumpIdentity) -> Result<Self> {
        let mut handles: Self =
            serde_json::from_slice(bytes).map_err(|error| unreadable(&error))?;
        if handles.format != FORMAT {
            let found = Shown(&handles.format);
            let message = format!("found the format {found}, expected {FORMAT}");
            return Err(unexpected(message).into());
        }
        dump.check(handles.dump_size, &handles.dump_sha256)?;
        for stack in &mut handles.stacks {
            stack.truncate(MOST_FRAMES);
        }
        Ok(handles)
    }
}

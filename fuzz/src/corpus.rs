//! The kept corpus: one archive per target, `corpus/<target>.tar.gz`.

use std::fs::File;
use std::io::{Read, Result};
use std::path::Path;

use flate2::read::GzDecoder;
use tar::Archive;

/// The kept inputs of a target.
///
/// # Errors
/// If there is no archive for it, or it cannot be read.
pub fn inputs(target: &str) -> Result<Vec<Vec<u8>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let file = File::open(folder.join(format!("{target}.tar.gz")))?;
    let mut inputs = Vec::new();
    for entry in Archive::new(GzDecoder::new(file)).entries()? {
        let mut input = Vec::new();
        entry?.read_to_end(&mut input)?;
        inputs.push(input);
    }
    Ok(inputs)
}

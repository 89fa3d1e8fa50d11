//! Translates the WebAssembly text that is part of the profiler.

use std::error::Error;
use std::path::PathBuf;

const LIVE_SAMPLES: &str = "src/allocations/live_samples.wat";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={LIVE_SAMPLES}");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(
        out.join("live_samples.wasm"),
        wat::parse_file(LIVE_SAMPLES)?,
    )?;
    Ok(())
}

//! Translates the WebAssembly text that is part of the analyzer, and tells the linker to accept N-API symbols, which
//! the Node process provides when it loads the addon.

use std::error::Error;
use std::path::PathBuf;

const LIVE_SAMPLES: &str = "src/instrument/allocations/live_samples.wat";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={LIVE_SAMPLES}");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(
        out.join("live_samples.wasm"),
        wat::parse_file(LIVE_SAMPLES)?,
    )?;
    if std::env::var_os("CARGO_FEATURE_NAPI").is_some() {
        napi_build::setup();
    }
    Ok(())
}

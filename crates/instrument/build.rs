//! Translates the WebAssembly text that is part of the profiler.

use std::error::Error;
use std::path::PathBuf;

const MODULES: [&str; 2] = ["live_samples", "contexts"];

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    for module in MODULES {
        let text = format!("src/allocations/{module}.wat");
        println!("cargo::rerun-if-changed={text}");
        std::fs::write(out.join(format!("{module}.wasm")), wat::parse_file(text)?)?;
    }
    Ok(())
}

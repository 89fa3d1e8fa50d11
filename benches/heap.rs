//! One measurement, or one forged heap, per process: what `npm run bench` puts together.
//!
//! ```text
//! cargo bench --bench heap -- shapes
//! cargo bench --bench heap -- forge <shape> --memory 512MiB <dump> <wasm> [--seed <n>]
//! cargo bench --bench heap -- forge <shape> --objects 1000000 <dump> <wasm> [--seed <n>]
//! ```

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark that cannot run has nothing to say"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::time::Instant;

use support::forge::{Forge, Shape, Size};

const USAGE: &str = "usage: heap shapes
       heap forge <shape> (--memory <n>MiB|<n>GiB | --objects <n>) [--seed <n>] <dump> <wasm>";

fn main() {
    // Cargo adds `--bench` to what it was given.
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    if let Err(message) = run(Arguments(arguments)) {
        eprintln!("{message}");
        std::process::exit(1);
    }
}

fn run(mut arguments: Arguments) -> Result<(), String> {
    match arguments.next()?.as_str() {
        "shapes" => Shape::ALL
            .iter()
            .for_each(|shape| println!("{}", shape.name)),
        "forge" => forge(arguments)?,
        other => return Err(format!("no such command: {other}\n{USAGE}")),
    }
    Ok(())
}

/// Writes a heap and its module; prints what is known of it.
fn forge(mut arguments: Arguments) -> Result<(), String> {
    let size = match (
        arguments.option("--memory")?,
        arguments.option("--objects")?,
    ) {
        (Some(memory), None) => Size::Memory(parse_size(&memory)?),
        (None, Some(objects)) => Size::Objects(parse(&objects)?),
        _ => return Err(USAGE.to_owned()),
    };
    let seed = arguments
        .option("--seed")?
        .map_or(Ok(1), |seed| parse(&seed))?;
    let name = arguments.next()?;
    let shape = Shape::named(&name).ok_or(format!("no such shape: {name}"))?;
    let (dump, wasm) = (arguments.next()?, arguments.next()?);
    let forge = Forge::new(shape, size, seed);
    let begin = Instant::now();
    let truth = forge
        .write_to(Path::new(&dump))
        .map_err(|error| format!("{dump}: {error}"))?;
    let seconds = begin.elapsed().as_secs_f64();
    std::fs::write(&wasm, forge.module()).map_err(|error| format!("{wasm}: {error}"))?;
    println!(
        "{}",
        serde_json::json!({ "truth": truth, "blocks": truth.blocks(), "seconds": seconds })
    );
    Ok(())
}

/// What the command line says, in order.
struct Arguments(Vec<String>);

impl Arguments {
    fn next(&mut self) -> Result<String, String> {
        if self.0.is_empty() {
            return Err(USAGE.to_owned());
        }
        Ok(self.0.remove(0))
    }

    /// The word behind an option, wherever that is.
    fn option(&mut self, name: &str) -> Result<Option<String>, String> {
        let Some(at) = self.0.iter().position(|word| word == name) else {
            return Ok(None);
        };
        if at + 1 == self.0.len() {
            return Err(format!("{name} needs a value\n{USAGE}"));
        }
        Ok(self.0.drain(at..at + 2).next_back())
    }
}

fn parse<T: std::str::FromStr>(word: &str) -> Result<T, String> {
    word.parse()
        .map_err(|_| format!("not a whole number: {word}"))
}

fn parse_size(word: &str) -> Result<u64, String> {
    let units = [("MiB", 1 << 20), ("GiB", 1 << 30)];
    let unit = units
        .iter()
        .find_map(|&(name, bytes)| Some((word.strip_suffix(name)?, bytes)));
    let (number, bytes) = unit.ok_or(format!("not a size in MiB or GiB: {word}"))?;
    Ok(parse::<u64>(number)? * bytes)
}

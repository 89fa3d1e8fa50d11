//! One measurement, or one forged heap, per process. `npm run bench` combines them.
//!
//! ```text
//! cargo bench --bench heap -- shapes
//! cargo bench --bench heap -- forge list --memory 512MiB heap.dump program.wasm
//! cargo bench --bench heap -- analyze heap.dump program.wasm --json
//! cargo bench --bench heap -- questions heap.dump program.wasm
//! cargo bench --bench heap -- aborts heap.dump program.wasm --times 1000
//! cargo bench --bench heap -- yardsticks heap.dump --objects 10000000
//! cargo bench --bench heap -- provided-memory 2GiB node program.js
//! ```
//!
//! All but the last print one line of JSON; times are in seconds, sizes in bytes.

#![allow(
    clippy::unwrap_used,
    reason = "a benchmark that cannot run has nothing to say"
)]

mod aborts;
mod analysis;
mod process;
mod provided_memory;
mod questions;
#[path = "../../tests/it/support/mod.rs"]
mod support;
mod yardsticks;

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use support::forge::{Forge, Shape, Size};

const USAGE: &str = "usage: heap shapes
       heap forge <shape> (--memory <n>MiB|<n>GiB | --objects <n>) [--seed <n>] <dump> <wasm>
       heap analyze <dump> <wasm> [--json]
       heap questions <dump> <wasm>
       heap aborts <dump> <wasm> --times <n>
       heap yardsticks <dump> --objects <n>
       heap provided-memory <n>MiB|<n>GiB <program> [<argument>…]";

type Failure = Box<dyn std::error::Error>;

fn main() {
    // Cargo adds `--bench` to the arguments.
    let words = std::env::args().skip(1).filter(|word| word != "--bench");
    match run(Arguments(words.collect())) {
        Ok(result) => println!("{result}"),
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
    }
}

fn run(mut arguments: Arguments) -> Result<Value, Failure> {
    let command = arguments.next()?;
    match command.as_str() {
        "shapes" => Ok(Shape::ALL.iter().map(|shape| shape.name).collect()),
        "forge" => forge(arguments),
        "analyze" => {
            let with_json = arguments.flag("--json");
            analysis::measure(&arguments.next()?, &arguments.next()?, with_json)
        }
        "questions" => questions::measure(&arguments.next()?, &arguments.next()?),
        "aborts" => {
            let times = arguments.option("--times")?.ok_or(USAGE)?.parse()?;
            let (dump, wasm) = (arguments.next()?, arguments.next()?);
            aborts::aborts(Path::new(&dump), Path::new(&wasm), times)
        }
        "yardsticks" => {
            let objects = arguments.option("--objects")?.ok_or(USAGE)?.parse()?;
            yardsticks::measure(&arguments.next()?, objects)
        }
        "provided-memory" => {
            let (size, program) = (bytes(&arguments.next()?)?, arguments.next()?);
            provided_memory::run(size, &program, &arguments.0)?;
            Ok(Value::Null)
        }
        _ => Err(format!("no such command: {command}\n{USAGE}").into()),
    }
}

/// Writes a heap and its module; prints the known facts about it.
fn forge(mut arguments: Arguments) -> Result<Value, Failure> {
    let size = match (
        arguments.option("--memory")?,
        arguments.option("--objects")?,
    ) {
        (Some(memory), None) => Size::Memory(bytes(&memory)?),
        (None, Some(objects)) => Size::Objects(objects.parse()?),
        _ => return Err(USAGE.into()),
    };
    let seed = arguments
        .option("--seed")?
        .map_or(Ok(1), |seed| seed.parse())?;
    let name = arguments.next()?;
    let shape = Shape::named(&name).ok_or_else(|| format!("no such shape: {name}"))?;
    let (dump, wasm) = (arguments.next()?, arguments.next()?);
    let forge = Forge::new(shape, size, seed);
    std::fs::write(&wasm, forge.module())?;
    let begin = Instant::now();
    let truth = forge.write_to(Path::new(&dump))?;
    let seconds = begin.elapsed().as_secs_f64();
    Ok(json!({ "truth": truth, "blocks": truth.blocks(), "seconds": seconds }))
}

/// The command line's arguments, in order.
struct Arguments(Vec<String>);

impl Arguments {
    fn next(&mut self) -> Result<String, Failure> {
        if self.0.is_empty() {
            Err(USAGE.into())
        } else {
            Ok(self.0.remove(0))
        }
    }

    /// The argument after an option.
    fn option(&mut self, name: &str) -> Result<Option<String>, Failure> {
        let Some(at) = self.0.iter().position(|word| word == name) else {
            return Ok(None);
        };
        if at + 1 == self.0.len() {
            return Err(format!("{name} needs a value\n{USAGE}").into());
        }
        Ok(self.0.drain(at..at + 2).next_back())
    }

    fn flag(&mut self, name: &str) -> bool {
        let at = self.0.iter().position(|word| word == name);
        at.map(|at| self.0.remove(at)).is_some()
    }
}

fn bytes(size: &str) -> Result<u64, Failure> {
    let units = [("MiB", 1 << 20), ("GiB", 1 << 30)];
    let mut parts = units
        .iter()
        .filter_map(|&(name, bytes)| Some((size.strip_suffix(name)?, bytes)));
    let (number, unit) = parts
        .next()
        .ok_or_else(|| format!("not a size in MiB or GiB: {size}"))?;
    Ok(number.parse::<u64>()? * unit)
}

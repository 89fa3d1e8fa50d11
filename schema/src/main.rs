//! Writes `schema/*.json`: options and answers as their Rust types say, from which everything else about them is
//! generated. It is a package of its own because it keeps the order of fields in any JSON, which the engine does not.

mod opening;
mod views;

use std::error::Error;
use std::path::Path;

use opening::{AnalysisOptions, AnalyzeOptions, DiffOptions, FileOptions, HostInputs, OpenOptions};
use outputs::exports::Export;
use questions::{
    AllocationSites, Answer, AnswerBody, CheckOptions, GrowthOptions, Question, SiteGrowth,
    UnreachableGraph,
};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};
use views::{ComparisonView, ConstructorView};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, text) in files()? {
        std::fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// The files by name.
fn files() -> Result<[(&'static str, String); 2], Box<dyn Error>> {
    let mut answers = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    let bodies = [
        reference::<AnswerBody>(&mut answers),
        reference::<AllocationSites>(&mut answers),
        reference::<SiteGrowth>(&mut answers),
        reference::<UnreachableGraph>(&mut answers),
        reference::<Answer>(&mut answers),
        reference::<ConstructorView>(&mut answers),
        reference::<ComparisonView>(&mut answers),
    ];
    let mut options = SchemaSettings::draft2020_12().into_generator();
    let questions = [
        reference::<Question>(&mut options),
        reference::<GrowthOptions>(&mut options),
        reference::<CheckOptions>(&mut options),
        reference::<Export>(&mut options),
        reference::<AnalysisOptions>(&mut options),
        reference::<AnalyzeOptions>(&mut options),
        reference::<DiffOptions>(&mut options),
        reference::<OpenOptions>(&mut options),
        reference::<HostInputs>(&mut options),
        reference::<FileOptions>(&mut options),
    ];
    Ok([
        ("answers.json", text(&mut answers, &bodies)?),
        ("options.json", text(&mut options, &questions)?),
    ])
}

fn reference<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

fn text(generator: &mut SchemaGenerator, roots: &[Value]) -> Result<String, Box<dyn Error>> {
    let definitions = generator.take_definitions(true);
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "anyOf": roots,
        "$defs": definitions,
    });
    Ok(serde_json::to_string_pretty(&schema)? + "\n")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_files_are_those_of_the_types() {
        for (name, expected) in super::files().unwrap() {
            let path = super::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
            let found = std::fs::read_to_string(path).unwrap();
            assert!(found == expected, "{name} is old: just generate");
        }
    }
}

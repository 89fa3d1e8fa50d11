/**
 * `just new-question <name>`: the files of a new question about a loaded heap, which compile and pass their test. The
 * question lists live objects; what it should ask instead is up to you. Prints what is left to do.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

const QUESTIONS = "crates/questions/src";
const TESTS = "crates/engine/tests/it/questions";

const [name] = process.argv.slice(2);
if (!/^[a-z][a-z_]*$/.test(name ?? "")) {
  console.error(`error: found ${name}; expected a name in small letters, such as short_lived`);
  process.exit(2);
}
const folder = `${QUESTIONS}/${name}`;
if (existsSync(folder)) {
  console.error(`error: there is ${folder} already`);
  process.exit(2);
}
const type = name.replace(/(?:^|_)(.)/g, (_, letter) => letter.toUpperCase());
const words = name.replaceAll("_", "-");

const QUESTION = `//! Live objects, by address.

mod answer;

use serde::Deserialize;

use crate::loaded_heap::LoadedHeap;
use crate::parts::page::{default_limit, page};
pub use answer::${type};
use base::control::Control;
use base::error::Result;

/// Which part of the list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ${type}Options {
    /// The number of entries to list.
    #[serde(default = "default_limit")]
    pub limit: u64,
    /// The number of entries to leave out before the first.
    #[serde(default)]
    pub offset: u64,
}

/// Live objects, by address.
///
/// # Errors
/// [\`Error\`](base::Error): \`InvalidOption\` for a limit of 0, \`Aborted\`.
pub fn ${name}(
    loaded: &LoadedHeap,
    options: &${type}Options,
    control: &Control,
) -> Result<${type}> {
    control.check()?;
    let page = page(options.offset, options.limit)?;
    let shown = page.of(loaded.heap.live_heap_objects());
    Ok(${type} {
        total: loaded.heap.live_heap_objects().count() as u64,
        offset: page.offset,
        limit: page.limit,
        objects: shown.map(|object| loaded.shown(object).to_string()).collect(),
    })
}
`;

const ANSWER = `//! The answer to \`${words}\`.

use serde::Serialize;

/// Live objects, by address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ${type} {
    /// The number of objects.
    pub total: u64,
    /// The number of entries before the first listed one.
    pub offset: u64,
    /// The largest number of listed entries.
    pub limit: u64,
    /// The addresses of the listed objects, as text.
    pub objects: Vec<String>,
}
`;

const TEST = `//! The question \`${words}\`, against a naive definition.

use crate::support::Scene;
use engine::Control;
use engine::questions::{${type}Options, ${name}};

#[test]
fn a_live_object_is_listed_and_one_that_nothing_refers_to_is_not() {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    let (kept, lost) = (scene.object(node, 12), scene.object(node, 12));
    scene.global("assembly/index/root", node, kept);
    let heap = scene.open();
    let options = ${type}Options { limit: 10, offset: 0 };
    let answer = ${name}(&heap, &options, &Control::default()).unwrap();
    let text = |object: u32| format!("{object:#x}");
    assert!(answer.objects.contains(&text(kept.0)));
    assert!(!answer.objects.contains(&text(lost.0)));
    assert_eq!(answer.total, answer.objects.len() as u64);
}
`;

/** Adds a line to the sorted lines of a file that begin like it. */
function addLine(file, line, like) {
  const lines = readFileSync(file, "utf8").split("\n");
  const alike = lines.flatMap((text, place) => (like.test(text) ? [place] : []));
  const after = alike.findLast((place) => lines[place] < line) ?? alike[0] - 1;
  lines.splice(after + 1, 0, line);
  writeFileSync(file, lines.join("\n"));
}

mkdirSync(folder);
writeFileSync(`${folder}/mod.rs`, QUESTION);
writeFileSync(`${folder}/answer.rs`, ANSWER);
writeFileSync(`${TESTS}/${name}.rs`, TEST);
addLine(`${QUESTIONS}/lib.rs`, `mod ${name};`, /^mod \w+;$/);
addLine(`${QUESTIONS}/lib.rs`, `pub use ${name}::*;`, /^pub use \w+::\*;$/);
addLine(`${TESTS}/mod.rs`, `mod ${name};`, /^(pub )?mod \w+;$/);
spawnSync("cargo", ["fmt", "--all"], { stdio: "inherit" });

console.log(`made ${folder} and ${TESTS}/${name}.rs, which compile and pass: just test engine ${name}

left to do:
  ${folder}/mod.rs      what it asks, with its options
  ${QUESTIONS}/question.rs     a variant of Question; the compiler names the other places
  ${TESTS}/${name}.rs   compare with a naive definition
  "A question" in CONTRIBUTING.md lists the places that the compiler does not name`);

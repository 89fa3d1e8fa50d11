//! The picture in `docs/how-it-works.md` is the graph of the crates.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::crates::dependencies;

/// The graph of the crates as Mermaid, from what is used to what uses it, without arrows that follow from others.
fn picture() -> String {
    let dependencies = dependencies();
    let reaches = |from: &str, to: &str| {
        let mut waiting: Vec<_> = dependencies[from].iter().collect();
        while let Some(node) = waiting.pop() {
            if node == to {
                return true;
            }
            waiting.extend(&dependencies[node]);
        }
        false
    };
    let mut lines = vec!["```mermaid".to_owned(), "graph LR".to_owned()];
    for (user, needs) in &dependencies {
        for used in needs {
            let follows = needs.iter().any(|other| reaches(other, used));
            if !follows {
                lines.push(format!("  {used} --> {user}"));
            }
        }
    }
    lines[2..].sort();
    lines.push("```".to_owned());
    lines.join("\n")
}

#[test]
fn the_picture_in_the_documentation_is_the_graph_of_the_crates() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-it-works.md");
    let text = fs::read_to_string(file).unwrap();
    let picture = picture();
    assert!(text.contains(&picture), "expected:\n{picture}");
}

#[test]
fn the_documentation_describes_every_crate() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-it-works.md");
    let text = fs::read_to_string(file).unwrap();
    let rows: BTreeSet<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `crates/")?.split_once('`'))
        .map(|(name, _)| name.to_owned())
        .collect();
    let mut crates: BTreeSet<_> = dependencies().into_keys().collect();
    crates.remove("addon");
    assert_eq!(rows, crates);
}

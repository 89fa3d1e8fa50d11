//! The crates of the workspace, as Cargo describes them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

/// The packages of the workspace, as Cargo describes them. The fuzz targets are tests.
fn packages() -> Vec<serde_json::Value> {
    let metadata = std::process::Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .filter(|package| {
            let tools = ["warpo-heap-analyzer-fuzz", "heap-analyzer-schema"];
            !tools.iter().any(|tool| package["name"] == *tool)
        })
        .cloned()
        .collect()
}

/// The library of a package.
fn library(package: &serde_json::Value) -> &serde_json::Value {
    let targets = package["targets"].as_array().unwrap();
    let is_library = |target: &&serde_json::Value| {
        let kinds = target["kind"].as_array().unwrap();
        kinds.iter().any(|kind| kind == "lib" || kind == "cdylib")
    };
    targets.iter().find(is_library).unwrap()
}

/// The root files of all crates of the workspace.
pub(crate) fn crate_roots() -> Vec<PathBuf> {
    let path = |package: &serde_json::Value| library(package)["src_path"].as_str().unwrap().into();
    packages().iter().map(path).collect()
}

/// Which crates of the workspace each crate depends on, tests left out.
pub(crate) fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let packages = packages();
    let name = |package: &serde_json::Value| match library(package)["name"].as_str().unwrap() {
        "warpo_heap_analyzer" => "addon".to_owned(),
        name => name.to_owned(),
    };
    let names: HashMap<_, _> = packages
        .iter()
        .map(|package| (package["name"].as_str().unwrap(), name(package)))
        .collect();
    let needs = |package: &serde_json::Value| {
        let all = package["dependencies"].as_array().unwrap().iter();
        all.filter(|one| one["kind"].is_null())
            .filter_map(|one| names.get(one["name"].as_str().unwrap()).cloned())
            .collect()
    };
    packages
        .iter()
        .map(|package| (name(package), needs(package)))
        .collect()
}

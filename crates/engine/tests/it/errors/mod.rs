//! Every error that bad input can cause, with its whole text: people act on the text, so it is as
//! much a part of the interface as the code.

mod damaged_heaps;
mod dumps;
mod modules;
mod other_builds;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::support::{
    DATA_END, DumpFile, FIRST_BLOCK, HEAP_BASE, ModuleOptions, PAGE, Scene, TAIL_POINTER,
    WasmGlobal, analyze, analyze_bytes, encode_module, live,
};
use engine::dumps::{Dump, DumpError};
use engine::heap::Heap;
use engine::{Control, Error, Input, Program, Schedule};

/// Two linked nodes.
fn small_scene() -> Scene {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    scene.field(node, "next", 0, node);
    let (first, second) = (scene.object(node, 8), scene.object(node, 8));
    scene.set(first, 0, second);
    scene.global("assembly/index/head", node, first);
    scene
}

/// Asserts that an analysis failed, with this code and this text.
#[track_caller]
fn assert_fails(
    analysis: impl FnOnce() -> Result<Heap, Error> + Send + 'static,
    code: &str,
    text: &str,
) {
    // On another thread, so that an analysis that never ends fails the test and does not block it.
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(analysis().map(drop)));
    let result = receiver.recv_timeout(Duration::from_secs(120));
    let error = result.expect("an end").unwrap_err();
    assert_eq!(error.to_string(), text);
    assert_eq!(error.code(), code);
}

/// Asserts that the small dump is refused after this change.
#[track_caller]
fn assert_dump_fails(spoil: impl FnOnce(&mut DumpFile), code: &str, text: &str) {
    let scene = small_scene();
    let mut dump = scene.dump();
    spoil(&mut dump);
    let module = scene.module();
    assert_fails(move || analyze(&dump, &module), code, text);
}

#[track_caller]
fn assert_module_fails(module: &[u8], code: &str, text: &str) {
    let module = module.to_vec();
    assert_fails(move || analyze(&small_scene().dump(), &module), code, text);
}

// Errors that no input causes.

#[test]
fn cancelled_work_is_aborted_without_a_file_name() {
    let scene = small_scene();
    let (dump, module) = (scene.dump(), scene.module());
    let program = Program::read(input("program.wasm", &module), &Control::default()).unwrap();
    let control = Control::default();
    control.cancel();
    let error = program
        .analyze(input("heap.dump", &dump.bytes), &control)
        .unwrap_err();
    assert_eq!(error.to_string(), "the analysis was aborted");
    assert_eq!(error.code(), "ABORT_ERR");
}

#[test]
fn of_two_wrong_dumps_the_first_is_named() {
    let scene = small_scene();
    let module = scene.module();
    let program = Program::read(input("program.wasm", &module), &Control::default()).unwrap();
    let error = program
        .analyze_both(
            input("before.dump", b"ASHD"),
            input("after.dump", b"AS"),
            Schedule::SideBySide,
            &Control::default(),
        )
        .unwrap_err();
    assert!(error.to_string().starts_with("before.dump: "), "{error}");
}

#[test]
fn an_error_is_never_named_after_two_files() {
    let error = Error::from(DumpError::Version { found: 1 })
        .in_file("inner")
        .in_file("outer");
    assert!(
        error.to_string().starts_with("inner: dump format"),
        "{error}"
    );
}

fn input<'a>(name: &'a str, bytes: &'a [u8]) -> Input<'a> {
    Input { name, bytes }
}

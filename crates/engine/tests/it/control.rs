//! Running work: its phases, its progress, and the memory that it keeps.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::support::forge::{Forge, Shape, Size};
use crate::support::{Scene, encode_module};
use engine::assemblyscript::InMemory;
use engine::assemblyscript::runtime::evidence::Evidence;
use engine::heap::views::{ConstructorSort, ConstructorView, Selection};
use engine::wasm::debug_info::DebugInfo;
use engine::wasm::module::Module;
use engine::{Control, Error, Input, Phase, Program, ReadBytes, Schedule};

/// A dump with all that an analysis can find in one, and its module.
fn mix() -> (Vec<u8>, Vec<u8>) {
    let forge = Forge::new(Shape::named("mix").unwrap(), Size::Objects(100_000), 7);
    (forge.dump().0.bytes, forge.module())
}

fn input<Bytes>(name: &str, bytes: Bytes) -> Input<'_, Bytes> {
    Input { name, bytes }
}

#[test]
fn the_phases_of_an_analysis_begin_in_their_order() {
    let (dump, module) = mix();
    let phases = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&phases);
    let control = Control::observing(move |phase| seen.lock().unwrap().push(phase));
    let program = Program::read(input("wasm", &module[..]), &Control::default()).unwrap();
    program.analyze(input("dump", &dump), &control).unwrap();
    // The module is read before, and a view is made afterwards.
    let [_, expected @ .., _] = Phase::ALL;
    assert_eq!(*phases.lock().unwrap(), expected);
}

#[test]
fn the_phases_of_a_heap_that_is_opened_with_all_indexes_begin_in_the_order_of_an_analysis() {
    let (dump, module) = mix();
    let phases = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&phases);
    let control = Control::observing(move |phase| seen.lock().unwrap().push(phase));
    let program = Program::read(input("wasm", &module[..]), &Control::default()).unwrap();
    let contents = Box::new(InMemory(dump.clone()));
    let dump = input("dump", &dump[..]);
    program.open_prepared(dump, contents, &control).unwrap();
    let mut phases = phases.lock().unwrap().clone();
    // Several indexes are built afterwards.
    phases.dedup();
    let [_, expected @ ..] = Phase::ALL;
    assert_eq!(phases, expected);
}

#[test]
fn a_finished_analysis_has_made_all_progress_except_for_the_view() {
    let (dump, module) = mix();
    let control = Control::default();
    let program = Program::read(input("wasm", &module[..]), &Control::default()).unwrap();
    program.analyze(input("dump", &dump), &control).unwrap();
    let progress = control.progress();
    assert_eq!(progress.bytes, dump.len() as u64);
    assert!((0.9..1.0).contains(&progress.fraction), "{progress:?}");
}

#[test]
fn work_can_be_cancelled_in_every_phase() {
    let (dump, module) = mix();
    let program = Program::read(input("wasm", &module[..]), &Control::default()).unwrap();
    let [_, phases @ .., _] = Phase::ALL;
    for last in phases {
        let handle = Arc::new(Mutex::new(None::<Control>));
        let own = Arc::clone(&handle);
        let control = Control::observing(move |phase| {
            if phase == last {
                own.lock().unwrap().as_ref().unwrap().cancel();
            }
        });
        *handle.lock().unwrap() = Some(control.clone());
        let result = program.analyze(input("dump", &dump), &control);
        assert_eq!(result.unwrap_err().code(), "ABORT_ERR", "in {last:?}");
        assert_eq!(control.progress().phase, last, "nothing began after it");
        // The control holds its observer, which holds the control.
        handle.lock().unwrap().take();
    }
}

#[test]
fn requested_classes_are_known_before_dominators_are() {
    let (dump, module) = mix();
    let program = Program::read(input("wasm", &module[..]), &Control::default()).unwrap();
    let handle = Arc::new(Mutex::new(None::<Control>));
    let early = Arc::new(Mutex::new(None));
    let (own, found) = (Arc::clone(&handle), Arc::clone(&early));
    let control = Control::observing(move |phase| {
        let control = own.lock().unwrap();
        let classes = control.as_ref().unwrap().take_classes();
        assert_eq!(classes.is_some(), phase == Phase::Dominators, "{phase:?}");
        if classes.is_some() {
            *found.lock().unwrap() = classes;
        }
    });
    control.request_classes();
    *handle.lock().unwrap() = Some(control.clone());
    let heap = program.analyze(input("dump", &dump), &control).unwrap();
    handle.lock().unwrap().take();
    let view = ConstructorView::new(
        heap.into(),
        Selection::sorted(ConstructorSort::Shallow),
        &Control::default(),
    )
    .unwrap();
    let mut rows: Vec<_> = view
        .rows()
        .iter()
        .map(|row| (row.total_shallow_size, row.count, row.class_name.clone()))
        .collect();
    let classes = early.lock().unwrap().take().unwrap().into_iter();
    let mut classes: Vec<_> = classes
        .map(|class| (class.shallow_size, class.count, class.class_name))
        .collect();
    assert!(classes.is_sorted_by_key(|(size, count, _)| Reverse((*size, *count))));
    classes.sort();
    rows.sort();
    assert_eq!(classes, rows);
}

fn cancelled() -> Control {
    let control = Control::default();
    control.cancel();
    control
}

#[track_caller]
fn assert_is_aborted<T>(result: Result<T, Error>) {
    let error = result.map(drop).unwrap_err();
    assert_eq!(error.code(), "ABORT_ERR");
}

#[test]
fn reading_a_module_can_be_cancelled() {
    let wasm = Scene::new().module();
    assert_is_aborted(Program::read(input("wasm", &wasm), &cancelled()));
}

#[test]
fn reading_debug_information_can_be_cancelled() {
    let wasm = Scene::new().module();
    let module = Module::parse(&wasm, &Control::default()).unwrap();
    assert_is_aborted(DebugInfo::read(&module, &cancelled()));
}

#[test]
fn reading_the_collectors_code_can_be_cancelled() {
    let mut scene = Scene::new();
    let class = scene.class("assembly/index/Node");
    scene.global("assembly/index/node", class, crate::support::NULL);
    let wasm = scene.module_with_collector(&[(class, &[0])]);
    let module = Module::parse(&wasm, &Control::default()).unwrap();
    let evidence = Evidence::read(&module, &Control::default()).unwrap();
    assert!(evidence.code.is_some());
    assert_is_aborted(Evidence::read(&module, &cancelled()));
}

#[test]
fn a_cancelled_search_for_the_collectors_code_does_not_report_that_it_is_missing() {
    let wasm = encode_module(&[], &[], &crate::support::ModuleOptions::default());
    let module = Module::parse(&wasm, &Control::default()).unwrap();
    assert_is_aborted(Evidence::read(&module, &cancelled()));
}

/// Bytes that record when they are dropped, and what of them is released.
struct Watched {
    bytes: Vec<u8>,
    is_dropped: Arc<AtomicBool>,
    /// The ranges that were released before.
    released: Arc<Mutex<Vec<Range<usize>>>>,
}

impl AsRef<[u8]> for Watched {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl ReadBytes for Watched {
    fn release(&self, range: Range<usize>) {
        self.released.lock().unwrap().push(range);
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.is_dropped.store(true, Ordering::SeqCst);
    }
}

#[test]
fn the_dump_is_dropped_before_the_search_takes_its_memory() {
    let (bytes, module) = mix();
    let is_dropped = Arc::new(AtomicBool::new(false));
    let when_dropped = Arc::new(Mutex::new(Vec::new()));
    let (asked, noted) = (Arc::clone(&is_dropped), Arc::clone(&when_dropped));
    let control = Control::observing(move |phase| {
        let is_dropped = asked.load(Ordering::SeqCst);
        noted.lock().unwrap().push((phase, is_dropped));
    });
    let program = Program::read(input("wasm", &module[..]), &Control::default()).unwrap();
    let dump = Watched {
        bytes,
        is_dropped,
        released: Arc::default(),
    };
    program.analyze(input("dump", dump), &control).unwrap();
    let when_dropped = when_dropped.lock().unwrap();
    assert!(when_dropped.contains(&(Phase::References, false)));
    assert!(when_dropped.contains(&(Phase::Search, true)));
}

#[test]
fn a_mapped_file_has_the_same_bytes_after_any_range_was_released() {
    let path = std::env::temp_dir().join(format!("released-{}", std::process::id()));
    let written: Vec<u8> = (0..100_000u32).map(|nth| (nth % 251) as u8).collect();
    std::fs::write(&path, &written).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    // SAFETY: nothing else has the path.
    let map = unsafe { memmap2::Mmap::map(&file) }.unwrap();
    std::fs::remove_file(&path).unwrap();
    let ranges = [
        0..0,
        0..1,
        5_000..9_000,
        99_999..200_000,
        300_000..400_000,
        0..100_000,
    ];
    for range in ranges {
        map.release(range);
        assert_eq!(map[..], written[..]);
    }
}

#[test]
fn the_memory_of_a_dump_is_released_behind_the_reader() {
    let (bytes, module) = mix();
    let length = bytes.len();
    let released = Arc::default();
    let dump = Watched {
        bytes,
        is_dropped: Arc::default(),
        released: Arc::clone(&released),
    };
    let program = Program::read(input("wasm", &module[..]), &Control::default()).unwrap();
    program
        .analyze(input("dump", dump), &Control::default())
        .unwrap();
    let released = released.lock().unwrap();
    // Once when the headers were read, and again when the references were.
    assert!(released.len() > 1, "{released:?}");
    assert!(
        released
            .iter()
            .all(|range| range.start < range.end && range.end <= length)
    );
    assert!(released.iter().map(|range| range.len()).sum::<usize>() > length);
}

#[test]
fn two_dumps_give_the_same_side_by_side_and_one_by_one() {
    let (before, module) = mix();
    let forge = Forge::new(Shape::named("mix").unwrap(), Size::Objects(2_000), 8);
    let after = forge.dump().0.bytes;
    let program = Program::read(input("wasm", &module[..]), &Control::default()).unwrap();
    let [side_by_side, one_by_one] = [Schedule::SideBySide, Schedule::OneByOne].map(|schedule| {
        let dumps = (input("before", &before), input("after", &after));
        let (before, after) = program
            .analyze_both(dumps.0, dumps.1, schedule, &Control::default())
            .unwrap();
        [before, after].map(|heap| {
            let view =
                ConstructorView::new(Arc::new(heap), Selection::default(), &Control::default())
                    .unwrap();
            view.rows().to_vec()
        })
    });
    assert_eq!(side_by_side, one_by_one);
}

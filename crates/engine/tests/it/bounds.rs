//! Small inputs that describe a large amount of data: without its bound, each of these would take minutes or
//! all memory. SECURITY.md lists the bounds.

use crate::support::{
    ALLOCATOR, Class, FIRST_BLOCK, ModuleOptions, Object, PAGE, Scene, TAIL_POINTER, WasmGlobal,
    analyze_tolerating, encode_module, live, warnings,
};
use engine::runtime_code::collector_code::{CodeReader, CollectorCode, Storage};
use engine::wasm::debug_info::DebugInfo;
use engine::wasm::module::Module;
use engine::{ClassId, Control, Error, Tolerance};

const EVERYTHING: Tolerance = Tolerance {
    mismatch: true,
    damage: true,
};

const COMPILE_UNIT: u8 = 0x11;
const CLASS: u8 = 0x02;
const NAME: u8 = 0x03;
const EXTERNAL: u8 = 0x3f;
const STRP: u8 = 0x0e;
const FLAG_PRESENT: u8 = 0x19;

/// A unit with these entries after its root, which has the code 1.
fn unit(entries: &[u8]) -> Vec<u8> {
    let length = (7 + 1 + entries.len()) as u32;
    let header = [4, 0, 0, 0, 0, 0, 4];
    [&length.to_le_bytes()[..], &header, &[1], entries].concat()
}

fn read_dwarf(abbrev: Vec<u8>, info: Vec<u8>, str: Vec<u8>) -> Result<Option<DebugInfo>, Error> {
    let sections = [
        ("debug_abbrev", abbrev),
        ("debug_info", info),
        ("debug_str", str),
    ];
    let wasm = encode_module(&[], &sections, &ModuleOptions::default());
    DebugInfo::read(&parse(&wasm), &Control::default())
}

fn parse(wasm: &[u8]) -> Module<'_> {
    Module::parse(wasm, &Control::default()).unwrap()
}

#[track_caller]
fn assert_exceeds_limit(result: Result<Option<DebugInfo>, Error>) {
    let message = result.unwrap_err().to_string();
    assert!(
        message.contains("much more in it than its size explains"),
        "{message}"
    );
}

#[test]
fn a_name_that_every_entry_shares_is_not_copied_without_end() {
    let root = [1, COMPILE_UNIT, 1, 0, 0];
    let class = [2, CLASS, 0, NAME, STRP, 0, 0, 0];
    let info = unit(&[2, 0, 0, 0, 0].repeat(100_000));
    assert_exceeds_limit(read_dwarf(
        [&root[..], &class].concat(),
        info,
        [vec![b'x'; 1 << 20], vec![0]].concat(),
    ));
}

#[test]
fn a_name_that_is_not_utf8_counts_with_its_replacement() {
    let root = [1, COMPILE_UNIT, 1, 0, 0];
    let class = [2, CLASS, 0, NAME, STRP, 0, 0, 0];
    // The limit allows 48 copies of a text of this size, but not copies that are three times as long.
    let names = |byte| {
        read_dwarf(
            [&root[..], &class].concat(),
            unit(&[2, 0, 0, 0, 0].repeat(48)),
            [vec![byte; 1 << 20], vec![0]].concat(),
        )
    };
    assert_eq!(names(b'x').unwrap().unwrap().classes.len(), 48);
    assert_exceeds_limit(names(0xff));
}

#[test]
fn attributes_without_a_size_are_not_read_without_end() {
    let root = [1, COMPILE_UNIT, 1, 0, 0];
    let attributes = [EXTERNAL, FLAG_PRESENT].repeat(20_000);
    let abbrev = [&root[..], &[2, CLASS, 0], &attributes, &[0, 0, 0]].concat();
    assert_exceeds_limit(read_dwarf(abbrev, unit(&[2].repeat(200_000)), Vec::new()));
}

#[test]
fn tables_of_abbreviations_that_overlap_are_not_read_without_end() {
    // A table begins at every entry and ends after the last one, which is the root's.
    let mut abbrev = Vec::new();
    for code in (2..=8000u16).chain([1]) {
        let code = [(code & 0x7f) as u8 | 0x80, (code >> 7) as u8];
        abbrev.extend([code[0], code[1], COMPILE_UNIT, 0, 0, 0]);
    }
    abbrev.push(0);
    let units = (0..20_000u32).flat_map(|nth| {
        let mut unit = unit(&[]);
        unit[6..10].copy_from_slice(&(nth % 8000 * 6).to_le_bytes());
        unit
    });
    assert_exceeds_limit(read_dwarf(abbrev, units.collect(), Vec::new()));
}

/// A heap of one object of each of these classes, all kept by globals.
fn one_of_each(scene: &mut Scene, classes: &[Class], size: u32) -> Vec<Object> {
    classes
        .iter()
        .map(|&class| scene.object(class, size))
        .collect()
}

#[test]
fn a_long_chain_of_classes_is_unknown_rather_than_laid_out_for_each_of_them() {
    let mut scene = Scene::new();
    let mut classes: Vec<Class> = Vec::new();
    for nth in 0..660 {
        let class = scene.class(&format!("assembly/index/C{nth}"));
        if let Some(&base) = classes.last() {
            scene.inherit(class, base);
        }
        for field in 0..20 {
            scene.field(class, "f", 80 * nth + 4 * field, class);
        }
        classes.push(class);
    }
    let objects = one_of_each(&mut scene, &classes, 4);
    let keeper = scene.class("assembly/index/Keeper");
    scene.global("assembly/index/last", keeper, *objects.last().unwrap());
    assert_eq!(
        warnings(&scene.analyze()),
        [
            "the module does not describe the class with runtime id 663 (1 object(s)): every word of them counts as a possible reference, so too many objects may count as live"
        ]
    );
}

#[test]
fn objects_of_any_number_of_class_ids_share_one_class() {
    let mut scene = Scene::new();
    let class = scene.class("assembly/index/Node");
    let objects = one_of_each(&mut scene, &[class; 1000], 4);
    let mut dump = scene.dump();
    for (nth, object) in (0..).zip(&objects) {
        dump.poke(object.0 - 8, 1_000_000 + nth);
    }
    let heap = analyze_tolerating(&dump.bytes, &scene.module(), EVERYTHING).unwrap();
    let names: Vec<_> = heap
        .objects
        .classes
        .iter()
        .map(|class| &class.name)
        .collect();
    assert_eq!(names, ["Class#1000000 to 1000999"]);
}

#[test]
fn one_class_id_beyond_all_others_is_still_reported() {
    let mut scene = Scene::new();
    let class = scene.class("assembly/index/Node");
    let object = scene.object(class, 4);
    let mut dump = scene.dump();
    dump.poke(object.0 - 8, 70_000);
    let heap = analyze_tolerating(&dump.bytes, &scene.module(), EVERYTHING).unwrap();
    assert_eq!(heap.objects.classes[0].name, "Class#70000");
}

#[test]
fn warnings_of_one_kind_are_listed_a_hundred_times_and_then_counted() {
    let mut scene = Scene::new();
    let class = scene.class("assembly/index/Node");
    scene.object(class, 4);
    for nth in 0..150 {
        scene.global(&format!("assembly/index/g{nth}"), class, 12345u32);
    }
    let heap = scene.analyze();
    assert_eq!(heap.warnings.len(), 101);
    assert_eq!(heap.warnings[100].code(), "WARN_MORE");
    assert_eq!(
        heap.warnings[100].to_string(),
        "50 more warnings with the code WARN_GLOBAL_NOT_AN_OBJECT are not listed; they have the same consequences as the listed ones"
    );
}

/// A module that exports this function as its collector.
fn collector(locals: u32, code: &[u8]) -> Vec<u8> {
    use wasm_encoder as enc;
    let mut types = enc::TypeSection::new();
    types.ty().function([], []);
    let mut functions = enc::FunctionSection::new();
    functions.function(0);
    let mut exports = enc::ExportSection::new();
    exports.export("__collect", enc::ExportKind::Func, 0);
    let mut count = Vec::new();
    enc::Encode::encode(&locals, &mut count);
    let mut bodies = enc::CodeSection::new();
    bodies.raw(&[&[1][..], &count, &[0x7f], code, &[0x0b]].concat());
    let mut module = enc::Module::new();
    module
        .section(&types)
        .section(&functions)
        .section(&exports)
        .section(&bodies);
    module.finish()
}

fn assert_is_given_up(wasm: &[u8]) {
    assert!(CollectorCode::find(&parse(wasm), &Control::default()).is_none());
}

#[test]
fn a_collector_that_never_ends_is_given_up() {
    // loop, br 0
    assert_is_given_up(&collector(0, &[0x03, 0x40, 0x0c, 0, 0x0b]));
}

#[test]
fn a_collector_that_calls_itself_with_fifty_thousand_locals_is_given_up() {
    // call 0
    assert_is_given_up(&collector(49_000, &[0x10, 0]));
}

#[test]
fn a_collector_that_fills_all_memory_is_given_up() {
    // loop, i32.const 0, i32.const 1, i32.const -1, memory.fill, br 0
    let fill = [0x41, 0, 0x41, 1, 0x41, 0x7f, 0xfc, 0x0b, 0];
    let code = [&[0x03, 0x40][..], &fill, &[0x0c, 0, 0x0b]].concat();
    assert_is_given_up(&collector(0, &code));
}

#[test]
fn a_collector_that_opens_a_million_blocks_is_given_up() {
    let code = [[0x02, 0x40].repeat(500_000), [0x0b].repeat(500_000)].concat();
    assert_is_given_up(&collector(0, &code));
}

/// A dump with a static object of this class at equal distances, each up to the end of the static data,
/// behind which there is a page.
fn statics(end: u32, distance: u32, class_id: u32) -> crate::support::DumpFile {
    let mut dump = crate::support::DumpFile::new(u64::from(end) + u64::from(PAGE), 7);
    dump.write_header(&[end, 0, 0, 0, 0, 0, 0]);
    dump.set_boundaries(end, end, end);
    for payload in (32..end - 32).step_by(distance as usize) {
        let size = end - payload;
        let block = (size + 20).next_multiple_of(16) - 4;
        dump.poke_all(payload - 20, &[block, 0, 0, class_id, size]);
    }
    dump
}

#[test]
fn literals_that_overlap_are_not_compared_without_end() {
    const END: u32 = 4 << 20;
    let dump = statics(END, 32, crate::support::STRING.id);
    let mut scene = Scene::new();
    for global in &mut scene.globals {
        match global.name.as_str() {
            "~lib/memory/__data_end" | "~lib/memory/__heap_base" => global.value = END,
            _ => {}
        }
    }
    let start = dump.memory_start();
    let data = dump.bytes[start..start + END as usize].to_vec();
    let wasm = scene.module_with(&ModuleOptions {
        data: vec![(0, data)],
        ..ModuleOptions::default()
    });
    let heap = analyze_tolerating(&dump.bytes, &wasm, EVERYTHING).unwrap();
    assert_eq!(heap.live_size, 0);
}

#[test]
fn pages_full_of_possible_regions_are_searched_once() {
    const PAGES: u32 = 900;
    let mut scene = Scene::new();
    scene.grow_to(PAGES);
    let mut dump = scene.dump();
    // Every third page is a region of raw blocks of 16 bytes: no list vouches for any of them.
    for page in (3..PAGES - 3).step_by(3) {
        for block in (page * PAGE + 12..(page + 1) * PAGE - 4).step_by(16) {
            dump.poke(block, 12);
        }
        dump.poke((page + 1) * PAGE - 4, 0);
    }
    dump.poke(FIRST_BLOCK, PAGE - 4 - FIRST_BLOCK - 4);
    dump.poke(PAGE - 4, 0);
    dump.poke(TAIL_POINTER, PAGES * PAGE - 4);
    for head in (ALLOCATOR..TAIL_POINTER).step_by(4) {
        dump.poke(head, 0);
    }
    let heap = analyze_tolerating(&dump.bytes, &scene.module(), EVERYTHING).unwrap();
    assert_eq!(heap.live_size, 0);
}

#[test]
fn free_lists_that_share_static_memory_are_not_followed_each_through_all_of_it() {
    const SIZE: u32 = 24 << 20;
    const HEAP: u32 = SIZE - 2 * PAGE;
    const FREE: u32 = 17;
    let mut dump = crate::support::DumpFile::new(u64::from(SIZE), 7);
    dump.write_header(&[HEAP, 0, 0, 0, 0, 0, 0]);
    dump.set_boundaries(HEAP, HEAP, HEAP);
    // One long list, and the heads of all lists lead to its start.
    for block in (64..HEAP - 64).step_by(16) {
        dump.poke(block, FREE);
        dump.poke(block + 8, block + 16);
    }
    dump.poke(HEAP - 64, FREE);
    dump.poke(HEAP - 56, 0);
    for head in (HEAP + 96..HEAP + 1568).step_by(4) {
        dump.poke(head, 64);
    }
    // A first region without a block, so that others are searched for.
    dump.poke(HEAP + 1568, SIZE - 4);
    let wasm = Scene::new().module();
    let heap = analyze_tolerating(&dump.bytes, &wasm, EVERYTHING).unwrap();
    assert_eq!(heap.live_size, 0);
}

#[test]
fn line_tables_are_not_read_again_for_every_unit_without_end() {
    let root = [1, COMPILE_UNIT, 0, 0, 0, 0];
    let read = |units: usize| {
        let sections = [
            ("debug_abbrev", root.to_vec()),
            ("debug_info", unit(&[]).repeat(units)),
            ("debug_line", vec![0; 1 << 20]),
        ];
        let wasm = encode_module(&[], &sections, &ModuleOptions::default());
        DebugInfo::read(&parse(&wasm), &Control::default())
    };
    assert!(read(15).is_ok());
    assert_exceeds_limit(read(17));
}

#[test]
fn finding_variables_by_name_does_not_visit_all_globals_for_each() {
    const COUNT: u32 = 50_000;
    let mut scene = Scene::new();
    let class = scene.class("assembly/index/Node");
    scene.field(class, "next", 0, class);
    let object = scene.object(class, 4);
    for nth in 0..COUNT {
        // Names that differ only at their ends.
        let name = format!("assembly/index/a/variable/of/many/{nth:08}");
        scene.describe_global(&name, class, None);
        scene.globals.push(WasmGlobal::variable(&name, object.0));
    }
    let heap = scene.analyze();
    assert_eq!(live(&heap), [object]);
    assert_eq!(warnings(&heap), [""; 0]);
}

#[test]
fn bases_that_lead_back_to_a_class_end() {
    let mut scene = Scene::new();
    let [first, second, outside] = ["A", "B", "C"].map(|name| scene.class(name));
    scene.inherit(first, second);
    scene.inherit(second, first);
    scene.inherit(outside, first);
    scene.field(first, "one", 0, first);
    scene.field(second, "two", 4, first);
    scene.field(outside, "three", 8, first);
    let objects = [(); 3].map(|()| scene.object(first, 12));
    let holder = scene.object_of(outside, &objects.map(|object| object.0));
    scene.global("assembly/index/holder", outside, holder);
    let heap = scene.analyze();
    assert_eq!(live(&heap), [&objects[..], &[holder]].concat());
    assert_eq!(warnings(&heap), [""; 0]);
}

#[test]
fn excess_classes_of_one_id_become_an_unknown_class() {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    let first = scene.class("assembly/index/Rival0");
    for nth in 1..20u32 {
        let rival = scene.class_with_id(&format!("assembly/index/Rival{nth}"), Some(first.id));
        scene.field(rival, "field", 4 * nth, node);
    }
    let target = scene.object(node, 4);
    let mut words = [0; 20];
    // Only the last of them has a field here.
    words[19] = target.0;
    let holder = scene.object_of(first, &words);
    scene.global("assembly/index/holder", first, holder);
    let heap = scene.analyze();
    assert_eq!(live(&heap), [target, holder]);
    assert_eq!(heap.warnings[0].code(), "WARN_CLASS_AMBIGUOUS");
}

#[test]
fn fields_of_objects_that_overlap_are_not_read_without_end() {
    const END: u32 = 1 << 20;
    let mut scene = Scene::new();
    let class = scene.class("assembly/index/Wide");
    for nth in 0..4000 {
        scene.field(class, "f", 4 * nth, class);
    }
    // An object every 32 bytes, each up to the end of the static data.
    let dump = statics(END, 32, class.id);
    let error = analyze_tolerating(&dump.bytes, &scene.module(), EVERYTHING).unwrap_err();
    assert_eq!(error.code(), "ERR_TOO_MANY_REFERENCES");
}

#[test]
fn classes_whose_visitors_never_end_share_one_budget() {
    let variable = WasmGlobal::variable("assembly/index/root", 0);
    let collector = crate::support::CollectorCode {
        globals: vec![0],
        members: vec![vec![], vec![], vec![], vec![0], vec![4]],
        is_endless: true,
        ..crate::support::CollectorCode::default()
    };
    let wasm = encode_module(
        &[variable],
        &[],
        &ModuleOptions {
            collector: Some(collector),
            ..ModuleOptions::default()
        },
    );
    let module = parse(&wasm);
    let control = Control::default();
    let code = CollectorCode::find(&module, &control).unwrap();
    let mut reader = CodeReader::new(&module.functions, &control);
    let mut is_read = |id| {
        code.members(&mut reader, ClassId(id), Storage::Fields)
            .is_some()
    };
    assert!(is_read(4));
    assert!(!(5..100).any(&mut is_read));
    // What is left is not enough for any class.
    assert!(!is_read(4));
}

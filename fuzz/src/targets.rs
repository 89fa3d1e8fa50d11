//! The targets: each takes any bytes and panics if something is wrong with the engine.

use std::sync::Arc;

use engine::assemblyscript::runtime::Runtime;
use engine::assemblyscript::runtime::evidence::Evidence;
use engine::assemblyscript::runtime::layout::ContentReferences;
use engine::dumps::{Dump, HEADER_SIZE};
use engine::heap::Heap;
use engine::heap::views::{
    ComparisonSort, ComparisonView, ConstructorSort, ConstructorView, Selection,
};
use engine::instrument::allocations::instrument_allocations;
use engine::instrument::expose_globals;
use engine::outputs::formats::TableOptions;
use engine::questions::LoadedHeap;
use engine::runtime_code::collector_code::{CodeReader, CollectorCode, Storage};
use engine::wasm::debug_info::DebugInfo;
use engine::wasm::module::Module;
use engine::{ClassId, Control, Input, Program, Result, Schedule, Tolerance, Warning};

use wasmparser::types::EntityType;

use crate::allocators;
use crate::containers::{compressed, coredump};
use crate::expressions;
use crate::invariants;
pub use crate::jvm::jvm;
use crate::limits::{DUMP, EXPRESSION, Limits, MODULE, QUESTIONS, SECTIONS, SNAPSHOT, within};
use crate::module_edits::{self, Focus};
pub use crate::native::native;
pub use crate::native_types::native_types;
use crate::questions::{ask_all, export_all, grow, open};
use crate::recipe::Recipe;
use crate::reference;
use crate::support::{DumpFile, RTTI_BASE};

/// A target and its name.
pub type Target = (&'static str, fn(&[u8]));

/// All of them but `native_types`, whose kept inputs take several seconds, as each asks every question: only libFuzzer runs it.
pub const ALL: [Target; 16] = [
    ("dump", dump),
    ("module", module),
    ("instrument", instrument),
    ("debug_info", debug_info),
    ("classes", classes),
    ("collector_code", collector_code),
    ("heap", heap),
    ("analyze", analyze),
    ("compare", compare),
    ("questions", questions),
    ("expressions", expressions),
    ("snapshot", snapshot),
    ("jvm", jvm),
    ("coredump", coredump),
    ("compressed", compressed),
    ("native", native),
];

const EVERYTHING: Tolerance = Tolerance {
    mismatch: true,
    damage: true,
};

/// The input is a dump. Its parts together must be the whole file.
pub fn dump(input: &[u8]) {
    let Ok(dump) = within(&[(DUMP, input.len())], || Dump::parse(input)) else {
        return;
    };
    let globals = 4 * dump.globals.len() as usize;
    let parts = HEADER_SIZE + globals + dump.memory.as_bytes().len();
    let host_roots = input.len() - parts;
    // Only one version has them, after their size.
    assert!(host_roots == 0 || host_roots >= 4);
    assert!(dump.host_roots.iter().count() * 8 <= host_roots);
    assert_eq!(dump.globals.iter().count(), dump.globals.len() as usize);
    assert!(dump.data_end <= dump.heap_base);
    let memory_size = dump.memory.size();
    assert!(memory_size == 0 || u64::from(dump.heap_base.0) <= memory_size);
}

/// The input is a module. Exposing globals keeps a valid module valid, and a second time changes nothing.
pub fn module(input: &[u8]) {
    within(&[(SECTIONS, input.len())], || {
        let Ok(exposed) = expose_globals(input) else {
            return;
        };
        assert_eq!(expose_globals(&exposed).unwrap(), exposed);
        if is_valid(input) {
            assert!(is_valid(&exposed), "a valid module became invalid");
        }
        let (before, after) = (
            Module::parse(input, &Control::default()).unwrap(),
            Module::parse(&exposed, &Control::default()).unwrap(),
        );
        assert_eq!(
            before.globals.mutable_i32_count(),
            after.globals.mutable_i32_count()
        );
    });
}

fn is_valid(wasm: &[u8]) -> bool {
    wasmparser::Validator::new().validate_all(wasm).is_ok()
}

/// The imports and exports of the profiler, as [`outside`] describes them, without their types.
const ADDED: [&str; 10] = [
    r#"import "warpo_heap_analyzer_profile" "allocated" "#,
    r#"import "warpo_heap_analyzer_profile" "keep" "#,
    r#"import "warpo_heap_analyzer_profile" "freed" "#,
    r#"import "warpo_heap_analyzer_profile" "mask" "#,
    r#"import "warpo_heap_analyzer_profile" "entered" "#,
    r#"import "warpo_heap_analyzer_profile" "known" "#,
    r#"import "warpo_heap_analyzer_profile" "keepAs" "#,
    r#"export "__warpo_heap_analyzer_profile:count" "#,
    r#"export "__warpo_heap_analyzer_profile:countdown" "#,
    r#"export "__warpo_heap_analyzer_profile:memory" "#,
];

/// The input is a module, or bytes of which one is made. With its allocations reported, a valid module stays valid and
/// has the same imports and exports, and those of the profiler. A second time changes nothing.
pub fn instrument(input: &[u8]) {
    for contexts in [false, true] {
        instrument_module(input, contexts);
    }
    if !input.starts_with(b"\0asm")
        && let Ok(wasm) = allocators::module(input)
    {
        for contexts in [false, true] {
            instrument_module(&wasm, contexts);
        }
    }
}

fn instrument_module(wasm: &[u8], contexts: bool) {
    let changed = within(&[(MODULE, wasm.len())], || {
        instrument_allocations(wasm, contexts)
    });
    let (changed, table) = match changed {
        Ok(changed) => changed,
        Err(error) => {
            let expected = ["ERR_MODULE", "ERR_MODULE_KIND", "ERR_ALLOCATOR_MISSING"];
            assert!(expected.contains(&error.code()), "{error}");
            return;
        }
    };
    let again = instrument_allocations(&changed, contexts).unwrap();
    assert_eq!(
        again,
        (changed.clone(), table.clone()),
        "a second time changes it"
    );
    let Ok(before) = outside(wasm) else {
        return;
    };
    let after = outside(&changed).expect("a valid module became invalid");
    let is_own = |line: &String| ADDED.iter().any(|start| line.starts_with(start));
    let (own, others): (Vec<_>, Vec<_>) = after.into_iter().partition(is_own);
    let before: Vec<_> = before.into_iter().filter(|line| !is_own(line)).collect();
    assert_eq!(others, before, "what is outside of the module changed");
    let expected = ADDED.len() - if table.contexts { 0 } else { 3 };
    assert_eq!(own.len(), expected, "{own:?} were added");
}

/// The imports and the exports of a valid module, with their types.
fn outside(wasm: &[u8]) -> std::result::Result<Vec<String>, wasmparser::BinaryReaderError> {
    let types = wasmparser::Validator::new().validate_all(wasm)?;
    let types = types.as_ref();
    let shown = |ty| match ty {
        EntityType::Func(id) | EntityType::FuncExact(id) => format!("{:?}", types[id]),
        other => format!("{other:?}"),
    };
    let imports = types.core_imports().into_iter().flatten();
    let exports = types.core_exports().into_iter().flatten();
    let imports =
        imports.map(|(module, name, ty)| format!("import {module:?} {name:?} {}", shown(ty)));
    let exports = exports.map(|(name, ty)| format!("export {name:?} {}", shown(ty)));
    Ok(imports.chain(exports).collect())
}

/// The input is a module. Its debug information is read as that of AssemblyScript, and as that of C or Rust.
pub fn debug_info(input: &[u8]) {
    within(&[(SECTIONS, input.len())], || {
        let Ok(module) = Module::parse(input, &Control::default()) else {
            return;
        };
        _ = DebugInfo::read(&module, &Control::default());
        _ = engine::native::Program::new(input, module).type_summary(&Control::default());
    });
}

/// The input is a recipe, followed by the damage to the module. All classes are described.
pub fn classes(input: &[u8]) {
    let mut recipe = Recipe::new(input);
    let case = recipe.sound_case();
    let mut wasm = case.module;
    module_edits::edit(&mut wasm, &mut recipe, 16, Focus::Anything);
    within(&both(&case.dump.bytes, &wasm), || {
        let Ok(module) = Module::parse(&wasm, &Control::default()) else {
            return;
        };
        let Ok(evidence) = Evidence::read(&module, &Control::default()) else {
            return;
        };
        let dump = Dump::parse(&case.dump.bytes).unwrap();
        let Ok(runtime) = Runtime::read(
            &dump,
            &module,
            &evidence,
            EVERYTHING,
            &mut Vec::new(),
            &Control::default(),
        ) else {
            return;
        };
        for id in 0..64 {
            let class = runtime.classes.describe(ClassId(id));
            assert!(
                class
                    .layout
                    .offsets
                    .is_sorted_by(|left, right| left < right)
            );
            if let ContentReferences::Entries(entry) = class.layout.contents {
                assert!(entry.stride > entry.tagged_next);
                assert!(
                    [entry.key, entry.value]
                        .into_iter()
                        .flatten()
                        .all(|at| at < entry.stride)
                );
            }
        }
    });
}

fn both(dump: &[u8], wasm: &[u8]) -> [(Limits, usize); 2] {
    [(DUMP, dump.len()), of_module(wasm)]
}

fn of_module(wasm: &[u8]) -> (Limits, usize) {
    let module = if module_edits::has_code(wasm) {
        MODULE
    } else {
        SECTIONS
    };
    (module, wasm.len())
}

/// The input is a module. Its collector's code is read.
pub fn collector_code(input: &[u8]) {
    let control = &Control::default();
    within(&[(MODULE, input.len())], || {
        let Ok(module) = Module::parse(input, control) else {
            return;
        };
        let Some(code) = CollectorCode::find(&module, control) else {
            return;
        };
        let mut reader = CodeReader::new(&module.functions, control);
        let members: Vec<_> = (0..8)
            .map(|id| code.members(&mut reader, ClassId(id), Storage::Fields))
            .collect();
        // Other classes may use up the common budget, but must not change the result.
        if members[7].is_some() {
            let reader = &mut CodeReader::new(&module.functions, control);
            let again = code.members(reader, ClassId(7), Storage::Fields);
            assert_eq!(members[7], again, "what was read before shows");
        }
        let classes = (0..8).map(|id| (ClassId(id), Storage::Fields));
        code.class_names(&mut reader, classes);
    });
}

/// The input is a recipe for a heap and for damage to its memory. A result without warnings must be that of
/// the naive analysis.
pub fn heap(input: &[u8]) {
    let mut recipe = Recipe::new(input);
    let mut case = recipe.sound_case();
    // Only the type flags identify sets, and the naive analysis does not read them.
    let type_flags = |dump: &DumpFile| {
        let start = dump.memory_start() + RTTI_BASE as usize;
        dump.bytes.get(start..start + 64).map(<[u8]>::to_vec)
    };
    let flags_before = type_flags(&case.dump);
    recipe.damage(&mut case.dump);
    let (dump, wasm) = (&case.dump.bytes, &case.module);
    let Ok(heap) = analyze_within(dump, wasm, Tolerance::default()) else {
        return;
    };
    let certain = ["WARN_CONTENTS_DO_NOT_FIT", "WARN_FIELDS_DIFFER"];
    let is_certain = |warning: &Warning| certain.contains(&warning.code());
    let describes_all = matches!(Module::parse(wasm, &Control::default()), Ok(module) if !module.debug_section(".debug_info").is_empty());
    let is_idle = heap.accounting.as_ref().and_then(|parts| parts.collector)
        == Some(engine::heap::CollectorState::Idle);
    if describes_all
        && type_flags(&case.dump) == flags_before
        && is_idle
        && heap.warnings.iter().all(is_certain)
        && let Some((scene, truth)) = &case.known
        && let Some(expected) = reference::live(&case.dump, scene, truth)
    {
        let found = heap.live_heap_objects().map(|object| {
            (
                heap.memory_address(object).0,
                (
                    heap.shallow_size(object) as u32,
                    heap.retained_size(object) as u32,
                ),
            )
        });
        assert_eq!(found.collect::<reference::Live>(), expected);
    }
    invariants::check(heap);
}

/// An analysis within the limits of SECURITY.md.
pub fn analyze_within(dump: &[u8], wasm: &[u8], tolerance: Tolerance) -> Result<Heap> {
    within(&both(dump, wasm), || run(dump, wasm, tolerance))
}

fn run(dump: &[u8], wasm: &[u8], tolerance: Tolerance) -> Result<Heap> {
    let program = Program::read(
        Input {
            name: "wasm",
            bytes: wasm,
        },
        &Control::default(),
    )?
    .tolerating(tolerance);
    program.analyze(
        Input {
            name: "dump",
            bytes: dump,
        },
        &Control::default(),
    )
}

/// The input is a recipe for a heap, damage to its module, and damage to its dump. The number of threads
/// must not change the result, with or without tolerance.
pub fn analyze(input: &[u8]) {
    let mut recipe = Recipe::new(input);
    let mut case = recipe.sound_case();
    let selection = recipe.selection(&[
        ConstructorSort::Retained,
        ConstructorSort::Shallow,
        ConstructorSort::Count,
    ]);
    let table = recipe.table();
    let edits = recipe.below(8);
    module_edits::edit(&mut case.module, &mut recipe, edits, Focus::Anything);
    recipe.damage(&mut case.dump);
    let (dump, wasm) = (&case.dump.bytes, &case.module);
    for tolerance in [Tolerance::default(), EVERYTHING] {
        if let Ok(heap) = analyze_within(dump, wasm, tolerance) {
            invariants::check(heap);
        }
    }
    invariants::with_any_threads(|| match run(dump, wasm, EVERYTHING) {
        Ok(heap) => {
            let warnings: Vec<_> = heap.warnings.iter().map(ToString::to_string).collect();
            let view =
                ConstructorView::new(Arc::new(heap), selection, &Control::default()).unwrap();
            invariants::texts(Arc::new(view), table) + &warnings.join("\n")
        }
        Err(error) => error.to_string(),
    });
}

/// The input is a recipe for a heap and for damage. The heap is compared with the damaged one, or with a
/// later one of the same run.
pub fn compare(input: &[u8]) {
    let mut recipe = Recipe::new(input);
    let case = recipe.sound_case();
    let selection = recipe.selection(&[
        ComparisonSort::Delta,
        ComparisonSort::Alloc,
        ComparisonSort::Freed,
        ComparisonSort::Count,
    ]);
    let table = recipe.table();
    let mut after = case.later.unwrap_or_else(|| case.dump.clone());
    recipe.damage(&mut after);
    let make = || -> Result<String> {
        let program = Program::read(
            Input {
                name: "wasm",
                bytes: &case.module,
            },
            &Control::default(),
        )?
        .tolerating(EVERYTHING);
        let (before, after) = program.analyze_both(
            Input {
                name: "before",
                bytes: &case.dump.bytes,
            },
            Input {
                name: "after",
                bytes: &after.bytes,
            },
            Schedule::SideBySide,
            &Control::default(),
        )?;
        let (before, after) = (Arc::new(before), Arc::new(after));
        let view = |selection| {
            let (before, after) = (Arc::clone(&before), Arc::clone(&after));
            ComparisonView::new(before, after, selection, &Control::default())
        };
        invariants::comparison(&before, &after, &view(Selection::default())?);
        Ok(invariants::texts(Arc::new(view(selection)?), table))
    };
    invariants::with_any_threads(|| make().unwrap_or_else(|error| error.to_string()));
}

/// The input is a recipe for a heap, damage to its module, and damage to its dump. The heap is asked
/// everything, exported, and compared with itself. The number of threads must not change an answer.
pub fn questions(input: &[u8]) {
    let mut recipe = Recipe::new(input);
    let mut case = recipe.sound_case();
    let table = recipe.table();
    let addresses = [recipe.word(), recipe.word() % (1 << 17)];
    let (place, byte) = (recipe.word(), b"0123456789,-"[recipe.below(12)]);
    let edits = recipe.below(4);
    module_edits::edit(&mut case.module, &mut recipe, edits, Focus::Anything);
    recipe.damage(&mut case.dump);
    let (dump, wasm) = (&case.dump.bytes, &case.module);
    let ask = || match open(dump, wasm, EVERYTHING) {
        Ok(heap) => {
            export_all(&heap);
            let addresses = [&addresses[..], &around_damage(&heap, dump)].concat();
            ask_all(&heap, &addresses, table) + &grow(&heap, place, byte)
        }
        Err(error) => error.to_string(),
    };
    within(&[(QUESTIONS, dump.len()), of_module(wasm)], ask);
    invariants::with_any_threads(ask);
}

/// The input is an expression of `find`. The number of threads must not change an answer.
pub fn expressions(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let check = || expressions::check(&text);
    within(&[(EXPRESSION, input.len())], check);
    invariants::with_any_threads(check);
}

/// Addresses before, at and after the damage of a partial heap.
fn around_damage(heap: &LoadedHeap, dump: &[u8]) -> Vec<u32> {
    let unread = heap
        .heap()
        .accounting
        .as_ref()
        .map_or(0, |parts| parts.unread);
    let Some(dump) = Dump::parse(dump).ok().filter(|_| unread > 0) else {
        return Vec::new();
    };
    let damage = (dump.memory.size() - unread) as u32;
    let distances = [-64, -20, -4, 0, 1, 4, 20, 64, 1 << 16];
    distances
        .iter()
        .map(|&distance| damage.wrapping_add_signed(distance))
        .chain([dump.memory.size() as u32, u32::MAX])
        .collect()
}

/// The input is a heap snapshot of V8. Its heap is asked everything, exported, and compared with itself. The number of
/// threads must not change an answer.
pub fn snapshot(input: &[u8]) {
    let source = || Input {
        name: "app.heapsnapshot",
        bytes: input,
    };
    let ask = || match engine::open_snapshot(source(), &Control::default()) {
        Ok(heap) => {
            export_all(&heap);
            ask_all(&heap, &[1, 3], TableOptions::default()) + &grow(&heap, 0, b'0')
        }
        Err(error) => {
            assert!(error.code().starts_with("ERR_SNAPSHOT"), "{error}");
            error.to_string()
        }
    };
    within(&[(SNAPSHOT, input.len())], ask);
    invariants::with_any_threads(ask);
}

//! The targets: each takes any bytes and panics if something is wrong with the engine.

use std::sync::Arc;

use warpo_heap_analyzer::collector_code::{CodeReader, CollectorCode};
use warpo_heap_analyzer::debug_info::DebugInfo;
use warpo_heap_analyzer::dump::{Dump, HEADER_SIZE};
use warpo_heap_analyzer::heap::Heap;
use warpo_heap_analyzer::module::{Module, expose_globals};
use warpo_heap_analyzer::runtime::Runtime;
use warpo_heap_analyzer::runtime::evidence::Evidence;
use warpo_heap_analyzer::runtime::layout::Contents;
use warpo_heap_analyzer::views::{ComparisonView, ConstructorView, Selection};
use warpo_heap_analyzer::{ClassId, Control, Input, Program, Result, Schedule, Tolerance, Warning};

use crate::invariants;
use crate::limits::{DUMP, Limits, MODULE, within};
use crate::recipe::Recipe;
use crate::reference;
use crate::support::{DumpFile, ModuleOptions, RTTI_BASE, encode_module};

/// A target and its name.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const ALL: [Target; 8] = [
    ("dump", dump),
    ("module", module),
    ("debug_info", debug_info),
    ("classes", classes),
    ("collector_code", collector_code),
    ("heap", heap),
    ("analyze", analyze),
    ("compare", compare),
];

const EVERYTHING: Tolerance = Tolerance {
    mismatch: true,
    damage: true,
};

/// The input is a dump: what is read of it is all there and nothing else.
pub fn dump(input: &[u8]) {
    let Ok(dump) = within(DUMP, input.len(), || Dump::parse(input)) else {
        return;
    };
    let globals = 4 * dump.globals.len() as usize;
    assert_eq!(
        HEADER_SIZE + globals + dump.memory.as_bytes().len(),
        input.len()
    );
    assert_eq!(dump.globals.iter().count(), dump.globals.len() as usize);
    assert!(dump.data_end <= dump.heap_base && dump.stack_pointer <= dump.heap_base);
    assert!(u64::from(dump.heap_base.0) <= dump.memory.size());
}

/// The input is a module. Exposing globals keeps a valid module valid, and a second time changes nothing.
pub fn module(input: &[u8]) {
    within(MODULE, input.len(), || {
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

/// The input is the lengths of `debug_abbrev` and `debug_str`, these two, and `debug_info`.
pub fn debug_info(input: &[u8]) {
    let sections = || -> Option<_> {
        let (lengths, rest) = input.split_first_chunk::<4>()?;
        let [abbrev, str] =
            [0, 2].map(|at| usize::from(u16::from_le_bytes([lengths[at], lengths[at + 1]])));
        let (abbrev, rest) = rest.split_at_checked(abbrev)?;
        let (str, info) = rest.split_at_checked(str)?;
        Some([
            ("debug_abbrev", abbrev.to_vec()),
            ("debug_str", str.to_vec()),
            ("debug_info", info.to_vec()),
        ])
    };
    let Some(sections) = sections() else { return };
    let wasm = encode_module(&[], &sections, &ModuleOptions::default());
    let module = Module::parse(&wasm, &Control::default()).unwrap();
    within(MODULE, input.len(), || {
        _ = DebugInfo::read(&module, &Control::default())
    });
}

/// The input is a recipe, the damage to the module's bytes behind it. All classes are described.
pub fn classes(input: &[u8]) {
    let mut recipe = Recipe::new(input);
    let (case, _) = recipe.sound_case();
    let mut wasm = case.module;
    recipe.damage_bytes(&mut wasm, 16);
    within(both(&case.dump.bytes, &wasm), 0, || {
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
            if let Contents::Entries(entry) = class.layout.contents {
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

fn both(dump: &[u8], wasm: &[u8]) -> Limits {
    Limits {
        bytes_per_byte: 0,
        more_bytes: DUMP.bytes_per_byte * dump.len()
            + DUMP.more_bytes
            + MODULE.bytes_per_byte * wasm.len()
            + MODULE.more_bytes,
    }
}

/// The input is instructions: the bodies of the functions that a collector consists of.
pub fn collector_code(input: &[u8]) {
    let mut wasm = wasm_encoder::Module::new();
    let mut types = wasm_encoder::TypeSection::new();
    use wasm_encoder::ValType::I32;
    types.ty().function([I32, I32], []);
    types.ty().function([I32], []);
    types.ty().function([I32], [I32]);
    types.ty().function([], [I32; 9]);
    wasm.section(&types);
    let bodies: Vec<&[u8]> = input.split(|&byte| byte == 0xff).take(64).collect();
    let mut functions = wasm_encoder::FunctionSection::new();
    (0..bodies.len() as u32).for_each(|nth| _ = functions.function(nth % 4));
    wasm.section(&functions);
    let mut code = wasm_encoder::CodeSection::new();
    for body in bodies {
        // No locals, unless the input says so.
        code.raw(&[&[0], body, &[0x0b]].concat());
    }
    wasm.section(&code);
    let wasm = wasm.finish();
    within(MODULE, wasm.len(), || {
        let Ok(module) = Module::parse(&wasm, &Control::default()) else {
            return;
        };
        let Some(code) = CollectorCode::find(&module, &Control::default()) else {
            return;
        };
        let mut reader = CodeReader::new(&module.functions, &Control::default());
        for id in 0..16 {
            let members = code.members(&mut reader, ClassId(id));
            let again = code.members(
                &mut CodeReader::new(&module.functions, &Control::default()),
                ClassId(id),
            );
            assert_eq!(members, again, "what was read before shows");
        }
        code.globals(&module.functions, &Control::default());
        code.class_names(&mut reader);
    });
}

/// The input is a recipe for a heap and for damage to its memory. Whatever is accepted without doubt is
/// as a naive reading has it.
pub fn heap(input: &[u8]) {
    let mut recipe = Recipe::new(input);
    let (mut case, truth) = recipe.sound_case();
    // What sets are is only in their type flags, which the reference does not read.
    let type_flags = |dump: &DumpFile| {
        (0..16)
            .map(|nth| dump.peek(RTTI_BASE + 4 * nth))
            .collect::<Vec<_>>()
    };
    let flags_before = type_flags(&case.dump);
    recipe.damage(&mut case.dump);
    let (dump, wasm) = (&case.dump.bytes, &case.module);
    let Ok(heap) = analyze_within(dump, wasm, Tolerance::default()) else {
        return;
    };
    let is_certain = |warning: &Warning| matches!(warning, Warning::ContentsDoNotFit { .. });
    let describes_all = matches!(Module::parse(wasm, &Control::default()), Ok(module) if !module.debug_section(".debug_info").is_empty());
    let is_idle = heap.accounting.collector
        == Some(warpo_heap_analyzer::runtime::collector::CollectorState::Idle);
    if describes_all
        && type_flags(&case.dump) == flags_before
        && is_idle
        && heap.warnings.iter().all(is_certain)
        && let Some(expected) = reference::live(&case, &truth)
    {
        let found = heap.live_heap_objects().map(|object| {
            (
                heap.address(object).0,
                (heap.shallow_size(object), heap.retained_size(object)),
            )
        });
        assert_eq!(found.collect::<reference::Live>(), expected);
    }
    invariants::check(heap);
}

/// An analysis that may cost what SECURITY.md says.
pub fn analyze_within(dump: &[u8], wasm: &[u8], tolerance: Tolerance) -> Result<Heap> {
    within(both(dump, wasm), 0, || run(dump, wasm, tolerance))
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
/// does not show, with or without tolerance.
pub fn analyze(input: &[u8]) {
    let mut recipe = Recipe::new(input);
    let (mut case, _) = recipe.sound_case();
    let edits = recipe.below(8);
    recipe.damage_bytes(&mut case.module, edits);
    let cut = recipe.below(16);
    recipe.damage(&mut case.dump);
    if cut > 12 {
        case.dump
            .bytes
            .truncate(case.dump.bytes.len() - 4096 * (cut - 12));
    }
    let (dump, wasm) = (&case.dump.bytes, &case.module);
    for tolerance in [Tolerance::default(), EVERYTHING] {
        if let Ok(heap) = analyze_within(dump, wasm, tolerance) {
            invariants::check(heap);
        }
    }
    invariants::with_any_threads(|| match run(dump, wasm, EVERYTHING) {
        Ok(heap) => {
            let warnings: Vec<_> = heap.warnings.iter().map(ToString::to_string).collect();
            let view = ConstructorView::new(Arc::new(heap), Selection::default());
            invariants::json(Arc::new(view)) + &warnings.join("\n")
        }
        Err(error) => error.to_string(),
    });
}

/// The input is a recipe for a heap and for damage: what a sound heap and a damaged one have in common.
pub fn compare(input: &[u8]) {
    let mut recipe = Recipe::new(input);
    let (case, _) = recipe.sound_case();
    let mut after = case.dump.clone();
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
        let view = ComparisonView::new(
            Arc::clone(&before),
            Arc::clone(&after),
            Selection::default(),
            &Control::default(),
        )?;
        invariants::comparison(&before, &after, &view);
        Ok(invariants::json(Arc::new(view)))
    };
    invariants::with_any_threads(|| make().unwrap_or_else(|error| error.to_string()));
}

//! Modules with an unusual memory or allocator, damaged modules, and random ones.

use super::{
    DATA_END, HEAP_BASE, TestGlobal, TestModule, assert_valid, exports, exposed_indexes, initial,
    parse, sections,
};
use ::wasm_encoder as enc;
use base::Control;
use instrument::{InstrumentError, RESERVED_PREFIX, expose_globals};
use proptest::prelude::*;
use wasm::ModuleError;
use wasm::module::Module;
use wasm_encoder::Encode as _;
use wasmparser::ExternalKind;

#[test]
fn a_memory_that_is_not_exported_is_exposed() {
    let mut module = TestModule::stock();
    module.export_memory = false;
    module.import_memory = true;
    let exposed = expose_globals(&module.build()).unwrap();
    assert_valid(&exposed);
    let name = format!("{RESERVED_PREFIX}memory");
    assert!(exports(&exposed).contains(&(name, ExternalKind::Memory, 0)));
}

#[test]
fn a_module_without_an_export_section_gets_one_in_its_place() {
    for customs in [false, true] {
        for without_functions in [false, true] {
            let mut module = TestModule::stock();
            module.export_memory = false;
            module.customs = customs;
            module.without_functions = without_functions;
            let exposed = expose_globals(&module.build()).unwrap();
            assert_valid(&exposed);
            assert_eq!(exports(&exposed).len(), 6);
        }
    }
}

/// i32.const 0, memory.grow, drop
const GROW: [u8; 5] = [0x41, 0, 0x40, 0, 0x1a];

/// global.get 0, i32.const -16, i32.add, global.set 0
const MOVE: [u8; 7] = [0x23, 0, 0x41, 0x70, 0x6a, 0x24, 0];

/// i32.const 2048, drop, i32.const 2048 + 1572, drop
const ROOT: [u8; 8] = [0x41, 0x80, 0x10, 0x1a, 0x41, 0xa4, 0x1c, 0x1a];

/// The largest block and the largest object of AssemblyScript's allocator: i32.const, drop, i32.const, drop
const LARGEST_SIZES: [u8; 14] = [
    0x41, 0xfc, 0xff, 0xff, 0xff, 0x03, 0x1a, 0x41, 0xec, 0xff, 0xff, 0xff, 0x03, 0x1a,
];

#[test]
fn a_module_that_allocates_without_the_runtime_is_refused() {
    let module = TestModule {
        defined: vec![TestGlobal::mutable_i32()],
        code: [&GROW[..], &MOVE].concat(),
        ..TestModule::default()
    };
    let error = expose_globals(&module.build()).unwrap_err();
    assert_eq!(error.code(), "ERR_GLOBAL_MISSING");
    assert_eq!(
        error.to_string(),
        "the module neither exports nor names __stack_pointer: expected an AssemblyScript or WARPO program with a collector, compiled with names, or a program of C, C++, Rust or Zig"
    );
}

#[test]
fn without_names_the_first_mutable_global_that_functions_move_is_the_stack_pointer() {
    let build = |value, code: Vec<u8>| {
        let mut pointer = TestGlobal::mutable_i32();
        pointer.value = value;
        let module = TestModule {
            defined: vec![pointer, TestGlobal::mutable_i32()],
            code,
            ..TestModule::default()
        };
        expose_globals(&module.build())
    };
    let moving = [&GROW[..], &MOVE].concat();
    let exposed = build(66560, moving.clone()).unwrap();
    assert_valid(&exposed);
    assert_eq!(exposed_indexes(&exposed), [0, 1]);
    assert_eq!(initial(&exposed, "stack_pointer"), Some(66560));
    assert_eq!(expose_globals(&exposed).unwrap(), exposed);
    // A counter, and a global that nothing moves.
    for refused in [
        build(0, moving.clone()),
        build(100, moving),
        build(66560, GROW.to_vec()),
    ] {
        assert_eq!(refused.unwrap_err().code(), "ERR_GLOBAL_MISSING");
    }
}

#[test]
fn a_module_that_allocates_and_has_no_mutable_global_has_no_stack() {
    let module = TestModule {
        code: GROW.to_vec(),
        ..TestModule::default()
    };
    let exposed = expose_globals(&module.build()).unwrap();
    assert_valid(&exposed);
    assert_eq!(initial(&exposed, "heap_base"), Some(0));
    assert_eq!(initial(&exposed, "stack_pointer"), Some(0));
}

#[test]
fn a_module_that_pushes_no_stack_frame_has_the_heap_base_in_place_of_the_stack_pointer() {
    let module = TestModule {
        code: [&GROW[..], &ROOT, &LARGEST_SIZES].concat(),
        ..TestModule::default()
    };
    let exposed = expose_globals(&module.build()).unwrap();
    assert_valid(&exposed);
    assert_eq!(initial(&exposed, "heap_base"), Some(2048));
    assert_eq!(initial(&exposed, "stack_pointer"), Some(2048));
    assert_eq!(expose_globals(&exposed).unwrap(), exposed);
}

#[test]
fn constants_of_another_language_are_no_heap_base() {
    let mut pointer = TestGlobal::mutable_i32();
    pointer.value = 66560;
    let module = TestModule {
        defined: vec![pointer],
        code: [&GROW[..], &MOVE, &ROOT].concat(),
        ..TestModule::default()
    };
    let exposed = expose_globals(&module.build()).unwrap();
    assert_eq!(initial(&exposed, "heap_base"), Some(66560));
    assert_eq!(initial(&exposed, "stack_pointer"), Some(66560));
}

#[test]
fn a_stack_below_static_data_does_not_end_where_the_heap_begins() {
    for name in ["$__stack_pointer", ""] {
        let text = format!(
            r#"(module (memory 2)
              (global {name} (mut i32) (i32.const 4096))
              (global (export "__data_end") i32 (i32.const 6004))
              (data (i32.const 4096) "static")
              (func (drop (memory.grow (i32.const 1)))
                (global.set 0 (i32.sub (global.get 0) (i32.const 16)))))"#
        );
        let exposed = expose_globals(&wat::parse_str(text).unwrap()).unwrap();
        assert_eq!(initial(&exposed, "heap_base"), Some(6004), "{name}");
        assert_eq!(expose_globals(&exposed).unwrap(), exposed);
    }
}

#[test]
fn a_module_that_allocates_nothing_needs_no_heap() {
    let exposed = expose_globals(&TestModule::default().build()).unwrap();
    assert_valid(&exposed);
    assert_eq!(expose_globals(&exposed).unwrap(), exposed);
}

#[test]
fn an_imported_stack_pointer_does_not_determine_the_heap_base() {
    let module = TestModule {
        imported: vec![TestGlobal::stack_pointer(0)],
        ..TestModule::default()
    };
    let error = expose_globals(&module.build()).unwrap_err();
    assert!(
        matches!(
            error.own(),
            Some(InstrumentError::GlobalMissing {
                name: "__heap_base"
            })
        ),
        "{error}"
    );
}

#[test]
fn a_module_without_a_memory_is_exposed_without_one() {
    let mut module = TestModule::stock();
    module.without_memory = true;
    module.export_memory = false;
    let exposed = expose_globals(&module.build()).unwrap();
    assert_valid(&exposed);
    let name = format!("{RESERVED_PREFIX}memory");
    assert!(exports(&exposed).iter().all(|export| export.0 != name));
}

#[test]
fn bytes_that_are_no_module_are_refused() {
    let error = expose_globals(b"ASHD\x02\0\0\0").unwrap_err();
    assert!(
        matches!(error.own(), Some(ModuleError::NotAModule { .. })),
        "{error}"
    );
}

#[test]
fn every_truncation_of_a_module_is_an_error_or_a_valid_module() {
    let mut module = TestModule::optimised();
    module.customs = true;
    let whole = module.build();
    for length in 0..whole.len() {
        if let Ok(exposed) = expose_globals(&whole[..length]) {
            assert!(
                Module::parse(&exposed, &Control::default()).is_ok(),
                "cut at {length}"
            );
        }
    }
}

#[test]
fn reserved_exports_that_no_longer_fit_are_replaced() {
    let mut module = TestModule::stock();
    for (name, index) in [("global:0", 1), ("global:9", 0), ("stack_pointer", 2)] {
        module
            .global_exports
            .push((format!("{RESERVED_PREFIX}{name}"), index));
    }
    let exposed = expose_globals(&module.build()).unwrap();
    assert_valid(&exposed);
    assert_eq!(
        exposed,
        expose_globals(&TestModule::stock().build()).unwrap()
    );
}

#[test]
fn thousands_of_globals_are_all_exposed_in_index_order() {
    let mut module = TestModule::stock();
    module
        .defined
        .extend((0..5000).map(|_| TestGlobal::mutable_i32()));
    let exposed = expose_globals(&module.build()).unwrap();
    assert_valid(&exposed);
    let expected: Vec<u32> = [0, 2].into_iter().chain(4..5004).collect();
    assert_eq!(exposed_indexes(&exposed), expected);
}

fn any_global() -> impl Strategy<Value = TestGlobal> {
    let ty = prop_oneof![
        3 => Just(enc::ValType::I32),
        1 => Just(enc::ValType::I64),
        1 => Just(enc::ValType::F64),
    ];
    (ty, any::<bool>()).prop_map(|(ty, mutable)| TestGlobal::new(ty, mutable))
}

prop_compose! {
    fn any_module()(
        imported in prop::collection::vec(any_global(), 0..4),
        own in prop::collection::vec(any_global(), 0..200),
        folded in any::<bool>(),
        exported in any::<bool>(),
        import_memory in any::<bool>(),
        export_memory in any::<bool>(),
        customs in any::<bool>(),
    ) -> TestModule {
        let mut defined = own;
        defined.push(TestGlobal::stack_pointer(34000));
        let stack_pointer = (imported.len() + defined.len() - 1) as u32;
        if !folded {
            defined.push(TestGlobal::constant(DATA_END, 2000));
            defined.push(TestGlobal::constant(HEAP_BASE, 34000));
        }
        TestModule {
            imported,
            defined,
            import_memory,
            export_memory,
            customs,
            global_exports: if exported { vec![("top".to_owned(), stack_pointer)] } else { vec![] },
            checks: vec![(stack_pointer, 2000)],
            lowered: vec![stack_pointer],
            data: vec![(1036, vec![3; 11])],
            ..TestModule::default()
        }
    }
}

proptest! {
    #[test]
    fn the_result_is_valid(module in any_module()) {
        assert_valid(&expose_globals(&module.build()).unwrap());
    }

    #[test]
    fn a_second_application_changes_nothing(module in any_module()) {
        let once = expose_globals(&module.build()).unwrap();
        prop_assert_eq!(&expose_globals(&once).unwrap(), &once);
    }

    #[test]
    fn exactly_the_mutable_i32_globals_are_exposed_in_order(module in any_module()) {
        let expected: Vec<u32> = module
            .imported
            .iter()
            .chain(&module.defined)
            .zip(0..)
            .filter(|(global, _)| global.mutable && global.ty == enc::ValType::I32)
            .map(|(_, index)| index)
            .collect();
        let exposed = expose_globals(&module.build()).unwrap();
        prop_assert_eq!(exposed_indexes(&exposed), expected);
    }

    #[test]
    fn the_boundaries_are_the_same_whether_folded_or_not(module in any_module()) {
        let exposed = expose_globals(&module.build()).unwrap();
        prop_assert_eq!(initial(&exposed, "data_end"), Some(2000));
        prop_assert_eq!(initial(&exposed, "heap_base"), Some(34000));
        prop_assert_eq!(initial(&exposed, "stack_pointer"), Some(34000));
    }

    #[test]
    fn the_programs_own_exports_stay_in_front(module in any_module()) {
        let original = module.build();
        let before = exports(&original);
        let after = exports(&expose_globals(&original).unwrap());
        prop_assert_eq!(&after[..before.len()], &before[..]);
        prop_assert!(after[before.len()..].iter().all(|(name, ..)| name.starts_with(RESERVED_PREFIX)));
    }

    #[test]
    fn no_section_changes_but_exports_and_appended_globals(module in any_module()) {
        let original = module.build();
        let exposed = expose_globals(&original).unwrap();
        let untouched = |wasm: &[u8]| -> Vec<(u8, Vec<u8>)> {
            sections(wasm)
                .into_iter()
                .filter(|(id, _)| *id != 6 && *id != 7)
                .map(|(id, contents)| (id, contents.to_vec()))
                .collect()
        };
        prop_assert_eq!(untouched(&original), untouched(&exposed));
        let globals = |wasm: &[u8]| -> Vec<u8> {
            let section = sections(wasm).into_iter().find(|(id, _)| *id == 6);
            let contents = section.map(|(_, contents)| contents.to_vec()).unwrap_or_default();
            let mut count = Vec::new();
            (parse(wasm).globals.iter().len() - module.imported.len()).encode(&mut count);
            contents[count.len()..].to_vec()
        };
        prop_assert!(globals(&exposed).starts_with(&globals(&original)));
    }

    #[test]
    fn a_damaged_module_is_an_error_and_never_a_panic(
        module in any_module(),
        position in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut wasm = module.build();
        let position = position.index(wasm.len());
        wasm[position] = byte;
        let _ = expose_globals(&wasm);
    }
}

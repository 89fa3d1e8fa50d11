//! Where the static data ends and the heap begins, with names and without.

use super::{TestGlobal, TestModule, assert_valid, initial, parse};
use ::wasm_encoder as enc;
use instrument::expose_globals;

#[test]
fn a_module_with_named_boundaries_exposes_them_and_grows_no_global() {
    let original = TestModule::stock().build();
    let exposed = expose_globals(&original).unwrap();
    assert_valid(&exposed);
    assert_eq!(initial(&exposed, "data_end"), Some(2000));
    assert_eq!(initial(&exposed, "heap_base"), Some(34000));
    assert_eq!(initial(&exposed, "stack_pointer"), Some(34000));
    assert_eq!(parse(&exposed).globals.iter().len(), 4);
}

#[test]
fn exported_boundaries_go_before_named_ones() {
    let mut module = TestModule::stock();
    module.defined.push(TestGlobal {
        name: None,
        ..TestGlobal::constant("", 4321)
    });
    module.global_exports.push(("__data_end".to_owned(), 4));
    let exposed = expose_globals(&module.build()).unwrap();
    assert_eq!(initial(&exposed, "data_end"), Some(4321));
}

#[test]
fn an_export_that_cannot_be_the_boundary_is_not_taken_for_it() {
    let mut module = TestModule::stock();
    module.global_exports.push(("__data_end".to_owned(), 0));
    let exposed = expose_globals(&module.build()).unwrap();
    assert_eq!(initial(&exposed, "data_end"), Some(2000));
}

#[test]
fn folded_boundaries_come_back_as_appended_globals() {
    let original = TestModule::optimised().build();
    let exposed = expose_globals(&original).unwrap();
    assert_valid(&exposed);
    assert_eq!(initial(&exposed, "data_end"), Some(2000));
    assert_eq!(initial(&exposed, "heap_base"), Some(34000));
    let module = parse(&exposed);
    assert_eq!(module.globals.iter().len(), 4);
    assert_eq!(module.globals.mutable_i32_count(), 2);
}

#[test]
fn the_stack_pointer_of_a_module_without_names_is_found_by_its_use() {
    let exposed = expose_globals(&TestModule::stripped().build()).unwrap();
    assert_valid(&exposed);
    assert_eq!(initial(&exposed, "data_end"), Some(2000));
    assert_eq!(initial(&exposed, "stack_pointer"), Some(34000));
}

#[test]
fn two_globals_used_like_a_stack_pointer_are_refused_without_names() {
    let mut module = TestModule::stripped();
    module.defined[0].value = 40000;
    module.lowered.push(0);
    module.checks.push((0, 100));
    let error = expose_globals(&module.build()).unwrap_err();
    assert_eq!(error.code(), "ERR_GLOBAL_MISSING");
    assert!(error.to_string().contains("__stack_pointer"), "{error}");
}

#[test]
fn a_comparison_of_the_programs_own_below_the_static_data_is_not_the_check() {
    let mut module = TestModule::optimised();
    module.checks.push((1, 100));
    let exposed = expose_globals(&module.build()).unwrap();
    assert_eq!(initial(&exposed, "data_end"), Some(2000));
}

#[test]
fn without_a_single_check_the_static_data_ends_with_the_last_segment() {
    for checks in [vec![], vec![(1, 2000), (1, 3000)]] {
        let mut module = TestModule::optimised();
        module.checks = checks;
        module.data = vec![(1500, vec![1; 5]), (1036, vec![1; 20])];
        let exposed = expose_globals(&module.build()).unwrap();
        assert_eq!(initial(&exposed, "data_end"), Some(1508));
    }
}

#[test]
fn vector_instructions_and_globals_do_not_hide_the_check() {
    let mut module = TestModule::optimised();
    module.vectors = true;
    module
        .defined
        .push(TestGlobal::new(enc::ValType::V128, true));
    let exposed = expose_globals(&module.build()).unwrap();
    assert_valid(&exposed);
    assert_eq!(initial(&exposed, "data_end"), Some(2000));
}

#[test]
fn an_address_above_2_gib_survives_as_a_folded_boundary() {
    let mut module = TestModule::optimised();
    module.defined[1].value = 0x9000_0000_u32 as i32;
    let exposed = expose_globals(&module.build()).unwrap();
    assert_eq!(initial(&exposed, "heap_base"), Some(0x9000_0000));
}

#[test]
fn addresses_that_a_module_names_itself_count_only_if_it_is_not_placed_when_it_is_loaded() {
    let build = |base: &str| {
        let text = format!(
            r#"(module (import "env" "memory" (memory 1)) {base}
              (import "env" "__stack_pointer" (global $__stack_pointer (mut i32)))
              (global (export "__data_end") i32 (i32.const 2048))
              (func (drop (memory.grow (i32.const 1)))))"#
        );
        expose_globals(&wat::parse_str(text).unwrap()).unwrap()
    };
    let placed = build(r#"(import "env" "__memory_base" (global i32))"#);
    assert_eq!(initial(&placed, "data_end"), Some(0));
    assert_eq!(initial(&placed, "heap_base"), Some(0));
    assert_eq!(expose_globals(&placed).unwrap(), placed);
    let other = build("");
    assert_eq!(initial(&other, "data_end"), Some(2048));
}

//! `expose_globals` on modules that are built here: what it adds, what it does not change, and what it
//! refuses. Modules of the real compilers are tested in `__test__/capture.test.ts`, where the runtime is the
//! judge.

use engine::instrument::{RESERVED_PREFIX, expose_globals};
use engine::wasm::module::Module;
use engine::{Control, Error};
use proptest::prelude::*;
use wasm_encoder as enc;
use wasm_encoder::Encode as _;
use wasmparser::{ExternalKind, Parser, Payload};

const STACK_POINTER: &str = "~lib/memory/__stack_pointer";
const HEAP_BASE: &str = "~lib/memory/__heap_base";
const DATA_END: &str = "~lib/memory/__data_end";

fn parse(wasm: &[u8]) -> Module<'_> {
    Module::parse(wasm, &Control::default()).unwrap()
}

/// One global of a test module.
#[derive(Clone, Debug)]
struct TestGlobal {
    ty: enc::ValType,
    mutable: bool,
    value: i32,
    name: Option<&'static str>,
}

impl TestGlobal {
    fn new(ty: enc::ValType, mutable: bool) -> Self {
        Self {
            ty,
            mutable,
            value: 7,
            name: None,
        }
    }

    fn mutable_i32() -> Self {
        Self::new(enc::ValType::I32, true)
    }

    fn constant(name: &'static str, value: i32) -> Self {
        Self {
            ty: enc::ValType::I32,
            mutable: false,
            value,
            name: Some(name),
        }
    }

    fn stack_pointer(value: i32) -> Self {
        Self {
            ty: enc::ValType::I32,
            mutable: true,
            value,
            name: Some(STACK_POINTER),
        }
    }

    fn ty(&self) -> enc::GlobalType {
        enc::GlobalType {
            val_type: self.ty,
            mutable: self.mutable,
            shared: false,
        }
    }

    fn init(&self) -> enc::ConstExpr {
        match self.ty {
            enc::ValType::I64 => enc::ConstExpr::i64_const(self.value.into()),
            enc::ValType::V128 => enc::ConstExpr::v128_const(self.value.into()),
            enc::ValType::F64 => enc::ConstExpr::f64_const(f64::from(self.value).into()),
            _ => enc::ConstExpr::i32_const(self.value),
        }
    }
}

/// A module in the making; its globals are `imported`, then `defined`.
#[derive(Clone, Debug, Default)]
struct TestModule {
    imported: Vec<TestGlobal>,
    defined: Vec<TestGlobal>,
    /// Whether the memory is imported instead of defined.
    import_memory: bool,
    without_memory: bool,
    /// Exports in order: names with global indexes.
    global_exports: Vec<(String, u32)>,
    export_memory: bool,
    /// The shadow stack check: (global, limit), and by how much the global is lowered before it.
    checks: Vec<(u32, i32)>,
    lowered: Vec<u32>,
    /// Whether the function computes with vectors before it checks its stack.
    vectors: bool,
    /// Data segments: (address, bytes).
    data: Vec<(i32, Vec<u8>)>,
    /// Whether custom sections stand between all other sections.
    customs: bool,
    without_functions: bool,
    /// The body of the function before its end.
    code: Vec<u8>,
}

impl TestModule {
    /// A stock debug build: everything is named, nothing but the memory exported.
    fn stock() -> Self {
        Self {
            defined: vec![
                TestGlobal::mutable_i32(),
                TestGlobal::constant(DATA_END, 2000),
                TestGlobal::stack_pointer(34000),
                TestGlobal::constant(HEAP_BASE, 34000),
            ],
            export_memory: true,
            ..Self::default()
        }
    }

    /// An optimised stock build: only the stack pointer is left, and the check against 2000.
    fn optimised() -> Self {
        Self {
            defined: vec![TestGlobal::mutable_i32(), TestGlobal::stack_pointer(34000)],
            export_memory: true,
            checks: vec![(1, 2000)],
            lowered: vec![1],
            data: vec![(1036, vec![1; 20])],
            ..Self::default()
        }
    }

    /// The optimised build without its `name` section.
    fn stripped() -> Self {
        let mut module = Self::optimised();
        module.defined[1].name = None;
        module
    }

    fn build(&self) -> Vec<u8> {
        let mut module = enc::Module::new();
        let mut gaps = 0u8;
        let mut gap = |module: &mut enc::Module| {
            if self.customs {
                gaps += 1;
                let data = vec![gaps; 3];
                module.section(&enc::CustomSection {
                    name: "between".into(),
                    data: data.as_slice().into(),
                });
            }
        };
        gap(&mut module);
        let mut types = enc::TypeSection::new();
        types.ty().function([], []);
        module.section(&types);
        gap(&mut module);
        if self.import_memory || !self.imported.is_empty() {
            let mut imports = enc::ImportSection::new();
            if self.import_memory {
                imports.import("env", "memory", memory_type());
            }
            for (index, global) in self.imported.iter().enumerate() {
                imports.import("env", &format!("global{index}"), global.ty());
            }
            module.section(&imports);
            gap(&mut module);
        }
        if !self.without_functions {
            let mut functions = enc::FunctionSection::new();
            functions.function(0);
            module.section(&functions);
            gap(&mut module);
        }
        if !self.import_memory && !self.without_memory {
            let mut memories = enc::MemorySection::new();
            memories.memory(memory_type());
            module.section(&memories);
            gap(&mut module);
        }
        if !self.defined.is_empty() {
            let mut globals = enc::GlobalSection::new();
            for global in &self.defined {
                globals.global(global.ty(), &global.init());
            }
            module.section(&globals);
            gap(&mut module);
        }
        if self.export_memory || !self.global_exports.is_empty() {
            let mut exports = enc::ExportSection::new();
            if self.export_memory {
                exports.export("memory", enc::ExportKind::Memory, 0);
            }
            for (name, index) in &self.global_exports {
                exports.export(name, enc::ExportKind::Global, *index);
            }
            module.section(&exports);
            gap(&mut module);
        }
        if !self.without_functions {
            let mut code = enc::CodeSection::new();
            code.function(&self.function());
            module.section(&code);
            gap(&mut module);
        }
        if !self.data.is_empty() {
            let mut data = enc::DataSection::new();
            for (address, bytes) in &self.data {
                let offset = enc::ConstExpr::i32_const(*address);
                data.active(0, &offset, bytes.iter().copied());
            }
            module.section(&data);
            gap(&mut module);
        }
        let mut names = enc::NameSection::new();
        let mut global_names = enc::NameMap::new();
        for (index, global) in self.imported.iter().chain(&self.defined).enumerate() {
            if let Some(name) = global.name {
                global_names.append(index as u32, name);
            }
        }
        names.globals(&global_names);
        module.section(&names);
        gap(&mut module);
        module.finish()
    }

    fn function(&self) -> enc::Function {
        let mut body = enc::Function::new([]);
        if self.vectors {
            body.instructions().v128_const(1).v128_not().drop();
        }
        for &global in &self.lowered {
            body.instructions()
                .global_get(global)
                .i32_const(8)
                .i32_sub()
                .global_set(global);
        }
        for &(global, limit) in &self.checks {
            body.instructions()
                .global_get(global)
                .i32_const(limit)
                .i32_lt_s()
                .if_(enc::BlockType::Empty)
                .unreachable()
                .end();
        }
        body.raw(self.code.iter().copied());
        body.instructions().end();
        body
    }
}

fn memory_type() -> enc::MemoryType {
    enc::MemoryType {
        minimum: 1,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    }
}

/// (section id, contents) in order.
fn sections(wasm: &[u8]) -> Vec<(u8, &[u8])> {
    Parser::new(0)
        .parse_all(wasm)
        .filter_map(|payload| payload.unwrap().as_section())
        .map(|(id, range)| (id, &wasm[range.start as usize..range.end as usize]))
        .collect()
}

/// (name, kind, index) in order.
fn exports(wasm: &[u8]) -> Vec<(String, ExternalKind, u32)> {
    let mut found = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        if let Payload::ExportSection(section) = payload.unwrap() {
            for export in section {
                let export = export.unwrap();
                found.push((export.name.to_owned(), export.kind, export.index));
            }
        }
    }
    found
}

/// The indexes under `…:global:`, in order.
fn exposed_indexes(wasm: &[u8]) -> Vec<u32> {
    let prefix = format!("{RESERVED_PREFIX}global:");
    exports(wasm)
        .iter()
        .filter(|(name, ..)| name.starts_with(&prefix))
        .map(|(_, _, index)| *index)
        .collect()
}

/// The initial value of the global with a reserved name.
fn initial(wasm: &[u8], name: &str) -> Option<u32> {
    let name = format!("{RESERVED_PREFIX}{name}");
    let (_, _, index) = exports(wasm)
        .into_iter()
        .find(|(export, ..)| *export == name)?;
    let module = parse(wasm);
    module.globals.iter().nth(index as usize)?.initial
}

fn assert_valid(wasm: &[u8]) {
    wasmparser::Validator::new().validate_all(wasm).unwrap();
}

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

#[test]
fn a_module_that_allocates_without_the_runtime_is_refused() {
    let module = TestModule {
        code: GROW.to_vec(),
        ..TestModule::default()
    };
    let error = expose_globals(&module.build()).unwrap_err();
    assert_eq!(error.code(), "ERR_GLOBAL_MISSING");
    assert_eq!(
        error.to_string(),
        "the module neither exports nor names __stack_pointer: expected an AssemblyScript or WARPO program with the incremental runtime, compiled with --debug"
    );
}

#[test]
fn a_module_that_pushes_no_stack_frame_has_the_heap_base_in_place_of_the_stack_pointer() {
    // i32.const 2048, drop, i32.const 2048 + 1572, drop
    let constants = [0x41, 0x80, 0x10, 0x1a, 0x41, 0xa4, 0x1c, 0x1a];
    let module = TestModule {
        code: [&GROW[..], &constants].concat(),
        ..TestModule::default()
    };
    let exposed = expose_globals(&module.build()).unwrap();
    assert_valid(&exposed);
    assert_eq!(initial(&exposed, "heap_base"), Some(2048));
    assert_eq!(initial(&exposed, "stack_pointer"), Some(2048));
    assert_eq!(expose_globals(&exposed).unwrap(), exposed);
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
            error,
            Error::GlobalMissing {
                name: "__heap_base"
            }
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
    assert!(matches!(error, Error::NotAModule { .. }), "{error}");
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

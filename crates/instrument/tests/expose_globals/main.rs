//! `expose_globals` on modules that are built here: what it adds, what it does not change, and what it
//! refuses. Modules of the real compilers are tested in `__test__/capture.test.ts`, where the runtime is the
//! judge.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test, what cannot be is a failure"
)]

mod boundaries;
mod other_modules;

use ::wasm_encoder as enc;
use base::Control;
use instrument::RESERVED_PREFIX;
use wasm::module::Module;
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

//! Modules with the parts that an analysis reads, and little code.

use wasm_encoder as enc;

/// One wasm global.
#[derive(Clone, Debug)]
pub struct WasmGlobal {
    /// Its name in the `name` section; empty for none.
    pub name: String,
    /// Its type.
    pub ty: enc::ValType,
    /// Whether the program can change it.
    pub mutable: bool,
    /// Its value: in the dump if it is a variable, otherwise its initial value.
    pub value: u32,
    /// Whether the host supplies it. Imported globals must come first.
    pub imported: bool,
    /// The name under which it is exported.
    pub export: Option<String>,
}

impl WasmGlobal {
    /// A mutable i32 global.
    pub fn variable(name: &str, value: u32) -> Self {
        Self {
            name: name.to_owned(),
            ty: enc::ValType::I32,
            mutable: true,
            value,
            imported: false,
            export: None,
        }
    }

    /// An immutable i32 global.
    pub fn constant(name: &str, value: u32) -> Self {
        Self {
            mutable: false,
            ..Self::variable(name, value)
        }
    }

    /// Whether a dump holds its value.
    pub fn is_in_dump(&self) -> bool {
        self.mutable && self.ty == enc::ValType::I32
    }

    fn global_type(&self) -> enc::GlobalType {
        enc::GlobalType {
            val_type: self.ty,
            mutable: self.mutable,
            shared: false,
        }
    }

    fn initializer(&self) -> enc::ConstExpr {
        let value = self.value as i32;
        match self.ty {
            enc::ValType::I64 => enc::ConstExpr::i64_const(value.into()),
            enc::ValType::F64 => enc::ConstExpr::f64_const(f64::from(value).into()),
            _ => enc::ConstExpr::i32_const(value),
        }
    }
}

/// Unusual properties of a module.
#[derive(Clone, Debug, Default)]
pub struct ModuleOptions {
    /// In front of the names of debug sections.
    pub section_prefix: &'static str,
    /// Whether the memory has 64-bit addresses.
    pub memory64: bool,
    /// Whether the `name` section is left out.
    pub without_names: bool,
    /// The least and the most pages of memory; from 1 on without.
    pub memory_limits: Option<(u64, u64)>,
    /// The initial contents of the memory: an address and bytes.
    pub data: Vec<(u32, Vec<u8>)>,
    /// The collector's code; most scenes do without.
    pub collector: Option<CollectorCode>,
}

/// A minimal collector, which marks the objects that globals reach, and uses no list.
#[derive(Clone, Debug, Default)]
pub struct CollectorCode {
    /// The indexes of the globals that are visited.
    pub globals: Vec<u32>,
    /// By class id: the offsets of the fields that are visited.
    pub members: Vec<Vec<u32>>,
    /// The classes whose objects have a bitmap in their last 8 bytes that says which words are visited.
    pub tuples: Vec<u32>,
    /// Whether visiting an object of another class never ends.
    pub is_endless: bool,
}

/// The index of `__visit(object, cookie)`, which marks a white object and visits its members.
const VISIT: u32 = 0;
/// The index of `__visit_members(object, cookie)`.
const VISIT_MEMBERS: u32 = 1;
/// The index of `__collect()`.
pub const COLLECT: u32 = 2;
/// The head of the list that marked objects would be in.
const LIST: i32 = 64;

impl CollectorCode {
    fn add_to(&self, module: &mut enc::Module) -> enc::CodeSection {
        use enc::ValType::I32;
        let mut types = enc::TypeSection::new();
        types.ty().function([I32, I32], []);
        types.ty().function([], []);
        module.section(&types);
        let mut code = enc::CodeSection::new();
        code.function(&visit());
        code.function(&self.visit_members());
        code.function(&self.collect());
        code
    }

    /// One block per class around a branch by the class id, as the compiler lays it out.
    fn visit_members(&self) -> enc::Function {
        let count = self.members.len() as u32;
        let word_at = |offset: u32| enc::MemArg {
            offset: offset.into(),
            align: 2,
            target: enc::MemArgTarget::Memory(0),
            ordering: None,
        };
        let mut function = enc::Function::new([(1, enc::ValType::I64)]);
        let (bitmap, mut code) = (2, function.instructions());
        for _ in 0..=count {
            code.block(enc::BlockType::Empty);
        }
        code.local_get(0)
            .i32_const(8)
            .i32_sub()
            .i32_load(word_at(0));
        code.br_table((0..count).collect::<Vec<_>>(), count);
        for (id, fields) in (0..).zip(&self.members) {
            code.end();
            if self.tuples.contains(&id) {
                code.local_get(0).local_get(0).i32_const(4).i32_sub();
                code.i32_load(word_at(0)).i32_add().i32_const(8).i32_sub();
                code.i64_load(word_at(0)).local_set(bitmap);
                for nth in 0..64 {
                    code.local_get(bitmap).i64_const(nth).i64_shr_u();
                    code.i32_wrap_i64().i32_const(1).i32_and();
                    code.if_(enc::BlockType::Empty).local_get(0);
                    code.i32_load(word_at(4 * nth as u32));
                    code.local_get(1).call(VISIT).end();
                }
            }
            for &offset in fields {
                code.local_get(0).i32_load(word_at(offset));
                code.local_get(1).call(VISIT);
            }
            code.return_();
        }
        code.end();
        if self.is_endless {
            code.loop_(enc::BlockType::Empty).br(0).end();
        }
        code.unreachable().end();
        function
    }

    fn collect(&self) -> enc::Function {
        let mut function = enc::Function::new([]);
        for &global in &self.globals {
            function
                .instructions()
                .global_get(global)
                .i32_const(0)
                .call(VISIT);
        }
        function.instructions().end();
        function
    }
}

fn visit() -> enc::Function {
    let word = enc::MemArg {
        offset: 0,
        align: 2,
        target: enc::MemArgTarget::Memory(0),
        ordering: None,
    };
    let mut function = enc::Function::new([(1, enc::ValType::I32)]);
    let mut code = function.instructions();
    let (object, link) = (0, 2);
    code.local_get(object).if_(enc::BlockType::Empty);
    code.local_get(object).i32_const(16).i32_sub();
    code.local_tee(link).i32_load(word);
    code.i32_const(3)
        .i32_and()
        .i32_eqz()
        .if_(enc::BlockType::Empty);
    code.local_get(link).i32_const(LIST | 1).i32_store(word);
    code.local_get(object).local_get(1).call(VISIT_MEMBERS);
    code.end().end().end();
    function
}

/// A module with these globals and debug sections.
pub fn encode_module(
    globals: &[WasmGlobal],
    debug_sections: &[(&str, Vec<u8>)],
    options: &ModuleOptions,
) -> Vec<u8> {
    let mut module = enc::Module::new();
    let collector = options.collector.as_ref();
    let code = collector.map(|collector| collector.add_to(&mut module));
    let mut imports = enc::ImportSection::new();
    for (nth, global) in globals.iter().filter(|global| global.imported).enumerate() {
        imports.import("env", &format!("global{nth}"), global.global_type());
    }
    module.section(&imports);
    if code.is_some() {
        let mut functions = enc::FunctionSection::new();
        functions.function(0).function(0).function(1);
        module.section(&functions);
    }
    let mut memories = enc::MemorySection::new();
    memories.memory(enc::MemoryType {
        minimum: options.memory_limits.map_or(1, |(minimum, _)| minimum),
        maximum: options.memory_limits.map(|(_, maximum)| maximum),
        memory64: options.memory64,
        shared: false,
        page_size_log2: None,
    });
    module.section(&memories);
    let mut defined = enc::GlobalSection::new();
    for global in globals.iter().filter(|global| !global.imported) {
        defined.global(global.global_type(), &global.initializer());
    }
    module.section(&defined);
    let mut exports = enc::ExportSection::new();
    exports.export("memory", enc::ExportKind::Memory, 0);
    if code.is_some() {
        exports.export("__collect", enc::ExportKind::Func, COLLECT);
    }
    for (index, global) in globals.iter().enumerate() {
        if let Some(name) = &global.export {
            exports.export(name, enc::ExportKind::Global, index as u32);
        }
    }
    module.section(&exports);
    if let Some(code) = &code {
        module.section(code);
    }
    if !options.data.is_empty() {
        let mut data = enc::DataSection::new();
        for (address, bytes) in &options.data {
            let start = enc::ConstExpr::i32_const(*address as i32);
            data.active(0, &start, bytes.iter().copied());
        }
        module.section(&data);
    }
    if !options.without_names {
        let mut global_names = enc::NameMap::new();
        for (index, global) in globals.iter().enumerate() {
            if !global.name.is_empty() {
                global_names.append(index as u32, &global.name);
            }
        }
        let mut names = enc::NameSection::new();
        names.globals(&global_names);
        module.section(&names);
    }
    for (name, bytes) in debug_sections {
        module.section(&enc::CustomSection {
            name: format!("{}{name}", options.section_prefix).into(),
            data: bytes.as_slice().into(),
        });
    }
    module.finish()
}

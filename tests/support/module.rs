//! Modules that carry what an analysis reads, and no code.

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
    /// What it holds: in the dump if it is a variable, from the beginning if not.
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

/// What can be unusual about a module.
#[derive(Clone, Debug, Default)]
pub struct ModuleOptions {
    /// In front of the names of debug sections.
    pub section_prefix: &'static str,
    /// Whether the memory has 64-bit addresses.
    pub memory64: bool,
    /// Whether the `name` section is left out.
    pub without_names: bool,
}

/// A module with these globals and debug sections.
pub fn encode_module(
    globals: &[WasmGlobal],
    debug_sections: &[(&str, Vec<u8>)],
    options: &ModuleOptions,
) -> Vec<u8> {
    let mut module = enc::Module::new();
    let mut imports = enc::ImportSection::new();
    for (nth, global) in globals.iter().filter(|global| global.imported).enumerate() {
        imports.import("env", &format!("global{nth}"), global.global_type());
    }
    module.section(&imports);
    let mut memories = enc::MemorySection::new();
    memories.memory(enc::MemoryType {
        minimum: 1,
        maximum: None,
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
    for (index, global) in globals.iter().enumerate() {
        if let Some(name) = &global.export {
            exports.export(name, enc::ExportKind::Global, index as u32);
        }
    }
    module.section(&exports);
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

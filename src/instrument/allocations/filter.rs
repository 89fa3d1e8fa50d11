//! The filter of a profiler: a module by itself, whose memory says which addresses may be those of samples. The
//! instrumented module imports its functions, which the engine calls without a detour through the host. It is
//! not in the instrumented module, because a module may have only one memory, which must not change.

use wasm_encoder::{
    BlockType, CodeSection, EntityType, ExportKind, ExportSection, Function, FunctionSection,
    ImportSection, MemArg, MemorySection, MemoryType, Module, TypeSection, ValType,
};

use super::{IMPORT_FREED, IMPORT_MASK};

/// The module and the name of its import: the host forgets an address.
const HOST: (&str, &str) = ("host", "freed");
/// The number of bits of a hash. The memory begins with the number of samples that have each hash.
const HASH_BITS: i32 = 16;
/// The factor of the hash, from Knuth. The host computes the same hash.
const HASH_FACTOR: i32 = 0x9E37_79B1_u32 as i32;

/// The module. Its memory has a byte for each hash, and then the two masks. The host writes both.
pub fn filter_module() -> Vec<u8> {
    let mut types = TypeSection::new();
    types.ty().function([ValType::I32], [ValType::I32]);
    types.ty().function([ValType::I32], [ValType::I64]);
    let mut imports = ImportSection::new();
    imports.import(HOST.0, HOST.1, EntityType::Function(0));
    let mut functions = FunctionSection::new();
    functions.function(0).function(1);
    let mut memories = MemorySection::new();
    memories.memory(MemoryType {
        minimum: 2,
        maximum: Some(2),
        memory64: false,
        shared: false,
        page_size_log2: None,
    });
    let mut exports = ExportSection::new();
    exports.export("memory", ExportKind::Memory, 0);
    exports.export(IMPORT_FREED, ExportKind::Func, 1);
    exports.export(IMPORT_MASK, ExportKind::Func, 2);
    let place = |offset, align| MemArg {
        offset,
        align,
        target: wasm_encoder::MemArgTarget::Memory(0),
        ordering: None,
    };
    let mut freed = Function::new([]);
    let mut code = freed.instructions();
    code.local_get(0).i32_const(HASH_FACTOR).i32_mul();
    code.i32_const(32 - HASH_BITS).i32_shr_u();
    code.i32_load8_u(place(0, 0));
    code.if_(BlockType::Empty);
    code.local_get(0).call(0).return_().end();
    code.i32_const(0).end();
    let mut mask = Function::new([]);
    let mut code = mask.instructions();
    code.local_get(0).i32_const(3).i32_shl();
    code.i64_load(place(1 << HASH_BITS, 3)).end();
    let mut bodies = CodeSection::new();
    bodies.function(&freed).function(&mask);
    let mut module = Module::new();
    module.section(&types).section(&imports).section(&functions);
    module.section(&memories).section(&exports).section(&bodies);
    module.finish()
}

//! Random modules with functions that have the names and types of those of allocators, by wasm-smith.

use arbitrary::{Arbitrary, Result, Unstructured};
use wasm_encoder::{
    CodeSection, ExportKind, ExportSection, Function, FunctionSection, Module, TypeSection, ValType,
};
use wasm_smith::Config;

/// Names, and the numbers of parameters and results, which are all i32.
const FUNCTIONS: [(&str, usize, usize); 32] = [
    ("~lib/rt/tlsf/searchBlock", 1, 1),
    ("~lib/rt/tlsf/insertBlock", 1, 0),
    ("~lib/rt/tlsf/reallocateBlock", 3, 1),
    ("~lib/rt/tlsf/__realloc", 2, 1),
    ("~lib/rt/stub/__new", 2, 1),
    ("~lib/rt/stub/__alloc", 1, 1),
    ("~lib/rt/stub/__renew", 2, 1),
    ("~lib/rt/stub/__free", 1, 0),
    ("malloc", 1, 1),
    ("dlmalloc", 1, 1),
    ("calloc", 2, 1),
    ("dlcalloc", 2, 1),
    ("aligned_alloc", 2, 1),
    ("posix_memalign", 3, 1),
    ("realloc", 2, 1),
    ("dlrealloc", 2, 1),
    ("free", 1, 0),
    ("dlfree", 1, 0),
    ("__rust_alloc", 2, 1),
    ("__rust_alloc_zeroed", 2, 1),
    ("__rust_realloc", 4, 1),
    ("__rust_dealloc", 3, 0),
    ("heap.BrkAllocator.alloc", 4, 1),
    ("heap.BrkAllocator.remap", 6, 1),
    ("heap.BrkAllocator.resize", 6, 1),
    ("heap.BrkAllocator.free", 5, 0),
    ("heap.WasmAllocator.alloc", 5, 1),
    ("heap.WasmAllocator.free", 6, 0),
    ("runtime.alloc", 2, 1),
    ("runtime.mallocgc", 1, 1),
    // Of other types than those of allocators.
    ("emmalloc_malloc", 2, 1),
    ("memalign", 0, 0),
];

/// A valid module of the instructions and sections that the input chooses. It exports some of the functions.
///
/// # Errors
/// If the input is too short.
pub fn module(input: &[u8]) -> Result<Vec<u8>> {
    let choices = &mut Unstructured::new(input);
    let chosen = u32::arbitrary(choices)?;
    let mut config = Config::arbitrary(choices)?;
    config.exports = Some(exporting(chosen));
    Ok(wasm_smith::Module::new(config, choices)?.to_bytes())
}

/// A module with these exports. wasm-smith reads their names and types.
fn exporting(chosen: u32) -> Vec<u8> {
    let mut types = TypeSection::new();
    let mut functions = FunctionSection::new();
    let mut exports = ExportSection::new();
    let mut code = CodeSection::new();
    let chosen = (0..)
        .zip(FUNCTIONS)
        .filter(|(bit, _)| chosen >> bit & 1 == 1);
    for (index, (_, (name, parameters, results))) in (0..).zip(chosen) {
        let numbers = |count| std::iter::repeat_n(ValType::I32, count);
        types.ty().function(numbers(parameters), numbers(results));
        functions.function(index);
        exports.export(name, ExportKind::Func, index);
        let mut body = Function::new([]);
        body.instructions().unreachable().end();
        code.function(&body);
    }
    let mut module = Module::new();
    module.section(&types).section(&functions);
    module.section(&exports).section(&code);
    module.finish()
}

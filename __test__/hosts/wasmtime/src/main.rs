//! Calls functions of a module, of which the last one traps, and writes a dump in one of three ways. The functions that
//! write are those of the page docs/capture.md.
//!
//! `wasmtime-host <coredump|exposed|unprepared> <module> <file to write> <function:number>…`; `again` in place of a function
//! makes another instance of the module, of which all later functions are.

#![allow(clippy::unwrap_used, reason = "it is a test, in which a failure must end it")]

use wasmtime::*;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [way, wasm, path, calls @ .., trap] = &arguments[..] else {
        panic!("expected coredump, exposed or unprepared, a module, the file to write, and calls");
    };
    let mut config = Config::new();
    config.coredump_on_trap(way == "coredump");
    config.guest_debug(way == "unprepared");
    let engine = Engine::new(&config).unwrap();
    let module = Module::new(&engine, std::fs::read(wasm).unwrap()).unwrap();
    let mut store = Store::new(&engine, ());
    let mut linker = Linker::new(&engine);
    // `abort` is one of them.
    linker.define_unknown_imports_as_traps(&module).unwrap();
    let mut instance = linker.instantiate(&mut store, &module).unwrap();
    for text in calls {
        if text == "again" {
            instance = linker.instantiate(&mut store, &module).unwrap();
        } else {
            call(&instance, &mut store, text).unwrap();
        }
    }
    let error = call(&instance, &mut store, trap).unwrap_err();
    match &way[..] {
        "coredump" => write_coredump(&error, &mut store, path).unwrap(),
        "exposed" => write_dump(&instance, &mut store, path).unwrap(),
        _ => println!("{}", write_raw(&instance, &mut store, path).unwrap().join("\n")),
    }
}

/// Calls a function with a number: `name:number`.
fn call(instance: &Instance, mut store: impl AsContextMut, text: &str) -> Result<()> {
    let (name, number) = text.split_once(':').unwrap();
    let function = instance.get_typed_func::<i32, ()>(&mut store, name)?;
    function.call(&mut store, number.parse().unwrap())
}

fn write_coredump(error: &Error, store: impl AsContextMut, path: &str) -> Result<()> {
    if let Some(coredump) = error.downcast_ref::<WasmCoreDump>() {
        std::fs::write(path, coredump.serialize(store, "app"))?;
    }
    Ok(())
}

fn write_dump(instance: &Instance, mut store: impl AsContextMut, path: &str) -> Result<()> {
    let name = |name: &str| format!("__warpo_heap_analyzer:{name}");
    let mut value = |name: &str| match instance.get_global(&mut store, name) {
        Some(global) => global.get(&mut store).i32(),
        None => None,
    };
    let mut words = vec![i32::from_le_bytes(*b"ASHD"), 2];
    words.extend(["data_end", "heap_base", "stack_pointer"].map(|place| value(&name(place)).unwrap_or(0)));
    // Engines allow a million globals. Those that are not exposed are not in a dump.
    let globals: Vec<i32> = (0..1_000_000).filter_map(|index| value(&name(&format!("global:{index}")))).collect();
    words.push(globals.len() as i32);
    words.extend(globals);
    let mut dump: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    if let Some(memory) = instance.get_memory(&mut store, &name("memory")) {
        dump.extend_from_slice(memory.data(&store));
    }
    Ok(std::fs::write(path, dump)?)
}

fn write_raw(instance: &Instance, mut store: impl AsContextMut, path: &str) -> Result<Vec<String>> {
    let mut options = vec!["--raw".to_owned()];
    let mut index = 0;
    while let Some(global) = instance.debug_global(&mut store, index) {
        let is_variable = global.ty(&store).mutability() == Mutability::Var;
        if let (true, Val::I32(value)) = (is_variable, global.get(&mut store)) {
            options.extend(["--global".to_owned(), format!("{index}={value}")]);
        }
        index += 1;
    }
    if let Some(memory) = instance.debug_memory(&mut store, 0) {
        std::fs::write(path, memory.data(&store))?;
    }
    Ok(options)
}

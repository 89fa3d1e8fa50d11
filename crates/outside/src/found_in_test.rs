//! Tests of the whole search, in made-up address spaces of V8 and wasmtime. An instance there is what was seen in real
//! ones: the address and the size of the memory, and nearby the address of the globals, or the globals.

use base::control::Control;

use crate::OutsideError;
use crate::globals::find_globals;
use crate::layout::{GlobalLayout, HeaderValues};
use crate::modules::{data_share, module_of, modules};
use crate::sightings::{Sightings, Wanted};
use crate::space::made_up::MadeUp;

const MEMORY: u64 = 0x7f00_0000_0000;
const SECOND: u64 = 0x7f40_0000_0000;
const DATA: u64 = 0x5500_0000_0000;
const PAGE: usize = 1 << 16;
const MAPS: &str = "\
550000000000-550000010000 rw-p 0 0:0 0 [heap]\n\
7eff80000000-7f0000000000 ---p 0 0:0 0\n\
7f0000000000-7f0000010000 rw-p 0 0:0 0\n\
7f0000010000-7f0200000000 ---p 0 0:0 0\n\
7f4000000000-7f4000010000 rw-p 0 0:0 0\n\
7f4000010000-7f4200000000 ---p 0 0:0 0\n";

/// Seven globals: three constants, a stack pointer, and others between them.
fn module(rtti_base: u32) -> Vec<u8> {
    let text = format!(
        r#"(module
            (import "env" "unused" (global $imported i32))
            (memory (export "memory") 1)
            (data (i32.const 5000) "the beginning of the static data")
            (global $total (mut i32) (i32.const 0))
            (global $wide (mut i64) (i64.const 0))
            (global $rtti (export "__rtti_base") i32 (i32.const {rtti_base}))
            (global $end (export "__data_end") i32 (i32.const 6000))
            (global $stack (export "__stack_pointer") (mut i32) (i32.const 30000))
            (global $base (export "__heap_base") i32 (i32.const 30000))
            (func $lower (global.set $stack (i32.sub (global.get $stack) (i32.const 4)))
                (if (i32.lt_s (global.get $stack) (i32.const 6000)) (then unreachable)))
            (func (export "run") (call $lower)))"#
    );
    wat::parse_str(text).unwrap_or_default()
}

/// The globals as V8 has them: the imported one, then each at a multiple of its size.
fn by_size(total: u32, stack: u32) -> Vec<u8> {
    let words = [7, total, 0, 0, 5100, 6000, stack, 30000];
    words
        .iter()
        .flat_map(|word: &u32| word.to_le_bytes())
        .collect()
}

/// The own globals as wasmtime has them.
fn slots(total: u32, stack: u32) -> Vec<u8> {
    let words = [total, 0, 5100, 6000, stack, 30000];
    let slot = |word: &u32| [word.to_le_bytes().to_vec(), vec![0; 12]].concat();
    words.iter().flat_map(slot).collect()
}

/// Writes the address and the size of a memory.
fn sight(data: &mut [u8], at: usize, memory: u64) {
    data[at..at + 8].copy_from_slice(&memory.to_le_bytes());
    data[at + 8..at + 16].copy_from_slice(&(PAGE as u64).to_le_bytes());
}

fn memory() -> Vec<u8> {
    let mut bytes = vec![0; PAGE];
    bytes[5000..5032].copy_from_slice(b"the beginning of the static data");
    bytes
}

/// A process with two instances of V8, one memory each.
fn v8(change: impl FnOnce(&mut Vec<u8>)) -> MadeUp {
    let mut data = vec![0; PAGE];
    for (instance, memory, globals, total) in
        [(0x100, MEMORY, 0x8000, 5), (0x4000, SECOND, 0x9000, 6)]
    {
        sight(&mut data, instance, memory);
        let pointer = DATA + globals as u64;
        data[instance + 0x48..instance + 0x50].copy_from_slice(&pointer.to_le_bytes());
        data[globals..globals + 32].copy_from_slice(&by_size(total, 29996));
    }
    change(&mut data);
    MadeUp::new(
        MAPS,
        vec![(DATA, data), (MEMORY, memory()), (SECOND, memory())],
    )
}

fn wasmtime() -> MadeUp {
    let mut data = vec![0; PAGE];
    sight(&mut data, 0x108, MEMORY);
    data[0x200..0x260].copy_from_slice(&slots(9, 30000));
    MadeUp::new(MAPS, vec![(DATA, data), (MEMORY, memory())])
}

fn search(space: &MadeUp) -> Sightings {
    Sightings::search(space, Wanted::MemoriesAndModules, &Control::default()).unwrap_or_default()
}

/// The values of the globals of each memory.
fn values(space: &MadeUp, wasm: &[u8]) -> Vec<Result<HeaderValues, String>> {
    let control = Control::default();
    let Ok(layout) = GlobalLayout::of(wasm) else {
        return Vec::new();
    };
    let found = search(space);
    let of = |memory| {
        let place =
            find_globals(space, memory, &layout, &control).map_err(|error| error.to_string())?;
        place
            .read(space, &layout, PAGE as u64)
            .ok_or_else(|| "gone".to_owned())
    };
    found.memories.iter().map(of).collect()
}

fn expected(total: u32, stack: u32) -> HeaderValues {
    HeaderValues {
        boundaries: [6000, 30000, stack],
        globals: vec![total, stack],
    }
}

#[test]
fn two_instances_of_one_module_are_told_apart_by_their_memories() {
    let found = values(&v8(|_| {}), &module(5100));
    assert_eq!(found, [Ok(expected(5, 29996)), Ok(expected(6, 29996))]);
}

#[test]
fn globals_of_wasmtime_lie_behind_the_memorys_address() {
    assert_eq!(values(&wasmtime(), &module(5100)), [Ok(expected(9, 30000))]);
}

#[test]
fn another_module_finds_no_globals() {
    for found in values(&v8(|_| {}), &module(5200)) {
        assert!(found.is_err_and(|error| error.contains("no place")));
    }
    for found in values(&wasmtime(), &module(5200)) {
        assert!(found.is_err_and(|error| error.contains("no place")));
    }
}

#[test]
fn a_place_with_one_changed_constant_is_refused() {
    for global in [4, 5, 7] {
        let space = v8(|data| data[0x8000 + 4 * global] ^= 1);
        let found = values(&space, &module(5100));
        assert!(found[0].is_err(), "{found:?}");
        assert!(found[1].is_ok(), "{found:?}");
    }
}

#[test]
fn a_stack_pointer_outside_of_the_stack_is_refused() {
    for stack in [0_u32, 5999, 30001, u32::MAX] {
        let space = v8(|data| data[0x8018..0x801c].copy_from_slice(&stack.to_le_bytes()));
        assert!(values(&space, &module(5100))[0].is_err(), "{stack}");
    }
}

#[test]
fn two_places_that_fit_are_refused() {
    let space = v8(|data| {
        let other = DATA + 0xa000;
        data[0x150..0x158].copy_from_slice(&other.to_le_bytes());
        let copy = by_size(5, 30000);
        data[0xa000..0xa020].copy_from_slice(&copy);
    });
    let found = values(&space, &module(5100));
    assert!(
        found[0]
            .as_ref()
            .is_err_and(|error| error.contains("2 places"))
    );
}

#[test]
fn of_two_places_that_fit_the_one_where_v8_keeps_it_counts() {
    let space = v8(|data| {
        let other = DATA + 0xa000;
        data[0x130..0x138].copy_from_slice(&other.to_le_bytes());
        data[0xa000..0xa020].copy_from_slice(&by_size(8, 30000));
    });
    assert_eq!(values(&space, &module(5100))[0], Ok(expected(8, 30000)));
}

#[test]
fn what_only_has_the_form_of_a_memory_is_none() {
    let space = v8(|data| data[0x108..0x110].copy_from_slice(&(PAGE as u64 + 1).to_le_bytes()));
    let starts: Vec<u64> = search(&space)
        .memories
        .iter()
        .map(|memory| memory.range.start)
        .collect();
    assert_eq!(starts, [SECOND]);
}

#[test]
fn a_memory_does_not_confirm_itself() {
    let mut space = v8(|data| data.fill(0));
    space.put(MEMORY + 64, &MEMORY.to_le_bytes());
    space.put(MEMORY + 72, &(PAGE as u64).to_le_bytes());
    assert_eq!(search(&space).memories, []);
}

#[test]
fn a_module_ends_where_its_sections_end() {
    let wasm = module(5100);
    for behind in [
        &[0; 16][..],
        &[7; 64],
        b"\x01\x02\x03\x04",
        &[0, 5, 4, 1, 2, 3, 4],
    ] {
        let space = v8(|data| {
            data[0xc000..0xc000 + wasm.len()].copy_from_slice(&wasm);
            data[0xc000 + wasm.len()..0xc000 + wasm.len() + behind.len()].copy_from_slice(behind);
        });
        let found = search(&space);
        let all = modules(&space, &found.modules, &Control::default()).unwrap_or_default();
        assert_eq!(all.len(), 1, "{behind:?}");
        assert_eq!(all[0].wasm, wasm, "{behind:?}");
    }
}

#[test]
fn the_module_of_a_memory_is_the_one_whose_data_is_there() {
    let control = Control::default();
    let own = module(5100);
    let other = wat::parse_str(
        r#"(module (memory 1) (data (i32.const 5000) "something else, which is elsewhere"))"#,
    )
    .unwrap_or_default();
    let space = v8(|data| {
        data[0xb000..0xb000 + other.len()].copy_from_slice(&other);
        data[0xc000..0xc000 + own.len()].copy_from_slice(&own);
    });
    let found = search(&space);
    let memory = &found.memories[0];
    let all = modules(&space, &found.modules, &control).unwrap_or_default();
    assert_eq!(all.len(), 2);
    let chosen = module_of(&space, memory, all, &control);
    assert!(chosen.is_ok_and(|module| module.wasm == own));
    let share = data_share(&space, memory, &other, &control);
    assert!(share.is_ok_and(|share| !share.is_most()));
    let none = module_of(&space, memory, Vec::new(), &control);
    let is_missing =
        |error: base::Error| matches!(error.own(), Some(OutsideError::NoModule { .. }));
    assert!(none.is_err_and(is_missing));
}

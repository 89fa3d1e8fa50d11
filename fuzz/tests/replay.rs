//! Runs the targets on the kept corpus and on random inputs, without libFuzzer.

use engine::Tolerance;
use warpo_heap_analyzer_fuzz::choices::Choices;
use warpo_heap_analyzer_fuzz::module_edits::{self, Focus};
use warpo_heap_analyzer_fuzz::support::forge::random::Random;
use warpo_heap_analyzer_fuzz::support::forge::{Forge, Shape, Size};
use warpo_heap_analyzer_fuzz::{corpus, programs, targets};

/// Two tests of about the same length, which run side by side.
#[test]
fn no_kept_input_violates_an_invariant() {
    replay(|name| name != "questions");
}

#[test]
fn no_kept_input_for_questions_violates_an_invariant() {
    replay(|name| name == "questions");
}

fn replay(is_wanted: impl Fn(&str) -> bool) {
    for (name, run) in targets::ALL.iter().filter(|(name, _)| is_wanted(name)) {
        let inputs = corpus::inputs(name).unwrap();
        assert!(!inputs.is_empty(), "no corpus for {name}");
        for input in inputs {
            run(&input);
        }
    }
}

#[test]
fn no_random_recipe_violates_an_invariant() {
    let mut random = Random::new(1);
    // Every night, libFuzzer makes many more.
    for _ in 0..60 {
        let input = random_bytes(&mut random, 8, 400);
        for run in [
            targets::classes,
            targets::heap,
            targets::analyze,
            targets::compare,
            targets::questions,
            targets::native,
        ] {
            run(&input);
        }
    }
}

#[test]
fn no_random_damage_to_modules_violates_an_invariant() {
    let mut random = Random::new(2);
    for (nth, program) in (0..200).zip(programs::ALL.iter().cycle()) {
        for (focus, run) in [
            (Focus::Anything, targets::module as fn(&[u8])),
            (Focus::Anything, targets::instrument),
            (Focus::Dwarf, targets::debug_info),
            (Focus::Code, targets::collector_code),
        ] {
            let choices = random_bytes(&mut random, 8, 64);
            let mut wasm = program.module.to_vec();
            module_edits::edit(&mut wasm, &mut Choices::new(&choices), 1 + nth % 4, focus);
            run(&wasm);
        }
    }
}

#[test]
fn no_random_module_with_an_allocator_is_instrumented_wrongly() {
    let mut random = Random::new(3);
    for _ in 0..200 {
        targets::instrument(&random_bytes(&mut random, 200, 2000));
    }
}

fn random_bytes(random: &mut Random, least: u32, more: u32) -> Vec<u8> {
    let length = least + random.below(more);
    (0..length).map(|_| random.next() as u8).collect()
}

#[test]
fn real_programs_without_damage_keep_to_the_limits() {
    for program in programs::ALL.iter() {
        for dump in [&program.before, &program.after] {
            let heap =
                targets::analyze_within(&dump.bytes, program.module, Tolerance::default()).unwrap();
            assert_eq!(
                heap.warnings
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>(),
                [""; 0]
            );
        }
    }
}

#[test]
fn large_heaps_of_every_shape_keep_to_the_limits() {
    for &shape in Shape::ALL {
        let forge = Forge::new(shape, Size::Memory(24 << 20), 1);
        let (dump, wasm) = (forge.dump().0.bytes, forge.module());
        targets::analyze_within(&dump, &wasm, Tolerance::default()).unwrap();
    }
}

//! The kept corpus, and a few seconds of inputs that nobody chose, on any machine that builds the engine.

use std::path::Path;

use warpo_heap_analyzer::Tolerance;
use warpo_heap_analyzer_fuzz::support::forge::random::Random;
use warpo_heap_analyzer_fuzz::support::forge::{Forge, Shape, Size};
use warpo_heap_analyzer_fuzz::targets;

#[test]
fn the_kept_corpus_finds_nothing() {
    for (name, run) in targets::ALL {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("corpus")
            .join(name);
        let mut inputs = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            run(&std::fs::read(entry.unwrap().path()).unwrap());
            inputs += 1;
        }
        assert!(inputs > 0, "no corpus for {name}");
    }
}

#[test]
fn random_recipes_find_nothing() {
    let mut random = Random::new(1);
    for _ in 0..2000 {
        let length = 8 + random.below(400);
        let input: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        for (_, run) in targets::ALL {
            run(&input);
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

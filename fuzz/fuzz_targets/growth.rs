//! Checks that time does not grow faster than the input, with the same shape in one size and in four times
//! that size. A limit in seconds cannot detect this on small inputs. CPU time is not exact enough for a
//! test, so only `npm run fuzz` runs this.

use std::time::Duration;

use cpu_time::ProcessTime;
use engine::Tolerance;
use engine::instrument::expose_globals;
use libfuzzer_sys as _;
use warpo_heap_analyzer_fuzz::support::forge::{Forge, Shape, Size};
use warpo_heap_analyzer_fuzz::support::{Scene, WasmGlobal};
use warpo_heap_analyzer_fuzz::targets;

/// Four times the input may take eight times the time, because caches become too small and vectors grow.
/// Quadratic time would be sixteen times.
const ALLOWED: u32 = 8;

/// Shorter times are too inexact.
const MEASURABLE: Duration = Duration::from_millis(20);

/// A name, and a function that makes a module with the given number of items.
type Many = (&'static str, fn(u32) -> Scene);

const MODULES: [Many; 6] = [
    ("classes", |count| {
        let mut scene = Scene::new();
        for nth in 0..count {
            let class =
                scene.class_with_id(&format!("assembly/index/C{nth}"), Some(4 + nth % 1000));
            scene.field(class, "own", 0, class);
        }
        scene
    }),
    ("classes of one id", |count| {
        let mut scene = Scene::new();
        for nth in 0..count {
            scene.class_with_id(&format!("assembly/index/C{nth}"), Some(4));
        }
        scene
    }),
    ("base classes", |count| {
        let mut scene = Scene::new();
        let mut base = scene.class_with_id("assembly/index/C", Some(4));
        for _ in 0..count {
            let class = scene.class_with_id("assembly/index/C", None);
            scene.inherit(class, base);
            base = class;
        }
        scene
    }),
    ("fields", |count| {
        let mut scene = Scene::new();
        let class = scene.class("assembly/index/C");
        (0..count).for_each(|nth| scene.field(class, "field", 4 * nth, class));
        scene.object(class, 16);
        scene
    }),
    ("variables", |count| {
        let mut scene = Scene::new();
        let class = scene.class("assembly/index/C");
        for nth in 0..count {
            scene.global(&format!("assembly/index/g{nth}"), class, 0u32);
        }
        scene
    }),
    ("variables of one name", |count| {
        let mut scene = Scene::new();
        let class = scene.class("assembly/index/C");
        (0..count).for_each(|_| scene.global("assembly/index/g", class, 0u32));
        scene
    }),
];

fn main() {
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build_global()
        .unwrap();
    let mut grows = false;
    let mut check = |name: String, run: &dyn Fn(u32) -> Duration| {
        let least = |scale| (0..3).map(|_| run(scale)).min().unwrap_or_default();
        let (once, four_times) = (least(1), least(4));
        let is_square = four_times > once.max(MEASURABLE) * ALLOWED;
        let verdict = if is_square {
            "grows faster than its input"
        } else {
            ""
        };
        println!("{name:<34} {once:>12.1?} {four_times:>12.1?}  {verdict}");
        grows |= is_square;
    };
    for &shape in Shape::ALL {
        check(format!("heap: {}", shape.name), &|scale| {
            let forge = Forge::new(shape, Size::Memory(u64::from(scale) * (4 << 20)), 1);
            let (dump, wasm) = (forge.dump().0.bytes, forge.module());
            time(|| _ = targets::analyze_within(&dump, &wasm, Tolerance::default()).unwrap())
        });
    }
    for (name, make) in MODULES {
        check(format!("module: {name}"), &|scale| {
            let scene = make(scale * 20_000);
            let (dump, wasm) = (scene.dump().bytes, scene.module());
            time(|| _ = targets::analyze_within(&dump, &wasm, Tolerance::default()).unwrap())
        });
    }
    check("module: globals to expose".to_owned(), &|scale| {
        let mut scene = Scene::new();
        let variables =
            (0..scale * 20_000).map(|nth| WasmGlobal::variable(&format!("g{nth}"), nth));
        scene.globals.extend(variables);
        let wasm = scene.module();
        time(|| _ = expose_globals(&wasm).unwrap())
    });
    std::process::exit(grows.into());
}

fn time(run: impl FnOnce()) -> Duration {
    let start = ProcessTime::now();
    run();
    start.elapsed()
}

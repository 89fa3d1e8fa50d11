//! Warnings about memory that contradicts what the runtime keeps true.

use super::{assert_warns, small_scene};
use crate::support::{
    ARRAY_BUFFER, ModuleOptions, Object, Scene, WasmGlobal, analyze, analyze_tolerating, live,
    warnings,
};
use engine::Tolerance;
use engine::wasm::debug_info::TRANSFORM;

#[test]
fn contents_that_do_not_fit_name_the_first_object_and_count_all() {
    let (mut scene, node, head) = small_scene();
    let nodes = scene.generic("~lib/array/Array<assembly/index/Node>", &[&node]);
    let buffer = scene.object_of(ARRAY_BUFFER, &[head.0; 4]);
    let arrays = [(); 3].map(|()| scene.array_over(nodes, buffer, 5));
    scene.global("assembly/index/a", nodes, arrays[2]);
    scene.global("assembly/index/b", nodes, arrays[1]);
    let text = format!(
        "the contents of 2 object(s) do not fit their buffers, the first is the ~lib/array/Array<assembly/index/Node> at {:#x}: references outside the buffers were not followed, so objects may be missing",
        arrays[1].0
    );
    assert_warns(&scene, "WARN_CONTENTS_DO_NOT_FIT", &text);
}

#[test]
fn a_total_that_the_walk_does_not_confirm_causes_a_warning() {
    let (mut scene, ..) = small_scene();
    scene.set_global("~lib/rt/itcms/total", 1000);
    assert_warns(
        &scene,
        "WARN_TOTAL_MISMATCH",
        "the collector counts 1000 bytes of managed objects, but 32 were found: the heap is damaged or was changed from outside, and some objects may be missing or wrong",
    );
}

#[test]
fn a_module_without_names_hides_the_collector_and_that_is_no_reason_to_warn() {
    let (mut scene, ..) = small_scene();
    // Its debug information has the roots that optimisation removed.
    scene.description.producer = TRANSFORM.to_owned();
    let options = ModuleOptions {
        without_names: true,
        ..ModuleOptions::default()
    };
    let heap = analyze(&scene.dump(), &scene.module_with(&options)).unwrap();
    assert_eq!(warnings(&heap), [""; 0]);
}

/// Three objects in one list, in a module without names, so their expected number is not known.
struct Listed {
    scene: Scene,
    objects: [Object; 3],
}

impl Listed {
    fn new() -> Self {
        let mut scene = Scene::new();
        let class = scene.class("assembly/index/Node");
        // Raw memory, of zeros as so often, is in no list.
        scene.raw(&[0; 8]);
        let objects = [(); 3].map(|()| scene.object(class, 8));
        for (nth, object) in objects.into_iter().enumerate() {
            scene.describe_global(
                &format!("assembly/index/node{nth}"),
                class,
                Some(scene.globals.len() as u32),
            );
            scene.globals.push(WasmGlobal::variable("", object.0));
        }
        Self { scene, objects }
    }

    /// The warnings about the dump with these words of memory changed.
    fn warnings(&self, changes: &[(u32, u32)]) -> Vec<String> {
        let options = ModuleOptions {
            without_names: true,
            ..ModuleOptions::default()
        };
        let mut dump = self.scene.dump();
        for &(address, word) in changes {
            dump.poke(address, word);
        }
        let heap = analyze(&dump, &self.scene.module_with(&options)).unwrap();
        let broken = heap.warnings.iter();
        let broken = broken.filter(|warning| warning.code() == "WARN_LIST_BROKEN");
        broken.map(ToString::to_string).collect()
    }
}

#[test]
fn an_object_that_is_halfway_out_of_its_list_is_said_without_names() {
    let listed = Listed::new();
    let [first, second, third] = listed.objects;
    assert_eq!(listed.warnings(&[]), [""; 0]);
    // The first step of the collector: the next object refers back to the one before the removed object.
    assert_eq!(
        listed.warnings(&[(third.block() + 8, first.block())]),
        [format!(
            "the collector's lists are broken at 2 object(s), the first at {:#x}: the dump was taken while the collector changed them, or the heap was changed from outside, so objects may be missing",
            second.0
        )]
    );
}

#[test]
fn an_object_between_two_lists_is_said_without_names() {
    let listed = Listed::new();
    let [first, second, third] = listed.objects;
    let warnings = listed.warnings(&[
        (third.block() + 8, first.block()),
        (first.block() + 4, third.block()),
    ]);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains(&format!("1 object(s), the first at {:#x}", second.0)));
}

#[test]
fn the_next_object_to_be_swept_is_no_broken_list() {
    let mut listed = Listed::new();
    let [first, second, _] = listed.objects;
    // The object before it was freed, and its memory used again.
    let freed = [(first.block() + 4, 7), (first.block() + 8, 7)];
    assert_eq!(listed.warnings(&freed).len(), 1);
    listed
        .scene
        .globals
        .push(WasmGlobal::variable("", second.block()));
    assert_eq!(listed.warnings(&freed), [""; 0]);
}

#[test]
fn a_heap_that_is_read_up_to_its_damage_is_said_to_be_partial() {
    let (mut scene, node, head) = small_scene();
    let damaged = scene.object(node, 8);
    scene.object(node, 8);
    let mut dump = scene.dump();
    dump.poke(damaged.block(), 0xffff_ffff);
    let partial = Tolerance {
        damage: true,
        ..Tolerance::default()
    };
    let heap = analyze_tolerating(&dump.bytes, &scene.module(), partial).unwrap();
    let damage = heap
        .warnings
        .iter()
        .find(|warning| warning.code() == "WARN_PARTIAL");
    assert_eq!(
        damage.unwrap().to_string(),
        format!(
            "partial result: the heap is corrupt at address {:#x}: found a block header of 0xffffffff (4294967292 bytes), expected a block whose size is 12 more than a multiple of 16 and that ends inside the heap; capture the dump again; if the error remains, look for code that writes outside its objects; the heap after this address was not read, so its objects, and the objects that only they keep alive, are missing",
            damaged.block()
        )
    );
    assert!(heap.is_partial);
    assert_eq!(live(&heap), [head]);
}

//! JSON and tables of views.

mod json;
mod tables;

use std::sync::Arc;

use crate::support::Scene;
use engine::Control;
use engine::heap::Heap;
use engine::heap::views::{ComparisonView, ConstructorView, Selection};

/// A heap with the given number of live objects of each named class.
fn heap_with(classes: &[(&str, u32)]) -> Arc<Heap> {
    let mut scene = Scene::new();
    let holder = scene.class("~holder");
    for (name, count) in classes {
        let class = scene.class(name);
        let list = scene.generic(&format!("~lib/staticarray/StaticArray<{name}>"), &[&class]);
        let objects: Vec<u32> = (0..*count).map(|_| scene.object(class, 12).0).collect();
        let list = scene.object_of(list, &objects);
        scene.global("assembly/index/list", holder, list);
    }
    Arc::new(scene.analyze())
}

fn constructors(classes: &[(&str, u32)]) -> ConstructorView {
    ConstructorView::new(
        heap_with(classes),
        Selection::default(),
        &Control::default(),
    )
    .unwrap()
}

fn comparison(before: &[(&str, u32)], after: &[(&str, u32)]) -> ComparisonView {
    let (before, after) = (heap_with(before), heap_with(after));
    ComparisonView::new(before, after, Selection::default(), &Control::default()).unwrap()
}

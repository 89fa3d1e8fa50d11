//! Heaps that real programs rarely have: rare classes, missing or unusual descriptions, wrong contents,
//! memories that are large or full of foreign bytes.
//!
//! For ordinary programs, the runtime's own collector is the judge, in the tests under Node.

mod classes;
mod containers;
mod memory;
mod roots;

use crate::support::{Class, Object, Scene, live};

/// A class with the one field `next`, which can refer to anything that is described.
fn node_class(scene: &mut Scene) -> Class {
    let node = scene.class("assembly/index/Node");
    scene.field(node, "next", 0, node);
    node
}

/// A scene in which an object of `class` is the only root, and the objects of `others` that it keeps alive.
#[track_caller]
fn assert_keeps(scene: &mut Scene, root: Object, others: &[Object]) {
    scene.push_on_stack(root);
    let heap = scene.analyze();
    let mut expected = [&[root], others].concat();
    expected.sort();
    assert_eq!(live(&heap), expected);
}

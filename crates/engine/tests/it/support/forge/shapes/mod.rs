//! The shapes.

mod arrays;
mod classes;
mod lists;
mod records;
mod trees;
mod waste;

use super::super::{Class, NULL, Scene, flags};
use super::Shape;

pub const ALL: &[Shape] = &[
    // Shapes of ordinary programs.
    Shape {
        name: "mix",
        declare: records::mix,
    },
    Shape {
        name: "list",
        declare: lists::list,
    },
    Shape {
        name: "arrays",
        declare: arrays::arrays,
    },
    Shape {
        name: "tree",
        declare: trees::tree,
    },
    Shape {
        name: "text",
        declare: records::text,
    },
    Shape {
        name: "maps",
        declare: records::maps,
    },
    Shape {
        name: "garbage",
        declare: waste::garbage,
    },
    Shape {
        name: "regions",
        declare: waste::regions,
    },
    // Shapes that are difficult for one part of an analysis.
    Shape {
        name: "shuffled",
        declare: trees::shuffled,
    },
    Shape {
        name: "chain",
        declare: lists::chain,
    },
    Shape {
        name: "one-array",
        declare: arrays::one_array,
    },
    Shape {
        name: "next-then-text",
        declare: lists::next_then_text,
    },
    Shape {
        name: "text-then-next",
        declare: lists::text_then_next,
    },
    Shape {
        name: "classes",
        declare: classes::classes,
    },
    Shape {
        name: "hierarchy",
        declare: classes::hierarchy,
    },
];

/// The global that everything hangs on.
fn root(scene: &mut Scene, class: Class) {
    scene.global("assembly/index/root", class, NULL);
}

/// A class with numbers only.
fn numbers(scene: &mut Scene, name: &str, size: u32) -> Class {
    let class = scene.class(name);
    for offset in (0..size).step_by(4) {
        scene.field(class, &format!("number{offset}"), offset, "i32");
    }
    scene.set_flags(class, flags::POINTER_FREE);
    class
}

fn array_of(scene: &mut Scene, name: &str, element: Class) -> Class {
    let class = scene.generic(&format!("~lib/array/Array<{name}>"), &[&element]);
    let of = flags::ARRAY | flags::VALUE_MANAGED | flags::value_size(4);
    scene.set_flags(class, of);
    class
}

fn string(scene: &mut Scene) -> Class {
    scene.class_with_id("~lib/string/String", Some(super::super::STRING.id))
}

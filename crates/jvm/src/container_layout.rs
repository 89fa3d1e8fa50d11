//! The collections of Java's own library whose layouts are known.

use crate::classes::{JavaClasses, PlacedField};

/// How a collection has its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JavaContainer {
    /// An array, and how many elements of it are used: `ArrayList`, `Vector`.
    List {
        elements: &'static str,
        size: &'static str,
    },
    /// An array as a ring: `ArrayDeque`.
    Ring,
    /// Chains of nodes in an array: `HashMap`, `ConcurrentHashMap`, `Hashtable`.
    Map { table: &'static str },
    /// A map whose keys are the members: `HashSet`.
    Set,
}

/// Layouts by class. Those of subclasses are the same.
const KNOWN: [(&str, JavaContainer); 8] = [
    (
        "java.util.ArrayList",
        JavaContainer::List {
            elements: "elementData",
            size: "size",
        },
    ),
    (
        "java.util.Vector",
        JavaContainer::List {
            elements: "elementData",
            size: "elementCount",
        },
    ),
    ("java.util.ArrayDeque", JavaContainer::Ring),
    ("java.util.HashMap", JavaContainer::Map { table: "table" }),
    (
        "java.util.concurrent.ConcurrentHashMap",
        JavaContainer::Map { table: "table" },
    ),
    ("java.util.Hashtable", JavaContainer::Map { table: "table" }),
    (
        "java.util.WeakHashMap",
        JavaContainer::Map { table: "table" },
    ),
    ("java.util.HashSet", JavaContainer::Set),
];

/// References from a collection to its own memory: the class that declares the field, and the field.
pub(crate) const OWN_STORAGE: [(&str, &str); 12] = [
    ("java.util.ArrayList", "elementData"),
    ("java.util.Vector", "elementData"),
    ("java.util.ArrayDeque", "elements"),
    ("java.util.HashMap", "table"),
    ("java.util.concurrent.ConcurrentHashMap", "table"),
    ("java.util.Hashtable", "table"),
    ("java.util.HashSet", "map"),
    ("java.util.PriorityQueue", "queue"),
    // The next entry in the same place of a table: which one that is, the sizes of tables say.
    ("java.util.HashMap$Node", "next"),
    ("java.util.concurrent.ConcurrentHashMap$Node", "next"),
    ("java.util.Hashtable$Entry", "next"),
    ("java.util.LinkedList$Node", "next"),
];

/// The layout of a class, if it has the fields.
pub(crate) fn container_of(
    classes: &JavaClasses,
    class: u32,
    fields: &[PlacedField],
) -> Option<JavaContainer> {
    let mut known = classes.hierarchy(class).filter_map(|class| {
        let name = classes.all[class as usize].name.as_str();
        KNOWN.iter().find(|(known, _)| *known == name)
    });
    let (_, container) = known.next()?;
    let has = |name: &str| {
        let number = classes.names.find(name);
        fields
            .iter()
            .any(|placed| Some(placed.field.name) == number)
    };
    let has_all = match container {
        JavaContainer::List { elements, size } => has(elements) && has(size),
        JavaContainer::Ring => has("elements") && has("head") && has("tail"),
        JavaContainer::Map { table } => has(table),
        JavaContainer::Set => has("map"),
    };
    has_all.then_some(*container)
}

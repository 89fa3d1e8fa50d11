//! What may be wrong about a heap.

use base::warning::Warning;

use crate::edges::Dangling;
use crate::sizes::InstanceSizes;

/// References to objects that are not in the file. Those of a file that is cut are expected. So are those in one array: a JVM
/// with class data sharing has one of the objects of all shared classes, and leaves out those that it has not loaded.
pub(crate) fn of_references(dangling: Dangling, cut: Option<u64>) -> Vec<Warning> {
    let dangling = dangling.count - dangling.in_one_array;
    if dangling == 0 || cut.is_some() {
        return Vec::new();
    }
    vec![Warning::OfSource(
        "WARN_OBJECTS_MISSING",
        format!(
            "{dangling} reference(s) lead to objects that are not in the heap dump: the objects, and what only they keep alive, are missing"
        ),
    )]
}

/// Sizes that do not fit the distances between objects.
pub(crate) fn of_sizes(sizes: &InstanceSizes) -> Option<Warning> {
    let percent = sizes.exact_percent?;
    (percent < 50).then(|| Warning::OfSource(
        "WARN_SIZES_ESTIMATED",
        format!(
            "a heap dump of a JVM does not have the sizes of objects: they follow from the fields, by the rules of HotSpot; only {percent} % of the objects end where the next one begins, so the sizes may be those of another JVM"
        ),
    ))
}

/// The end of a file that was cut.
pub(crate) fn cut_at(offset: u64) -> Warning {
    Warning::Partial {
        damage: format!("the heap dump of a JVM ends at byte {offset}, inside a record"),
    }
}

/// What a comparison of two dumps object by object cannot know.
pub fn objects_move() -> Warning {
    Warning::OfSource(
        "WARN_OBJECTS_MOVED",
        "the collector of a JVM moves objects: one that is at another address counts as deleted and as new; the differences are exact".to_owned(),
    )
}

//! The labels of references as they are shown.

/// A label in the form that follows the name of a class: `Node.next`, `Array<i32>[*]`, `Map<…> key [*]`.
pub fn after_class(label: &str) -> String {
    if label.starts_with(['[', '+', '(', '{', '…']) || label.starts_with("->") {
        return label.to_owned();
    }
    if label.contains(' ') {
        format!(" {label}")
    } else {
        format!(".{label}")
    }
}

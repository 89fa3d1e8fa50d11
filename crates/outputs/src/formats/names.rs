//! How answers write classes, labels, roots, addresses and sizes.

use super::text::{format_size, printable_name};
use base::frame::Frame;
use questions::{HolderEvidence, Root, SizeParts, after_class, root_kind_name, short_class};

pub(super) fn size(bytes: impl Into<u64>) -> String {
    format_size(bytes.into())
}

/// A sum of bytes, or those of each of two heaps that were joined.
pub(super) fn sizes(bytes: u64, parts: Option<SizeParts>) -> String {
    match parts {
        Some(SizeParts {
            javascript: 0,
            wasm,
        }) => format!("{} of wasm", size(wasm)),
        Some(SizeParts {
            javascript,
            wasm: 0,
        }) => format!("{} of JavaScript", size(javascript)),
        Some(SizeParts { javascript, wasm }) => {
            format!(
                "{} of JavaScript and {} of wasm",
                size(javascript),
                size(wasm)
            )
        }
        None => size(bytes),
    }
}

/// What speaks for a reference, after its label.
pub(super) fn with_evidence(label: String, evidence: Option<HolderEvidence>) -> String {
    match evidence {
        Some(evidence) => format!("{label} ({evidence})"),
        None => label,
    }
}

pub(super) fn preview(preview: Option<&String>) -> String {
    preview.map_or_else(String::new, |preview| printable_name(preview))
}

/// A class name without the modules of the standard library.
pub(super) fn class(name: &str) -> String {
    printable_name(&short_class(name))
}

/// A text about a function object, followed by the function if its name is known.
pub(super) fn with_function(text: String, function: Option<&String>) -> String {
    match function {
        Some(name) => format!("{text} ({})", printable_name(name)),
        None => text,
    }
}

/// ` from open_session (main.c:31)` after the class of an object; empty without a profile.
pub(super) fn from_line(line: Option<&Frame>) -> String {
    line.map_or_else(String::new, |line| format!(" from {}", line_text(line)))
}

/// `open_session (main.c:31)`: the name of the file without its folders.
pub(super) fn line_text(line: &Frame) -> String {
    let function = printable_name(&line.function);
    let file = line.file.rsplit(['/', '\\']).next().unwrap_or_default();
    match (file, line.line) {
        ("", _) => function,
        (file, 0) => format!("{function} ({})", printable_name(file)),
        (file, line) => format!("{function} ({}:{line})", printable_name(file)),
    }
}

pub(super) fn root(root: &Root) -> String {
    let kind = root_kind_name(root.kind);
    match &root.name {
        Some(name) => format!("{kind} {}", printable_name(name)),
        None => kind.to_owned(),
    }
}

/// A label in the form that follows a class, which is not shown before it: `.next`, `[3]`, `key`.
pub(super) fn label(label: &str) -> String {
    printable_name(after_class(label).trim_start())
}

pub(super) fn class_and_label(class_name: Option<&String>, label: Option<&String>) -> String {
    let class = class_name.map_or_else(String::new, |name| class(name));
    let label = label.map_or_else(String::new, |label| printable_name(&after_class(label)));
    format!("{class}{label}")
}

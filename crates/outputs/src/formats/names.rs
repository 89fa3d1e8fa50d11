//! How answers write classes, labels, roots, addresses and sizes.

use super::text::{format_size, printable_name};
use base::units::AddressForm;
use questions::{Root, root_kind_name};

/// An address of a dump.
pub(super) fn address(address: u32) -> String {
    AddressForm::Hexadecimal.of(address).to_string()
}

pub(super) fn size(bytes: impl Into<u64>) -> String {
    format_size(bytes.into())
}

pub(super) fn preview(preview: Option<&String>) -> String {
    preview.map_or_else(String::new, |preview| printable_name(preview))
}

/// A class name without the modules of the standard library.
pub(super) fn class(name: &str) -> String {
    let mut text = String::new();
    let mut rest = name;
    while let Some(start) = rest.find("~lib/") {
        text.push_str(&rest[..start]);
        let path = &rest[start..];
        let end = path
            .find(|character: char| "<>,|()[]=".contains(character))
            .unwrap_or(path.len());
        let last = path[..end].rfind('/').map_or(0, |slash| slash + 1);
        text.push_str(&path[last..end]);
        rest = &path[end..];
    }
    text.push_str(rest);
    printable_name(&text)
}

/// A text about a function object, followed by the function if its name is known.
pub(super) fn with_function(text: String, function: Option<&String>) -> String {
    match function {
        Some(name) => format!("{text} ({})", printable_name(name)),
        None => text,
    }
}

pub(super) fn root(root: &Root) -> String {
    let kind = root_kind_name(root.kind);
    match &root.name {
        Some(name) => format!("{kind} {}", printable_name(name)),
        None => kind.to_owned(),
    }
}

/// A label in the form that follows a class: `.next`, `[3]`, ` (buffer)`.
pub(super) fn label(label: &str) -> String {
    let label = printable_name(label);
    let is_name = !label.starts_with(['[', '(', '+', '…', '{'])
        && !label.starts_with("->")
        && !label.contains(' ');
    match is_name {
        true => format!(".{label}"),
        false => label,
    }
}

pub(super) fn class_and_label(class_name: Option<&String>, of: Option<&String>) -> String {
    let class = class_name.map_or_else(String::new, |name| class(name));
    let label = of.map_or_else(String::new, |of| label(of));
    match label.starts_with(['.', '[', '(', '+', '{']) || label.starts_with("->") {
        true => format!("{class}{label}"),
        false => format!("{class} {label}").trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_names_lose_the_modules_of_the_standard_library_only() {
        let short = [
            ("~lib/array/Array<assembly/a/B>", "Array<assembly/a/B>"),
            ("~lib/map/Map<~lib/string/String,i32>", "Map<String,i32>"),
            ("assembly/index/Node", "assembly/index/Node"),
            (
                "~lib/function/Function<(~lib/string/String|null)=>i32>",
                "Function<(String|null)=>i32>",
            ),
        ];
        for (name, expected) in short {
            assert_eq!(class(name), expected);
        }
    }
}

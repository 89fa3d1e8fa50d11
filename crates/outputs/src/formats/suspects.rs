//! The answer to `suspects` as text.

use super::names::{size, sizes};
use super::next_command::NextCommand;
use super::paths::path_lines;
use super::text::printable;
use questions::{Suspect, SuspectKind, Suspects};

pub(super) fn suspect_lines(suspects: &Suspects, next: Option<&NextCommand>) -> Vec<String> {
    if suspects.suspects.is_empty() {
        return vec![format!(
            "No suspect: nothing reaches {} of {} live bytes.",
            size(suspects.threshold),
            sizes(suspects.total_live_size, suspects.total_live_parts)
        )];
    }
    let mut lines = Vec::new();
    for (nth, suspect) in suspects.suspects.iter().enumerate() {
        if nth > 0 {
            lines.push(String::new());
        }
        let text = without_path(suspect);
        lines.push(format!("{}. {}", nth + 1, printable(&text)));
        if let Some(path) = &suspect.path {
            lines.extend(
                path_lines(path)
                    .into_iter()
                    .map(|line| format!("   {line}")),
            );
            lines.push(format!("   fingerprint {}", path.fingerprint));
        }
        let next = next.and_then(|next| next_line(suspect, next));
        lines.extend(next.map(|line| format!("   {line}")));
    }
    let is_growth = |suspect: &Suspect| suspect.kind == SuspectKind::Growth;
    if suspects.suspects.iter().any(is_growth) {
        lines.push(String::new());
        lines.push(TWO_DUMPS.to_owned());
    }
    lines
}

/// What two dumps cannot say.
const TWO_DUMPS: &str =
    "These are two dumps: a cache that fills looks the same. growth over 8 dumps or more tells.";

/// The paragraph without the path, which stands below it.
fn without_path(suspect: &Suspect) -> String {
    let Some(path) = &suspect.path else {
        return suspect.text.clone();
    };
    let path = format!("{} (fingerprint {}).", path.text, path.fingerprint);
    [" Path: ", " The path of the largest: "]
        .iter()
        .fold(suspect.text.clone(), |text, start| {
            text.replace(&format!("{start}{path}"), "")
        })
}

/// The command that shows where the bytes are, otherwise the object itself, otherwise the class.
fn next_line(suspect: &Suspect, next: &NextCommand) -> Option<String> {
    let accumulation = suspect.accumulation.as_ref();
    let address = accumulation.map(|accumulation| &accumulation.address_text);
    match address.or(suspect.address_text.as_ref()) {
        Some(address) => Some(next.object_line(address)),
        None => next.class_line(&suspect.class_name),
    }
}

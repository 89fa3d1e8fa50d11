//! The answer to `suspects` as text.

use super::names::size;
use super::paths::path_lines;
use super::text::printable;
use questions::Suspects;

pub(super) fn suspect_lines(suspects: &Suspects) -> Vec<String> {
    if suspects.suspects.is_empty() {
        return vec![format!(
            "No suspect: nothing reaches {} of {} live bytes.",
            size(suspects.threshold),
            size(suspects.total_live_size)
        )];
    }
    let mut lines = Vec::new();
    for (nth, suspect) in suspects.suspects.iter().enumerate() {
        if nth > 0 {
            lines.push(String::new());
        }
        lines.push(format!("{}. {}", nth + 1, printable(&suspect.text)));
        if let Some(path) = &suspect.path {
            lines.extend(
                path_lines(path)
                    .into_iter()
                    .map(|line| format!("   {line}")),
            );
            lines.push(format!("   fingerprint {}", path.fingerprint));
        }
    }
    lines
}

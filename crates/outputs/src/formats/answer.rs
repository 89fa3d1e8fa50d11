//! Answers to questions as text: rows as a table, a path as a path.

use super::growth::{check_lines, growth_lines};
use super::merged_paths::merged_lines;
use super::next_command::NextCommand;
use super::objects::{dominator_lines, found_lines, group_lines, object_lines};
use super::paths::{path_answer_lines, referrer_lines};
use super::rows::laid_out;
use super::summary::summary_lines;
use super::suspects::suspect_lines;
use super::table::TableOptions;
use super::text::printable;
use super::unreachable::unreachable_lines;
use super::waste::waste_lines;
use questions::{Answer, AnswerBody, WarningText};

/// Warnings after which an answer may be the opposite of the truth: it begins with them.
const DOUBTS: [&str; 4] = [
    "WARN_FIELDS_DIFFER",
    "WARN_MEMORY_SHRANK",
    "WARN_MODULE_MISMATCH",
    "WARN_OUT_OF_ORDER",
];

/// The line that says why not to trust an answer.
fn doubt(warning: &WarningText) -> Option<String> {
    let is_doubt = DOUBTS.contains(&&*warning.code);
    is_doubt.then(|| format!("DOUBTFUL: {}", printable(&warning.message)))
}

/// An answer as JSON, indented by two spaces, with a newline at the end.
pub fn render_json(answer: &Answer) -> String {
    // Numbers, strings and lists of them always serialize.
    serde_json::to_string_pretty(answer).unwrap_or_default() + "\n"
}

/// An answer as text, without colours. Warnings are left out, because the caller shows them elsewhere.
pub fn render_text(answer: &Answer, options: TableOptions) -> String {
    render_text_with_next(answer, options, None)
}

/// As [`render_text`], with the command to run next under each suspect and each growing place.
pub fn render_text_with_next(
    answer: &Answer,
    options: TableOptions,
    next: Option<&NextCommand>,
) -> String {
    let form = answer.address_form;
    let mut lines = match &answer.body {
        AnswerBody::Summary(summary) => summary_lines(summary),
        AnswerBody::Find(found) => found_lines(found, form),
        AnswerBody::Object(object) => object_lines(object, form),
        AnswerBody::Referrers(referrers) => referrer_lines(referrers, form),
        AnswerBody::Path(path) => path_answer_lines(path, form),
        AnswerBody::MergedPaths(paths) => merged_lines(paths),
        AnswerBody::Dominators(dominators) => dominator_lines(dominators, form),
        AnswerBody::DominatorGroups(groups) => group_lines(groups),
        AnswerBody::Suspects(suspects) => suspect_lines(suspects, next),
        AnswerBody::Waste(waste) => waste_lines(waste),
        AnswerBody::Unreachable(unreachable) => unreachable_lines(unreachable),
        AnswerBody::Growth(growth) => growth_lines(growth, next),
        AnswerBody::Check(check) => check_lines(check, next),
        AnswerBody::Report(_) => vec!["A report is shown as a page, not as text.".to_owned()],
    };
    let doubts = answer.warnings.iter();
    let doubt = doubts.map(doubt).find(Option::is_some).flatten();
    if let Some(doubt) = doubt {
        lines.splice(0..0, [doubt, String::new()]);
    }
    if answer.partial {
        lines.insert(
            0,
            "PARTIAL: the heap is damaged, see the warning".to_owned(),
        );
    }
    let lines = laid_out(&lines, options.width).into_iter();
    lines.map(|line| line + "\n").collect()
}

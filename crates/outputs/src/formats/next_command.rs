//! The command to run after an answer. The caller knows the command line; this writes what it is about.

use super::rows::JOINED;
use super::text::printable;

/// Names longer than this are not written as arguments.
const LONGEST_NAME: usize = 400;

/// The beginnings of commands that continue an answer. What they are about is added as the last argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextCommand {
    /// A command about one object: its address follows.
    pub of_object: String,
    /// A command about a class: its name follows.
    pub of_class: String,
}

impl NextCommand {
    /// The command about an object.
    pub(super) fn object_line(&self, address: &str) -> String {
        line(&self.of_object, address)
    }

    /// The command about a class; nothing if its name cannot be written as an argument.
    pub(super) fn class_line(&self, name: &str) -> Option<String> {
        let is_plain = name.len() <= LONGEST_NAME && printable(name) == name && !name.is_empty();
        // In a pattern these would stand for more than this class.
        let is_exact = !name.contains(['*', '?']);
        (is_plain && is_exact).then(|| line(&self.of_class, &quoted(name)))
    }
}

/// A line that is not wrapped, so that it can be copied.
fn line(command: &str, argument: &str) -> String {
    let command = format!("next: {} {argument}", printable(command));
    command.replace(' ', &JOINED.to_string())
}

/// A text as one argument for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;
    use crate::formats::rows::laid_out;

    fn next() -> NextCommand {
        NextCommand {
            of_object: "tool object a.dump".to_owned(),
            of_class: "tool paths a.dump --class".to_owned(),
        }
    }

    #[test]
    fn a_command_stays_on_one_line_and_its_name_is_one_argument() {
        let line = format!("   {}", next().class_line("a/It's<b/C>").unwrap());
        let shown = laid_out(&[line], Some(20));
        assert_eq!(
            shown,
            [r"   next: tool paths a.dump --class 'a/It'\''s<b/C>'"]
        );
        let shown = laid_out(&[next().object_line("0x9540")], None);
        assert_eq!(shown, ["next: tool object a.dump 0x9540"]);
    }

    #[test]
    fn a_name_that_is_no_pattern_for_itself_has_no_command() {
        for name in ["a*b", "a?", "", "a\u{1b}[31m", &"a".repeat(401)] {
            assert_eq!(next().class_line(name), None, "{name}");
        }
    }
}

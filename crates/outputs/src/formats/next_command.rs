//! The command to run after an answer. The caller knows the command line; this writes what it is about.

use super::rows::{CONTINUED, JOINED};
use super::text::printable;
use questions::GrowingPlace;

/// Names longer than this are not written as arguments.
const LONGEST_NAME: usize = 400;

/// The beginnings of commands that continue an answer. What they are about is added as the last argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextCommand {
    /// A command about one object: its address follows.
    pub of_object: String,
    /// A command about a class: its name follows.
    pub of_class: String,
    /// A command that lists the objects of a place: its fingerprint follows.
    pub of_place: String,
    /// A command about a class in the heaps of program and host: its name follows. Absent if there is no such file.
    pub of_pinned: Option<String>,
}

impl NextCommand {
    /// The command about an object.
    pub(super) fn object_line(&self, address: &str) -> String {
        line(&self.of_object, address)
    }

    /// The command about the objects of a growing place. What only pins hold, the host holds: if there is its heap, that is
    /// asked. Objects without one place are those of their class.
    pub(super) fn place_line(&self, place: &GrowingPlace) -> Option<String> {
        let name = &place.class_name;
        match (&place.path, &self.of_pinned) {
            (Some(path), Some(command)) if path.starts_with("pinned") => named(command, name),
            (Some(_), _) => Some(line(&self.of_place, &place.fingerprint)),
            (None, _) => self.class_line(name),
        }
    }

    /// The command about a class; nothing if its name cannot be written as an argument.
    pub(super) fn class_line(&self, name: &str) -> Option<String> {
        named(&self.of_class, name)
    }
}

/// A command with the name of a class; nothing if that cannot be written as an argument.
fn named(command: &str, name: &str) -> Option<String> {
    let is_plain = name.len() <= LONGEST_NAME && printable(name) == name && !name.is_empty();
    // In a pattern these would stand for more than this class.
    let is_exact = !name.contains(['*', '?']);
    (is_plain && is_exact).then(|| line(command, &quoted(name)))
}

/// A line that is wrapped between two arguments only, so that it can be copied.
fn line(command: &str, argument: &str) -> String {
    let mut text = format!("next:{JOINED}");
    let (mut is_quoted, mut is_escaped) = (false, false);
    for character in format!("{} {argument}", printable(command)).chars() {
        text.push(match character {
            ' ' if is_quoted => JOINED,
            ' ' => CONTINUED,
            other => other,
        });
        is_quoted ^= character == '\'' && !is_escaped;
        is_escaped = character == '\\' && !is_quoted && !is_escaped;
    }
    text
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
            of_place: "tool find a.dump --place".to_owned(),
            of_pinned: None,
        }
    }

    #[test]
    fn a_command_is_wrapped_between_arguments_as_a_shell_continues_it() {
        let line = format!("   {}", next().class_line("a/It's <b/C>").unwrap());
        let shown = laid_out(std::slice::from_ref(&line), Some(30));
        assert_eq!(
            shown,
            [
                r"   next: tool paths a.dump \",
                r"     --class 'a/It'\''s <b/C>'"
            ]
        );
        let shown = laid_out(&[line], None);
        assert_eq!(
            shown,
            [r"   next: tool paths a.dump --class 'a/It'\''s <b/C>'"]
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

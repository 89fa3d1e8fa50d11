//! Class names with wildcards.

use std::str::Chars;

use crate::QuestionError;
use base::control::Control;
use base::error::Result;
use expression::last_part;

/// The most characters of a pattern with wildcards: to compare a name takes, at worst, the product of both lengths.
const MOST: usize = 256;

/// What stands for any text. The ellipsis is where tables shorten a name, so that it can be pasted.
const ANY: [char; 2] = ['*', '…'];

/// A name with wildcards: `*` stands for any text, `?` for one character. Everything else stands for itself, so a crate
/// for file names does not fit.
pub(super) enum Glob<'p> {
    /// Without wildcards.
    Name(&'p str),
    Pattern(Vec<char>),
}

impl<'p> Glob<'p> {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`QuestionError::InvalidOption`] if it has wildcards and is too long.
    pub(super) fn new(pattern: &'p str) -> Result<Self> {
        if !pattern.contains(['*', '…', '?']) {
            return Ok(Self::Name(pattern));
        }
        if pattern.chars().nth(MOST).is_some() {
            return Err(QuestionError::InvalidOption {
                name: "class",
                found: format!("{} characters", pattern.chars().count()),
                expected: "at most 256 characters if there is a * or a ? among them",
            }
            .into());
        }
        Ok(Self::Pattern(pattern.chars().collect()))
    }

    /// Whether a name is of this form.
    pub(super) fn matches(&self, name: &str) -> bool {
        let wanted = match self {
            Self::Name(only) => return *only == name,
            Self::Pattern(wanted) => wanted,
        };
        let (mut at, mut left) = (0, name.chars());
        // Behind the last `*`, and what followed it in the name when it stood for the least.
        let mut last_any: Option<(usize, Chars<'_>)> = None;
        loop {
            let rest = left.clone();
            match (wanted.get(at), left.next()) {
                (None, None) => return true,
                (Some(any), _) if ANY.contains(any) => {
                    at += 1;
                    left = rest;
                    last_any = Some((at, left.clone()));
                }
                (Some(&expected), Some(found)) if is_one(expected, found) => at += 1,
                // It stands for one character more.
                _ => {
                    let Some((behind, from)) = &mut last_any else {
                        return false;
                    };
                    if from.next().is_none() {
                        return false;
                    }
                    (at, left) = (*behind, from.clone());
                }
            }
        }
    }
}

fn is_one(expected: char, found: char) -> bool {
    expected == '?' || expected == found
}

/// The one class whose name ends so, such as `Session` or `server/Session`; `None` if there is none, if there are several, or
/// if the pattern has wildcards.
pub(super) fn only_short<'n>(
    pattern: &str,
    names: impl Iterator<Item = &'n str>,
    control: &Control,
) -> Result<Option<&'n str>> {
    if pattern.is_empty() || pattern.contains(['*', '?', '…']) {
        return Ok(None);
    }
    let mut found = None;
    for (nth, name) in names.enumerate() {
        if nth.is_multiple_of(BATCH) {
            control.check()?;
        }
        if last_part(name) != pattern && !ends_with_parts(name, pattern) {
            continue;
        }
        if found.is_some_and(|other| other != name) {
            return Ok(None);
        }
        found = Some(name);
    }
    Ok(found)
}

/// Whether a name ends with these parts of it. Those of its type arguments do not count.
fn ends_with_parts(name: &str, parts: &str) -> bool {
    let Some(before) = name.strip_suffix(parts) else {
        return false;
    };
    before.ends_with(['/', ':', '.']) && !before.contains('<')
}

/// The number of names that are ranked between two checks for cancellation.
const BATCH: usize = 1 << 8;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, name: &str) -> bool {
        Glob::new(pattern).unwrap().matches(name)
    }

    #[test]
    fn the_end_of_a_name_stands_for_the_one_class_that_has_it() {
        let names = [
            "a/server/Session",
            "b/client/Session",
            "Array<a/server/Session",
        ];
        let only = |pattern| only_short(pattern, names.into_iter(), &Control::default()).unwrap();
        assert_eq!(only("server/Session"), Some("a/server/Session"));
        // Of two classes, half a word, or a type argument.
        for pattern in ["Session", "erver/Session", "", "/Session"] {
            assert_eq!(only(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn an_ellipsis_is_what_a_table_left_out() {
        assert!(
            Glob::new("assembl…x/Mail")
                .unwrap()
                .matches("assembly/index/Mail")
        );
        assert!(
            !Glob::new("assembl…x/Mail")
                .unwrap()
                .matches("assembly/index/Mailer")
        );
    }

    #[test]
    fn wildcards_stand_for_any_text_or_one_character() {
        for (pattern, name) in [
            ("a/B", "a/B"),
            ("*", ""),
            ("*Listener", "a/PriceListener"),
            ("a*c*e", "abcde"),
            ("Array<*>", "Array<i32>"),
            ("?b", "äb"),
            ("**", "x"),
            ("a*?", "ab"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("a", "ab"),
            ("?", ""),
            ("a*c", "abcd"),
            ("", "a"),
            ("ab*bc", "abc"),
            ("[a]", "a"),
        ] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    /// By the definition.
    fn is_of_form(pattern: &[char], name: &[char]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some(('*', rest)) => (0..=name.len()).any(|at| is_of_form(rest, &name[at..])),
            Some((&expected, rest)) => name.split_first().is_some_and(|(&found, behind)| {
                is_one(expected, found) && is_of_form(rest, behind)
            }),
        }
    }

    proptest! {
        #[test]
        fn a_name_matches_if_the_definition_says_so(pattern in "[ab\u{e4}?*]{0,8}", name in "[ab\u{e4}]{0,12}") {
            let characters = |text: &str| text.chars().collect::<Vec<_>>();
            let expected = is_of_form(&characters(&pattern), &characters(&name));
            prop_assert_eq!(matches(&pattern, &name), expected);
        }
    }

    #[test]
    fn a_long_pattern_without_wildcards_is_a_name() {
        let name = "a".repeat(100_000);
        assert!(matches(&name, &name));
        assert!(!matches(&name, &name[1..]));
    }

    #[test]
    fn the_longest_pattern_is_compared_with_a_long_name() {
        let name = "a".repeat(100_000);
        assert!(!matches(&format!("*{}b", "a".repeat(MOST - 2)), &name));
        assert!(matches(&format!("*{}", "a".repeat(MOST - 1)), &name));
        assert!(!matches(&"*b".repeat(MOST / 2), &name));
    }

    #[test]
    fn too_many_characters_around_a_wildcard_are_refused() {
        assert!(Glob::new(&"?".repeat(MOST)).is_ok());
        let error = Glob::new(&"?".repeat(MOST + 1)).err().unwrap();
        assert_eq!(error.code(), "ERR_INVALID_OPTION");
    }

    #[test]
    fn a_short_name_stands_for_the_only_class_that_has_it() {
        let names = ["a/Player", "b/User", "c/User", "~lib/map/Map<a/Player,i32>"];
        let only = |pattern| only_short(pattern, names.into_iter(), &Control::default()).unwrap();
        assert_eq!(only("Player"), Some("a/Player"));
        assert_eq!(only("Map<a/Player,i32>"), Some(names[3]));
        for other in ["User", "player", "Play", "Playe?", "*", ""] {
            assert_eq!(only(other), None, "{other}");
        }
    }
}

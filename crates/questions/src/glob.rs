//! Class names with wildcards.

use memchr::memmem;

use crate::QuestionError;
use base::control::Control;
use base::error::Result;

/// The largest number of characters between two `*`, if there is a `?` among them: as many as a word has bits.
const MOST_WITH_ONE: usize = u128::BITS as usize;

/// What stands for any text. The ellipsis is where tables shorten a name, so that it can be pasted.
const ANY: [char; 2] = ['*', '…'];

/// A name with wildcards: `*` stands for any text, `?` for one character. Everything else stands for itself, so a crate
/// for file names does not fit. A name is compared in time that is linear in its length.
pub(super) struct Glob<'p> {
    /// The characters before the first `*`, or all of them if there is none.
    start: &'p str,
    /// What follows the first `*`; `None` if there is none.
    rest: Option<Rest<'p>>,
}

struct Rest<'p> {
    /// The parts between two `*`.
    middle: Vec<GlobPart<'p>>,
    /// The characters after the last `*`.
    end: &'p str,
}

/// Characters that may begin anywhere.
enum GlobPart<'p> {
    Plain(&'p str),
    /// With `?`. The first bit of each mask stands for the first character.
    Masks {
        /// The characters, ascending, and where they are expected.
        of_characters: Vec<(char, u128)>,
        /// Where any character is expected.
        of_any: u128,
        last: u128,
    },
}

impl<'p> Glob<'p> {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`QuestionError::InvalidOption`] if the characters between two `*` are too many to be found in linear time.
    pub(super) fn new(pattern: &'p str) -> Result<Self> {
        let Some((start, behind)) = pattern.split_once(ANY) else {
            return Ok(Self {
                start: pattern,
                rest: None,
            });
        };
        let (middle, end) = behind.rsplit_once(ANY).unwrap_or(("", behind));
        let parts = middle.split(ANY).filter(|part| !part.is_empty());
        Ok(Self {
            start,
            rest: Some(Rest {
                middle: parts.map(GlobPart::new).collect::<Result<_>>()?,
                end,
            }),
        })
    }

    /// Whether a name is of this form.
    pub(super) fn matches(&self, name: &str) -> bool {
        let Some(behind) = after_start(self.start, name) else {
            return false;
        };
        let Some(Rest { middle, end }) = &self.rest else {
            return behind.is_empty();
        };
        let Some(between) = before_end(end, behind) else {
            return false;
        };
        // The first place of each part leaves the most for the others.
        let mut left = between;
        for part in middle {
            let Some(behind) = part.behind_first(left) else {
                return false;
            };
            left = behind;
        }
        true
    }
}

impl<'p> GlobPart<'p> {
    fn new(part: &'p str) -> Result<Self> {
        if !part.contains('?') {
            return Ok(Self::Plain(part));
        }
        if part.chars().nth(MOST_WITH_ONE).is_some() {
            return Err(QuestionError::InvalidOption {
                name: "class",
                found: format!("{} characters between two *", part.chars().count()),
                expected: "at most 128 characters between two * if there is a ? among them",
            }
            .into());
        }
        let mut expected: Vec<(char, u128)> = part.chars().zip((0..).map(|nth| 1 << nth)).collect();
        let last = expected.last().map_or(0, |&(_, bit)| bit);
        let bits = |any: bool, all: &[(char, u128)]| {
            let found = all.iter().filter(|&&(it, _)| (it == '?') == any);
            found.copied().collect::<Vec<_>>()
        };
        let of_any = bits(true, &expected)
            .iter()
            .fold(0, |all, (_, bit)| all | bit);
        expected = bits(false, &expected);
        expected.sort_unstable();
        expected.dedup_by(|other, kept| {
            let is_same = other.0 == kept.0;
            if is_same {
                kept.1 |= other.1;
            }
            is_same
        });
        Ok(Self::Masks {
            of_characters: expected,
            of_any,
            last,
        })
    }

    /// What follows the first place in a text where this part is.
    fn behind_first<'n>(&self, text: &'n str) -> Option<&'n str> {
        match self {
            // A long part is not prepared for a short text.
            Self::Plain(part) if part.len() > text.len() => None,
            Self::Plain(part) => {
                let at = memmem::find(text.as_bytes(), part.as_bytes())?;
                text.get(at + part.len()..)
            }
            Self::Masks {
                of_characters,
                of_any,
                last,
            } => {
                // A bit is set if the part up to it ends here.
                let mut reached = 0u128;
                for (at, character) in text.char_indices() {
                    let known = of_characters.binary_search_by_key(&character, |&(it, _)| it);
                    let mask = known.map_or(0, |nth| of_characters[nth].1);
                    reached = (reached << 1 | 1) & (mask | of_any);
                    if reached & last != 0 {
                        return text.get(at + character.len_utf8()..);
                    }
                }
                None
            }
        }
    }
}

/// What follows characters that begin a name, of which `?` is any.
fn after_start<'n>(start: &str, name: &'n str) -> Option<&'n str> {
    let mut left = name.chars();
    start
        .chars()
        .all(|expected| left.next().is_some_and(|found| is_one(expected, found)))
        .then_some(left.as_str())
}

/// What precedes characters that end a name, of which `?` is any.
fn before_end<'n>(end: &str, name: &'n str) -> Option<&'n str> {
    let mut left = name.chars();
    end.chars()
        .rev()
        .all(|expected| {
            left.next_back()
                .is_some_and(|found| is_one(expected, found))
        })
        .then_some(left.as_str())
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

/// The names that are most similar to a pattern, best first.
pub(super) fn nearest<'n>(
    pattern: &str,
    names: impl Iterator<Item = &'n str>,
    control: &Control,
) -> Result<Vec<String>> {
    const NEAREST: usize = 3;
    let pattern = last_part(pattern);
    let mut ranked: Vec<(usize, &str)> = Vec::new();
    for (nth, name) in names.enumerate() {
        if nth.is_multiple_of(BATCH) {
            control.check()?;
        }
        ranked.push((distance(pattern, last_part(name)), name));
        // Only the best are kept.
        if ranked.len() == BATCH {
            keep_best(&mut ranked, NEAREST);
        }
    }
    keep_best(&mut ranked, NEAREST);
    Ok(ranked
        .into_iter()
        .map(|(_, name)| name.to_owned())
        .collect())
}

fn keep_best(ranked: &mut Vec<(usize, &str)>, most: usize) {
    ranked.sort_unstable();
    ranked.dedup();
    ranked.truncate(most);
}

/// The class without its module.
fn last_part(name: &str) -> &str {
    let end = name.find('<').unwrap_or(name.len());
    let start = name[..end].rfind('/').map_or(0, |slash| slash + 1);
    &name[start..]
}

/// The number of characters to add, remove or replace. Only the first characters are compared.
fn distance(left: &str, right: &str) -> usize {
    const COMPARED: usize = 60;
    let first = |text: &str| -> String {
        let lower = text.chars().flat_map(char::to_lowercase);
        lower.take(COMPARED).collect()
    };
    strsim::levenshtein(&first(left), &first(right))
}

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
    fn long_patterns_are_compared_with_long_names_in_linear_time() {
        let name = "a".repeat(1_000_000);
        assert!(!matches(&format!("*{}b*", "a".repeat(500_000)), &name));
        assert!(!matches(&"*a".repeat(1_000_001), &name));
        assert!(matches(&"*a".repeat(1_000_000), &name));
        assert!(!matches(&format!("*{}?b*", "a".repeat(126)), &name));
        assert!(matches(&"?".repeat(1_000_000), &name));
    }

    #[test]
    fn too_many_characters_around_a_question_mark_are_refused() {
        assert!(Glob::new(&format!("*{}*", "?".repeat(128))).is_ok());
        let error = Glob::new(&format!("*{}*", "?".repeat(129))).err().unwrap();
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

    #[test]
    fn the_nearest_name_has_the_fewest_typing_errors() {
        let names = [
            "assembly/a/Session",
            "assembly/b/User",
            "~lib/string/String",
        ];
        let nearest = |pattern| nearest(pattern, names.into_iter(), &Control::default()).unwrap();
        assert_eq!(nearest("Sesion")[0], "assembly/a/Session");
        assert_eq!(nearest("string")[0], "~lib/string/String");
    }
}

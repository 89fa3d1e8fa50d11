//! Class names with wildcards.

/// Whether a name is of this form: `*` stands for any text, `?` for one character.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut reached) = (0, 0);
    // The position of the last `*`, and the end of the part of the name that it matches so far.
    let mut star: Option<(usize, usize)> = None;
    while reached < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, reached));
                at += 1;
            }
            Some(&expected) if expected == '?' || expected == name[reached] => {
                at += 1;
                reached += 1;
            }
            _ => match star {
                Some((place, end)) => {
                    star = Some((place, end + 1));
                    at = place + 1;
                    reached = end + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|&rest| rest == '*')
}

/// The names that are most similar to a pattern, best first.
pub(super) fn nearest<'n>(pattern: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    const NEAREST: usize = 3;
    let mut ranked: Vec<(usize, &str)> = names
        .map(|name| (distance(last_part(pattern), last_part(name)), name))
        .collect();
    ranked.sort_unstable();
    ranked.dedup();
    let nearest = ranked.into_iter().take(NEAREST);
    nearest.map(|(_, name)| name.to_owned()).collect()
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
    let left: Vec<char> = left.to_lowercase().chars().take(COMPARED).collect();
    let right: Vec<char> = right.to_lowercase().chars().take(COMPARED).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (nth, expected) in left.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = nth + 1;
        for (other, found) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(expected != found);
            diagonal = row[other + 1];
            row[other + 1] = replaced.min(diagonal + 1).min(row[other] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("a", "ab"), ("?", ""), ("a*c", "abcd"), ("", "a")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn the_nearest_name_has_the_fewest_typing_errors() {
        let names = [
            "assembly/a/Session",
            "assembly/b/User",
            "~lib/string/String",
        ];
        assert_eq!(
            nearest("Sesion", names.into_iter())[0],
            "assembly/a/Session"
        );
        assert_eq!(
            nearest("string", names.into_iter())[0],
            "~lib/string/String"
        );
    }
}

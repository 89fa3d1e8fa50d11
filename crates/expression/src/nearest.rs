//! Names that are like another one.

use base::control::Control;
use base::error::Result;

/// The number of names that are ranked between two checks for cancellation.
const BATCH: usize = 1 << 8;

/// The names that are most similar to a pattern, best first.
///
/// # Errors
/// [`Error::Aborted`](base::Error::Aborted).
pub fn nearest<'n>(
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
pub fn last_part(name: &str) -> &str {
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

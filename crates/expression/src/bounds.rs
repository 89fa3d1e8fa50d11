//! Splits an expression into tokens with their columns, and refuses one that is too long or too deep. The parser has
//! overflowed the stack on deep text, and does not say where the parts of a sound expression are.

use super::tokens::{ExpressionOption, Token, wrong};
use base::error::Result;

/// The largest length of an expression in bytes.
pub(crate) const MOST_BYTES: usize = 4096;
/// The largest number of brackets, of signs and of conditions that are open at once.
pub(crate) const MOST_NESTED: usize = 32;

pub(crate) fn tokens(option: ExpressionOption, text: &str) -> Result<Vec<Token<'_>>> {
    if text.len() > MOST_BYTES {
        let found = format!("an expression of {} bytes", text.len());
        return Err(wrong(option, 1, &found, "at most 4096 bytes"));
    }
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut column = 1;
    let mut nesting = Nesting::default();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if first.is_whitespace() => first.len_utf8(),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ => {
                let length = token_length(rest).ok_or_else(|| {
                    wrong(
                        option,
                        column,
                        "a text without an end",
                        "a quote that ends it",
                    )
                })?;
                let token = &rest[..length];
                if !nesting.add(token) {
                    return Err(wrong(
                        option,
                        column,
                        "an expression that is nested deeper",
                        "at most 32 brackets, signs and conditions inside of each other",
                    ));
                }
                tokens.push(Token {
                    text: token,
                    column,
                });
                length
            }
        };
        column += rest[..length].chars().count() as u32;
        rest = &rest[length..];
    }
    if tokens.is_empty() {
        return Err(wrong(
            option,
            1,
            "nothing",
            "an expression such as open == false",
        ));
    }
    Ok(tokens)
}

/// How deep the parser would go.
#[derive(Default)]
struct Nesting {
    brackets: usize,
    /// Signs in a row, which are one inside the other.
    signs: usize,
    /// Conditions, each of which may be inside the one before.
    conditions: usize,
}

impl Nesting {
    /// Adds a token. Whether the expression is still not too deep.
    fn add(&mut self, token: &str) -> bool {
        match token {
            "(" | "[" | "{" => self.brackets += 1,
            ")" | "]" | "}" => self.brackets = self.brackets.saturating_sub(1),
            "?" => self.conditions += 1,
            _ => {}
        }
        match token {
            "!" | "-" => self.signs += 1,
            _ => self.signs = 0,
        }
        [self.brackets, self.signs, self.conditions]
            .iter()
            .all(|&depth| depth <= MOST_NESTED)
    }
}

/// The length of the first token in bytes; `None` for a text that does not end.
fn token_length(text: &str) -> Option<usize> {
    if let Some(quotes) = OpeningQuotes::at_start_of(text) {
        return quotes.length(text);
    }
    let first = text.chars().next()?;
    let run = |is_part: fn(char) -> bool| {
        text.char_indices()
            .find(|&(_, next)| !is_part(next))
            .map_or(text.len(), |(end, _)| end)
    };
    if first.is_alphabetic() || first == '_' {
        return Some(run(|next| next.is_alphanumeric() || next == '_'));
    }
    if first.is_ascii_digit() {
        return Some(run(|next| next.is_ascii_alphanumeric() || next == '.'));
    }
    let two = ["==", "!=", "<=", ">=", "&&", "||"];
    let is_two = two.iter().any(|two| text.starts_with(two));
    Some(if is_two { 2 } else { first.len_utf8() })
}

/// How a text in quotes begins.
struct OpeningQuotes {
    /// The letters before the quotes, in bytes.
    letters: usize,
    /// Whether a backslash is a character like others.
    is_raw: bool,
    /// What ends the text.
    end: String,
}

impl OpeningQuotes {
    fn at_start_of(text: &str) -> Option<Self> {
        let letters = text.find(|next: char| !"rRbB".contains(next))?;
        let quoted = &text[letters..];
        let quote = quoted.chars().next()?;
        if !"\"'`".contains(quote) || letters > 2 {
            return None;
        }
        let three = quote.to_string().repeat(3);
        Some(Self {
            letters,
            is_raw: text[..letters].contains(['r', 'R']) || quote == '`',
            end: if quoted.starts_with(&three) {
                three
            } else {
                quote.to_string()
            },
        })
    }

    /// The length of the text that begins like this, with its quotes; `None` for one that does not end.
    fn length(&self, text: &str) -> Option<usize> {
        let mut at = self.letters + self.end.len();
        while at < text.len() {
            let rest = text.get(at..)?;
            if rest.starts_with(&self.end) {
                return Some(at + self.end.len());
            }
            let next = rest.chars().next()?;
            at += next.len_utf8();
            if next == '\\' && !self.is_raw {
                at += text.get(at..)?.chars().next()?.len_utf8();
            }
        }
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    fn texts(expression: &str) -> Vec<(u32, &str)> {
        let tokens = tokens(ExpressionOption::Where, expression).unwrap();
        tokens
            .iter()
            .map(|token| (token.column, token.text))
            .collect()
    }

    #[test]
    fn tokens_have_the_numbers_of_their_characters() {
        assert_eq!(
            texts("é.x>=r'a\\' + 'it\\'s' // end"),
            [
                (1, "é"),
                (2, "."),
                (3, "x"),
                (4, ">="),
                (6, "r'a\\'"),
                (12, "+"),
                (14, "'it\\'s'")
            ]
        );
    }

    #[test]
    fn three_quotes_end_at_three_quotes() {
        assert_eq!(texts("'''a'b''' 1"), [(1, "'''a'b'''"), (11, "1")]);
        assert_eq!(texts("'' 1"), [(1, "''"), (4, "1")]);
    }

    #[test]
    fn what_is_too_long_or_too_deep_is_an_error() {
        for text in [
            "1".repeat(MOST_BYTES + 1),
            "(".repeat(MOST_NESTED + 1),
            "!".repeat(MOST_NESTED + 1),
            "a?b:".repeat(MOST_NESTED + 1),
            "'abc".to_owned(),
            "'abc\\".to_owned(),
            String::new(),
        ] {
            let error = tokens(ExpressionOption::Where, &text).unwrap_err();
            assert_eq!(error.code(), "ERR_WHERE", "{text}");
        }
        assert!(tokens(ExpressionOption::Where, &"(".repeat(MOST_NESTED)).is_ok());
    }
}

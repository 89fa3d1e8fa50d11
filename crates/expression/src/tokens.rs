//! The tokens of an expression, and errors that say at which one it is wrong.

use base::error::Error;

use super::error::ExpressionError;

/// The option that an expression is the value of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionOption {
    /// The condition.
    Where,
    /// What objects are grouped by.
    GroupBy,
}

impl ExpressionOption {
    fn name(self) -> &'static str {
        match self {
            Self::Where => "where",
            Self::GroupBy => "groupBy",
        }
    }
}

/// An error at the character with this number, from 1.
pub(crate) fn wrong(option: ExpressionOption, column: u32, found: &str, expected: &str) -> Error {
    Error::from(ExpressionError::Where {
        option: option.name(),
        column,
        found: found.to_owned(),
        expected: expected.to_owned(),
    })
}

/// A token: its text, and the number of the character at which it begins, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    pub(crate) text: &'t str,
    pub(crate) column: u32,
}

/// Follows the tokens of an expression while what was parsed is visited in the same order.
pub(crate) struct TokenCursor<'t> {
    tokens: Vec<Token<'t>>,
    next: usize,
}

impl<'t> TokenCursor<'t> {
    pub(crate) fn new(tokens: Vec<Token<'t>>) -> Self {
        Self { tokens, next: 0 }
    }

    /// The column of the next token that is wanted, which is passed; that of the next token if there is none.
    pub(crate) fn find(&mut self, is_wanted: impl Fn(&str) -> bool) -> u32 {
        let rest = &self.tokens[self.next..];
        if let Some(nth) = rest.iter().position(|token| is_wanted(token.text)) {
            self.next += nth + 1;
            return rest[nth].column;
        }
        rest.first()
            .or(self.tokens.last())
            .map_or(1, |token| token.column)
    }

    /// The column of the next token that may begin a value.
    pub(crate) fn start(&self) -> u32 {
        let rest = &self.tokens[self.next..];
        let token = rest.iter().find(|token| !"([,?:".contains(token.text));
        token.or(self.tokens.last()).map_or(1, |token| token.column)
    }
}

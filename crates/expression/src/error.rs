//! The errors of this crate.

use base::error::Coded;
use base::shown::Shown;

/// What is wrong with an expression.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExpressionError {
    /// An expression that does not compile, or that would read too much.
    #[error(
        "option {option}, character {column}: found {}; expected {expected}",
        Shown(found)
    )]
    Where {
        /// The option's name.
        option: &'static str,
        /// The number of the character, from 1.
        column: u32,
        /// What is there.
        found: String,
        /// What can be there.
        expected: String,
    },
}

impl Coded for ExpressionError {
    fn code(&self) -> &'static str {
        match self {
            Self::Where { .. } => "ERR_WHERE",
        }
    }
}

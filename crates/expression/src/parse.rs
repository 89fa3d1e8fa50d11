//! Parses an expression with the crate `cel`.

use std::panic::catch_unwind;

use super::bounds::MOST_BYTES;
use super::tokens::{ExpressionOption, Token, wrong};
use base::error::Result;
use cel::IdedExpr;
use cel::parser::PrattParser;

/// The depth at which the parser itself stops: more than what passes the bounds needs.
const MOST_DEPTH: u16 = 160;

/// Parses an expression, whose tokens are within the bounds.
pub(crate) fn parse(
    option: ExpressionOption,
    text: &str,
    tokens: &[Token<'_>],
) -> Result<IdedExpr> {
    // The parser has panicked on hostile text. It shares nothing with what is outside.
    let parsed = catch_unwind(|| {
        PrattParser::new()
            .max_recursion_depth(MOST_DEPTH)
            .error_recovery_limit(0)
            .max_expression_node_count(MOST_BYTES)
            .enable_ident_escape_syntax(true)
            .parse(text)
    });
    let last = tokens.last().map_or(1, |token| token.column);
    match parsed {
        Ok(Ok(expression)) => Ok(expression),
        Ok(Err(errors)) => {
            let first = errors.errors.into_iter().find(|error| error.pos.0 > 0);
            let column = first
                .as_ref()
                .map_or(last, |error| column_of(text, error.pos.0, error.pos.1));
            let message = first.map_or_else(String::new, |error| error.msg);
            let message = message.trim_start_matches("Syntax error: ");
            let found = match message {
                "" => "no expression",
                message => message,
            };
            Err(wrong(
                option,
                column,
                found,
                "an expression of CEL, such as open == false",
            ))
        }
        Err(_) => Err(wrong(
            option,
            1,
            "an expression that the parser cannot read",
            "an expression of CEL, such as open == false",
        )),
    }
}

/// The number of the character at a line and a column in bytes, all from 1.
fn column_of(text: &str, line: isize, column: isize) -> u32 {
    let [line, column] = [line, column].map(|number| usize::try_from(number - 1).unwrap_or(0));
    let mut lines = text.split_inclusive('\n');
    let before: usize = lines
        .by_ref()
        .take(line)
        .map(|line| line.chars().count())
        .sum();
    let within = lines.next().unwrap_or_default();
    let within = within
        .char_indices()
        .take_while(|&(at, _)| at < column)
        .count();
    (before + within) as u32 + 1
}

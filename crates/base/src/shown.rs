//! Shortens text from an input or a caller for a message.
//!
//! A class name in a module, or an option of a call, can be megabytes long. Every such text in a message or a
//! table passes through [`Shown`] first.

use std::fmt;

/// The number of characters that are shown at the start and at the end of a text that is too long.
const START: usize = 120;
const END: usize = 240;

/// A text with its middle replaced by an ellipsis if it has more than [`Shown::MOST`] characters.
/// The start names the module, the end names the class, so both are kept.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a>(pub &'a str);

impl<'a> Shown<'a> {
    /// The most characters that are shown.
    pub const MOST: usize = START + 1 + END;

    /// The parts before and after the ellipsis; `None` if the text is not shortened.
    pub fn parts(self) -> Option<(&'a str, &'a str)> {
        let text = self.0;
        // This does not count all characters of a long text.
        text.char_indices().nth(Self::MOST)?;
        let (start, _) = text.char_indices().nth(START)?;
        let (end, _) = text.char_indices().nth_back(END - 1)?;
        Some((&text[..start], &text[end..]))
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            Some((start, end)) => write!(f, "{start}…{end}"),
            None => f.write_str(self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_the_most_characters_is_shown_whole() {
        let text = "é".repeat(Shown::MOST);
        assert_eq!(Shown(&text).to_string(), text);
    }

    #[test]
    fn a_longer_text_keeps_its_start_and_its_end() {
        let text = format!("start{}end", "é".repeat(Shown::MOST));
        let shown = Shown(&text).to_string();
        assert_eq!(shown.chars().count(), Shown::MOST);
        assert!(shown.starts_with("starté") && shown.ends_with("éend"));
    }
}

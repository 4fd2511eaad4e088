//! Text from files and arguments as a message quotes it: control characters escaped, long text shortened.

use std::borrow::Cow;
use std::fmt::Write as _;

/// `text` with every character escaped that a terminal would obey instead of showing: C0 and C1 control
/// characters, DEL, and the Unicode characters that change direction or width. `\x1b[31m` is written `\u{1b}[31m`.
///
/// ```
/// assert_eq!(maxseg_core::excerpt::escaped("a\u{1b}[2Jb"), r"a\u{1b}[2Jb");
/// ```
pub fn escaped(text: &str) -> Cow<'_, str> {
    escaped_but(text, &[])
}

/// Lines of text, likewise: newlines and tabs stay.
pub fn escaped_lines(text: &str) -> Cow<'_, str> {
    escaped_but(text, &['\n', '\t'])
}

fn escaped_but<'a>(text: &'a str, kept: &[char]) -> Cow<'a, str> {
    let is_escaped = |c: char| is_obeyed(c) && !kept.contains(&c);
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_escaped(c) {
            let _ = write!(shown, "{}", c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Whether a terminal obeys this character, or shows nothing for it.
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        )
}

/// `text` with at most `most` characters: of a longer one the beginning and the end, which hold what it is about,
/// with `…` between them.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    // Bytes first: counting characters of a text of 10 MB is not free.
    if text.len() <= most || text.chars().nth(most).is_none() {
        return Cow::Borrowed(text);
    }
    let tail = most / 3;
    let head_end = text.char_indices().nth(most - tail - 1).map_or(text.len(), |(at, _)| at);
    let tail_start = match tail {
        0 => text.len(),
        _ => text.char_indices().rev().nth(tail - 1).map_or(0, |(at, _)| at),
    };
    Cow::Owned(format!("{}…{}", &text[..head_end], &text[tail_start..]))
}

/// A line of a file around a column, no longer than a terminal's line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The piece, with `…` where the line goes on.
    pub text: String,
    /// Characters of the piece before the column.
    pub before: usize,
}

/// Characters shown before and behind a column.
const BEFORE: usize = 60;
const BEHIND: usize = 100;

/// The piece of `line` around the character at byte `at`.
pub fn around(line: &str, at: usize) -> Window {
    let (head, tail) = line.split_at(at);
    let mut text = String::new();
    let from = head.char_indices().rev().nth(BEFORE).map(|(byte, c)| byte + c.len_utf8());
    if from.is_some() {
        text.push('…');
    }
    text.push_str(&head[from.unwrap_or(0)..]);
    let before = text.chars().count();
    match tail.char_indices().nth(BEHIND) {
        None => text.push_str(tail),
        Some((end, _)) => {
            text.push_str(&tail[..end]);
            text.push('…');
        }
    }
    Window { text, before }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        let cases = [
            ("radio link µ €", "radio link µ €"),
            ("\u{1b}[31mred", r"\u{1b}[31mred"),
            ("\u{9b}31m", r"\u{9b}31m"),
            ("a\nb\tc\r\0", r"a\nb\tc\r\u{0}"),
            ("\u{202e}abc\u{7f}", r"\u{202e}abc\u{7f}"),
        ];
        for (text, want) in cases {
            assert_eq!(escaped(text), want);
        }
        assert_eq!(escaped_lines("a\nb\tc\u{7}"), "a\nb\tc\\u{7}");
    }

    #[test]
    fn a_long_text_keeps_its_ends() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdefghi", 6), "abc…hi");
        assert_eq!(shortened("ééééééééé", 6).chars().count(), 6);
        assert_eq!(shortened("abc", 1), "…");
    }

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let whole = around("rate = 5", 7);
        assert_eq!((whole.text.as_str(), whole.before), ("rate = 5", 7));
        let line = format!("{}X{}", "a".repeat(1000), "b".repeat(1000));
        let cut = around(&line, 1000);
        assert_eq!(cut.text.chars().nth(cut.before), Some('X'));
        assert!(cut.text.chars().count() <= BEFORE + BEHIND + 2, "{}", cut.text);
    }
}

//! Text in manual pages, for roff.

use std::fmt::Write as _;

/// A line of text that roff takes for nothing else.
pub(crate) fn escape(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
}

/// Other characters by their number: not every roff reads UTF-8.
pub(crate) fn in_ascii(page: &str) -> String {
    let mut ascii = String::new();
    for c in page.chars() {
        if c.is_ascii() {
            ascii.push(c);
        } else {
            let _ = write!(ascii, "\\[u{:04X}]", u32::from(c));
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_taken_for_a_request() {
        assert_eq!(in_ascii("a…"), "a\\[u2026]");
        assert_eq!(escape(".TH a\\b --c"), "\\&.TH a\\eb \\-\\-c");
    }
}

//! Text in HTML and SVG.

use std::fmt::{self, Display, Formatter, Write as _};

/// Text as it stands between tags or in a quoted attribute: the one way of foreign text into a page or a picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Escaped;

    #[test]
    fn text_is_escaped() {
        let text = Escaped("a < b & \"c\"").to_string();
        assert_eq!(text, "a &lt; b &amp; &quot;c&quot;");
    }
}

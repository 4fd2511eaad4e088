//! Text in lines of a terminal's width.

/// Breaks a text into lines of at most `width` characters, each behind `indent`; what has no blank stays whole.
pub(crate) fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let mut lines = String::new();
    let mut line = indent.to_owned();
    let mut length = indent.chars().count();
    let start = length;
    for word in text.split_whitespace() {
        let letters = word.chars().count();
        if length > start && length + 1 + letters > width {
            lines += line.trim_end();
            lines.push('\n');
            indent.clone_into(&mut line);
            length = start;
        }
        if length > start {
            line.push(' ');
            length += 1;
        }
        line += word;
        length += letters;
    }
    lines += line.trim_end();
    lines.push('\n');
    lines
}

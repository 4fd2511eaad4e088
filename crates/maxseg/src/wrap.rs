//! Text in lines of a terminal's width.

/// Breaks a text into lines of at most `width` characters, each behind `indent`; what has no blank stays whole.
pub(crate) fn wrapped(text: &str, width: usize, indent: &str) -> String {
    broken(text, width, indent, indent)
}

/// Breaks a line at blanks, keeping its own indent; further lines stand behind that and `hang`.
pub(crate) fn hanging(line: &str, width: usize, hang: &str) -> String {
    let text = line.trim_start();
    let indent = &line[..line.len() - text.len()];
    broken(text, width, indent, &format!("{indent}{hang}"))
}

/// Breaks a text behind a label, which stays as it is; further lines stand below the text.
pub(crate) fn labelled(label: &str, text: &str, width: usize) -> String {
    broken(text, width, label, &" ".repeat(label.chars().count()))
}

/// Lines of at most `width` characters, the first behind `first`, the others behind `rest`. A word that is longer
/// stays whole, and so do a number with its unit and a quotation in backticks that fits a line.
fn broken(text: &str, width: usize, first: &str, rest: &str) -> String {
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut start = first.chars().count();
    let mut length = start;
    let room = width.saturating_sub(rest.chars().count());
    for word in words(text, room) {
        let letters = word.chars().count();
        if length > start && length + 1 + letters > width {
            lines += line.trim_end();
            lines.push('\n');
            rest.clone_into(&mut line);
            start = rest.chars().count();
            length = start;
        }
        if length > start {
            line.push(' ');
            length += 1;
        }
        line += &word;
        length += letters;
    }
    lines += line.trim_end();
    lines.push('\n');
    lines
}

/// The parts of a text that stay whole.
fn words(text: &str, room: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_quoting = false;
    for word in text.split_whitespace() {
        let is_part = |before: &&mut String| {
            (is_quoting || is_unit_of(before, word) || is_counted_by(before, word))
                && before.chars().count() + 1 + word.chars().count() <= room
        };
        match words.last_mut().filter(is_part) {
            Some(before) => {
                before.push(' ');
                before.push_str(word);
            }
            None => words.push(word.to_owned()),
        }
        if !word.matches('`').count().is_multiple_of(2) {
            is_quoting = !is_quoting;
        }
    }
    words
}

/// Whether `word` is the unit of the number before it.
fn is_unit_of(number: &str, word: &str) -> bool {
    const UNITS: [&str; 20] = [
        "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "bytes",
        "ns", "us", "ms", "s", "minutes", "hours", "days", "packets",
    ];
    number.ends_with(|last: char| last.is_ascii_digit())
        && UNITS.contains(&word.trim_end_matches([',', '.', ';', ':', ')']))
}

/// Whether `number` ends with a whole number, and `word` is more of its digits or what it counts.
fn is_counted_by(number: &str, word: &str) -> bool {
    let last = number.rsplit(' ').next().unwrap_or_default();
    !last.is_empty()
        && last.chars().all(|letter| letter.is_ascii_digit())
        && word.starts_with(|first: char| first.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_whole_with_what_they_count() {
        for width in 20..60 {
            let lines = wrapped(
                "the file holds 10 343 packets of 1 TCP connection; 1 019 times",
                width,
                "",
            );
            for whole in ["10 343 packets", "1 TCP", "1 019 times"] {
                assert!(lines.contains(whole), "{width}: {lines}");
            }
        }
    }

    #[test]
    fn lines_end_in_time_and_lose_no_word() {
        let text = "a long word and another ".repeat(40);
        let lines = wrapped(&text, 60, "    ");
        assert!(lines.lines().all(|line| line.len() <= 60 && line.starts_with("    ")), "{lines}");
        assert_eq!(lines.split_whitespace().count(), text.split_whitespace().count());
    }

    #[test]
    fn further_lines_hang_and_a_command_stays_whole() {
        let text = hanging("  note: run `maxseg calc window` for that", 20, "    ");
        let want = "  note: run\n      `maxseg calc\n      window` for\n      that\n";
        assert_eq!(text, want, "a quotation longer than a line is broken");
        let text = hanging("  note: run `maxseg calc` for that", 20, "    ");
        assert_eq!(text, "  note: run\n      `maxseg calc`\n      for that\n");
        assert_eq!(wrapped("it takes 80 ms, or more", 12, ""), "it takes\n80 ms, or\nmore\n");
    }
}

//! What could not be carried over as it is.

/// Why nothing is said of switches and routers.
pub(super) const FORWARDS: &str = "what is between the hosts passes packets on by itself";

/// What, and why; what has the same reason shares a line.
#[derive(Debug, Default)]
pub(super) struct Notes {
    entries: Vec<Note>,
}

#[derive(Debug)]
struct Note {
    what: Vec<String>,
    why: String,
}

impl Notes {
    /// `what` is not carried over, or not as it is, because of `why`.
    pub(super) fn add(&mut self, what: impl Into<String>, why: impl Into<String>) {
        let (what, why) = (what.into(), why.into());
        match self.entries.iter_mut().find(|note| note.why == why) {
            Some(note) if note.what.contains(&what) => {}
            Some(note) => note.what.push(what),
            None => self.entries.push(Note { what: vec![what], why }),
        }
    }

    /// A line for each reason.
    pub(super) fn lines(self) -> Vec<String> {
        self.entries.iter().map(Note::line).collect()
    }
}

impl Note {
    fn line(&self) -> String {
        format!("{}: {}", self.what.join(", "), self.why)
    }
}

/// More of a foreign text than a line has room for.
const MOST_SHOWN: usize = 60;

/// A foreign text for a line of ours: nothing in it ends the line or moves the cursor, and a long one is cut.
pub(super) fn shown(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\'' | '\\' => c.to_string(),
        _ => c.escape_debug().to_string(),
    };
    let mut shown: String = text.chars().take(MOST_SHOWN).map(escaped).collect();
    if text.chars().nth(MOST_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_reason_takes_one_line() {
        let mut notes = Notes::default();
        notes.add("bw of a-b", "too much");
        notes.add("ip of a", "the lab's own");
        notes.add("bw of b-c", "too much");
        notes.add("bw of a-b", "too much");
        assert_eq!(notes.lines(), ["bw of a-b, bw of b-c: too much", "ip of a: the lab's own"]);
    }

    #[test]
    fn foreign_text_stays_on_its_line() {
        let hostile = shown("a\n[sender]\r\x1b[2J\u{202e}b\u{85}");
        assert!(!hostile.chars().any(|c| c.is_control() || c == '\u{202e}'), "{hostile}");
        assert_eq!(shown("iperf3 -c '10.0.0.2' \"é\""), "iperf3 -c '10.0.0.2' \"é\"");
        assert_eq!(shown(&"x".repeat(100)).chars().count(), 61);
    }
}

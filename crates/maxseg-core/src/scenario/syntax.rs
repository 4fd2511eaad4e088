//! What the TOML parser reports, with how to write it instead.

/// What is wrong with a text that is not TOML, and how to write it.
pub(super) struct SyntaxError {
    pub(super) what: String,
    pub(super) hint: &'static str,
}

/// The parser's messages by a part of each, and what to write instead.
const HINTS: [(&str, &str); 17] = [
    ("string values must be quoted", "a text stands in quotes: rate = \"10 Mbit/s\""),
    ("key with no value", "a key has a value: rate = \"10 Mbit/s\""),
    ("keys cannot be empty", "a key stands before the `=`: rate = \"10 Mbit/s\""),
    ("invalid key-value pair", "a line is KEY = VALUE, [table] or [[hop]]"),
    ("duplicate key", "keep one of them; several hops or flows are written [[hop]] and [[flow]]"),
    ("unclosed table", "close it with `]`: [sender]"),
    ("unclosed array table", "close it with `]]`: [[hop]]"),
    ("unclosed array", "close it with `]`: \"sender.mss\" = [536, 1460]"),
    ("unclosed inline table", "close it with `}`: reverse = { rate = \"1 Mbit/s\" }"),
    ("missing comma", "separate them by commas: { time = \"60 s\", bytes = \"1 MiB\" }"),
    ("escaped value", "a backslash in quotes is written twice: \"C:\\\\path\""),
    ("unicode", "write the character itself, or its code such as \\u00e9"),
    ("visible characters", "write a control character as its code, such as \\u001b for ESC"),
    ("printable characters", "take the control character out"),
    ("string", "close the text with its quote on the same line: name = \"radio\""),
    ("recurs", "nest tables and lists less deeply, as in [[hop]] with rate = \"10 Mbit/s\""),
    ("carriage return", "end lines with LF or CR LF"),
];

/// `message` of the TOML parser about a text whose piece at fault is `piece`.
pub(super) fn syntax_error(message: &str, piece: &str) -> SyntaxError {
    let message = message.trim_end();
    let found = HINTS.iter().find(|(part, _)| message.contains(part));
    if message.contains("i128") || message.contains("overflow") {
        return SyntaxError {
            what: "the number is too large".to_owned(),
            hint: "a whole number is at most 9223372036854775807, as in seed = 1",
        };
    }
    let what = match message {
        "duplicate key" if is_plain(piece) => format!("the key `{piece}` is written twice"),
        _ => message.trim_end_matches(", expected nothing").to_owned(),
    };
    let hint =
        found.map_or("a line is KEY = VALUE, such as rate = \"10 Mbit/s\"", |(_, hint)| hint);
    SyntaxError { what, hint }
}

fn is_plain(key: &str) -> bool {
    let of_a_key = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !key.is_empty() && key.len() <= 40 && key.chars().all(of_a_key)
}

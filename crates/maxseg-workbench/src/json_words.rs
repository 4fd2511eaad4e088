//! What is wrong with JSON, in words.

use serde::de::DeserializeOwned;
use serde_json::{Error, Value};
use serde_path_to_error::{Path, Segment};

/// Characters of a value that are quoted.
const MOST_QUOTED: usize = 60;

/// The document in `bytes`, or what is wrong with it: of a value its key, what it is and what it takes.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    if bytes.trim_ascii().is_empty() {
        return Err("it is empty".to_owned());
    }
    let mut input = serde_json::Deserializer::from_slice(bytes);
    let syntax_at = |error: &Error| format!("{} at column {}", syntax(error), error.column());
    let document = serde_path_to_error::deserialize(&mut input).map_err(|error| {
        // What is no JSON comes first: the value that is wrong may only be the part before the fault.
        match serde_json::from_slice::<Value>(bytes) {
            Err(syntax) => syntax_at(&syntax),
            Ok(document) => value(&document, error.path(), &error.inner().to_string()),
        }
    })?;
    input.end().map_err(|error| syntax_at(&error))?;
    Ok(document)
}

/// What is wrong with text that is no JSON.
pub(crate) fn syntax(error: &Error) -> &'static str {
    const WORDS: [(&str, &str); 13] = [
        ("EOF while parsing", "it ends too early"),
        ("expected value", "a value is missing or misspelt"),
        ("expected ident", "that is not true, false or null"),
        ("expected `:`", "a `:` is missing"),
        ("expected `,` or `]`", "a `,` or `]` is missing"),
        ("expected `,` or `}`", "a `,` or `}` is missing"),
        ("key must be a string", "a key is not in quotes"),
        ("trailing comma", "nothing follows a comma"),
        ("trailing characters", "something follows its end"),
        ("control character", "a control character in a text"),
        ("recursion limit", "it is nested too deep"),
        ("number out of range", "a number is too large"),
        ("invalid number", "that is not a number"),
    ];
    let said = error.to_string();
    let known = WORDS.iter().find(|(begins, _)| said.starts_with(begins));
    known.map_or("it is not JSON", |(_, words)| words)
}

/// What is wrong with a value of the document, of which serde says `said`.
fn value(document: &Value, path: &Path, said: &str) -> String {
    let said = said.rsplit_once(" at line ").map_or(said, |(what, _)| what);
    let key_in = |said: &str| said.split('`').nth(1).unwrap_or_default().to_owned();
    let mut key = key_of(path);
    for (begins, words) in [("missing field", "is missing"), ("duplicate field", "is there twice")]
    {
        if said.starts_with(begins) {
            key += if key.is_empty() { "" } else { "." };
            return format!("`{key}{}` {words}", key_in(said));
        }
    }
    let subject = if key.is_empty() { "it".to_owned() } else { format!("`{key}`") };
    let is = quoted(at(document, path));
    match said.rsplit_once(", expected ").and_then(|(_, expected)| taken(expected)) {
        Some(takes) => format!("{subject} is {is}; it takes {takes}"),
        None => format!("{subject} is {is}, which it cannot be"),
    }
}

/// As in `outcome.flows[0].goodput_bps`.
fn key_of(path: &Path) -> String {
    let mut key = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => key.extend(["[", &index.to_string(), "]"]),
            Segment::Map { key: name } => {
                key += if key.is_empty() { "" } else { "." };
                key += name;
            }
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    key
}

fn at<'a>(document: &'a Value, path: &Path) -> &'a Value {
    path.iter().fold(document, |value, segment| match segment {
        Segment::Seq { index } => &value[*index],
        Segment::Map { key } => &value[key.as_str()],
        Segment::Enum { .. } | Segment::Unknown => value,
    })
}

fn quoted(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= MOST_QUOTED {
        return text;
    }
    text.chars().take(MOST_QUOTED).chain("…".chars()).collect()
}

/// What serde expects of a value.
fn taken(expected: &str) -> Option<String> {
    Some(
        match expected {
            "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0",
            "i64" | "i32" => "a whole number",
            "f64" | "f32" => "a number",
            "a string" => "a text",
            "a boolean" => "true or false",
            "a sequence" => "a list",
            words if words.starts_with('`') => return Some(format!("one of {words}")),
            words if words.starts_with("one of `") => return Some(words.to_owned()),
            words if words.starts_with("a map") || words.starts_with("struct ") => "a table",
            _ => return None,
        }
        .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use maxseg_core::results::Row;

    use super::*;

    fn wrong(row: &str) -> String {
        parse::<Row>(row.as_bytes()).unwrap_err()
    }

    #[test]
    fn values_are_told_with_their_keys() {
        for (row, told) in [
            ("", "it is empty"),
            ("{}", "`engine` is missing"),
            ("7", "it is 7; it takes a table"),
            ("[1]", "`[0]` is 1, which it cannot be"),
            (r#"{"seed":-1,"#, "it ends too early at column 11"),
            (
                r#"{"engine":"was expected at line 3"}"#,
                "`engine` is \"was expected at line 3\"; it takes one of `model`, `sim`, `lab`, `measured`",
            ),
            (
                r#"{"engine":"x"}"#,
                "`engine` is \"x\"; it takes one of `model`, `sim`, `lab`, `measured`",
            ),
            (r#"{"engine":"sim","point":7}"#, "`point` is 7; it takes a table"),
            (r#"{"engine":"sim","engine":"sim"}"#, "`engine` is there twice"),
            (r#"{"seed":-1}"#, "`seed` is -1; it takes a whole number from 0"),
            (
                r#"{"outcome":{"goodput_bps":"fast"}}"#,
                "`outcome.goodput_bps` is \"fast\"; it takes a number",
            ),
            ("{} x", "something follows its end at column 4"),
            ("{", "it ends too early at column 1"),
            ("{a", "a key is not in quotes at column 2"),
        ] {
            assert_eq!(wrong(row), told, "{row}");
        }
    }
}

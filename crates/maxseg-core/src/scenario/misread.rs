//! What serde says of a value that it could not read, in the words of the file.

use super::key::Step;
use crate::similar::closest;

/// Why a document is not a scenario.
pub(super) enum Misread<'a> {
    /// A key that nothing reads.
    UnknownKey {
        /// The table that holds it.
        table: &'a [Step],
        name: String,
        hint: String,
    },
    /// A key that must be there.
    MissingKey { name: String },
    /// A value of the wrong type, or out of range.
    Value { what: String, hint: Option<String> },
}

impl<'a> Misread<'a> {
    /// `message` of serde about what stands at `path`.
    pub(super) fn of(path: &'a [Step], message: &str) -> Self {
        let message = message.trim_end();
        if let Some((name, known)) = alternatives(message, "unknown field `") {
            // serde's path may or may not end in the unknown key itself.
            let table = match path.split_last() {
                Some((Step::Key(last), table)) if *last == name => table,
                Some(_) | None => path,
            };
            return Self::UnknownKey { table, hint: choice(&name, &known), name };
        }
        if let Some(name) = message.strip_prefix("missing field `") {
            return Self::MissingKey { name: name.trim_end_matches('`').to_owned() };
        }
        if let Some((name, known)) = alternatives(message, "unknown variant `") {
            let what = format!("`{name}` is not a {}", last_key(path));
            return Self::Value { what, hint: Some(choice(&name, &known)) };
        }
        let what = match message
            .strip_prefix("invalid type: ")
            .or_else(|| message.strip_prefix("invalid value: "))
            .and_then(|s| s.split_once(", expected "))
        {
            Some((found, wanted)) => {
                format!(
                    "`{}` is {}; it takes {}",
                    last_key(path),
                    found_word(found),
                    wanted_word(wanted)
                )
            }
            None => message.to_owned(),
        };
        Self::Value { what, hint: example(path).map(|example| format!("for example {example}")) }
    }
}

/// The name and the alternatives in serde's "unknown field `x`, expected one of `a`, `b`".
fn alternatives(message: &str, beginning: &str) -> Option<(String, Vec<String>)> {
    let (name, rest) = message.strip_prefix(beginning)?.split_once('`')?;
    let known = rest.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    Some((name.to_owned(), known))
}

/// The known word that was probably meant, or all of them.
fn choice(name: &str, known: &[String]) -> String {
    match closest(name, known.iter().map(String::as_str)) {
        Some(similar) => format!("did you mean `{similar}`?"),
        None => format!("known here: {}", known.join(", ")),
    }
}

/// The key that a path ends in, an index left aside.
fn last_key(path: &[Step]) -> &str {
    let keys = path.iter().rev().filter_map(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Index(_) => None,
    });
    keys.into_iter().next().unwrap_or("scenario")
}

/// serde's "integer `5`", "string \"x\"", "map", "sequence" in the words of TOML.
fn found_word(found: &str) -> String {
    match found.split_once(' ') {
        Some(("integer" | "floating", rest)) => {
            format!("the number {}", rest.trim_start_matches("point ").replace('`', ""))
        }
        Some(("string", text)) => format!("the text {text}"),
        Some(("boolean", value)) => value.replace('`', ""),
        Some(_) => found.to_owned(),
        None => match found {
            "map" => "a table".to_owned(),
            "sequence" => "a list".to_owned(),
            other => other.to_owned(),
        },
    }
}

/// serde's Rust type names in the words of TOML.
fn wanted_word(wanted: &str) -> &str {
    match wanted {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, not below 0 and not too large",
        "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "string" => "a text in quotes",
        "a sequence" => "a list",
        "a map" => "a table",
        other if other.starts_with("struct ") => "a table",
        other if other.starts_with("enum ") => "a word in quotes",
        other => other,
    }
}

/// How the key at `path` may look.
pub(super) fn example(path: &[Step]) -> Option<&'static str> {
    let within = |name: &str| path.contains(&Step::Key(name.to_owned()));
    let Some(Step::Key(key)) = path.last() else { return None };
    Some(match key.as_str() {
        "hop" => "[[hop]] with a rate and a delay",
        "rate" if within("errors") => "rate = 0.01",
        "rate" => "rate = \"10 Mbit/s\"",
        "delay" => "delay = \"20 ms\"",
        "mss" => "mss = 1460",
        "mtu" => "mtu = 1500",
        "frame" => "frame = 128",
        "queue" => "queue = \"100 packets\"",
        "errors" => "errors = { model = \"uniform\", per = \"packet\", rate = 0.01 }",
        "model" => "model = \"uniform\"",
        "kind" => "kind = \"bulk\"",
        "request" => "request = \"200 B\"",
        "reply" => "reply = \"20 KiB\"",
        "pause" => "pause = \"1 s\"",
        "think" => "think = \"10 ms\"",
        "connection" => "connection = \"new\"",
        "count" => "count = 100",
        "window" => "window = \"64 KiB\"",
        "time" => "time = \"60 s\"",
        "bytes" => "bytes = \"1 MiB\"",
        _ => return None,
    })
}

//! What serde reports of a value that it could not read, in the words of the file.

use toml::{Table, Value};

use super::examples::example;
use super::key::{KeyStep, get};
use crate::excerpt::shortened;
use crate::similar::closest;

/// Why a document is not a scenario.
pub(super) enum Misread<'a> {
    /// A key that nothing reads.
    UnknownKey {
        /// The table that holds it.
        table: &'a [KeyStep],
        name: String,
        hint: String,
    },
    /// A key that must be there.
    MissingKey { name: String },
    /// A value of the wrong type, or out of range.
    Value { what: String, hint: String },
}

impl<'a> Misread<'a> {
    /// serde's `message` about `value`, which stands at `path`.
    pub(super) fn of(path: &'a [KeyStep], message: &str, value: Option<&Value>) -> Self {
        let message = message.trim_end();
        if let Some((name, known)) = alternatives(message, "unknown field `") {
            // serde's path may or may not end in the unknown key itself.
            let table = match path.split_last() {
                Some((KeyStep::Key(last), table)) if *last == name => table,
                Some(_) | None => path,
            };
            return Self::UnknownKey { table, hint: choice("known here", &name, &known), name };
        }
        if let Some(name) = message.strip_prefix("missing field `") {
            return Self::MissingKey { name: name.trim_end_matches('`').to_owned() };
        }
        let key = last_key(path);
        if let Some((name, known)) = alternatives(message, "unknown variant `") {
            let what = format!("`{name}` is not a value of `{key}`");
            return Self::Value {
                what,
                hint: choice(&format!("values of `{key}`"), &name, &known),
            };
        }
        let wanted = message
            .strip_prefix("invalid type: ")
            .or_else(|| message.strip_prefix("invalid value: "))
            .or_else(|| message.strip_prefix("invalid length "))
            .and_then(|rest| rest.split_once(", expected "))
            .map(|(_, wanted)| wanted_word(wanted));
        let what = match (wanted, value) {
            (Some(wanted), Some(Value::Boolean(true))) if wanted.contains("a table") => {
                return Self::Value {
                    what: format!("`{key}` needs a table"),
                    hint: format!("write {}", example(path)),
                };
            }
            (Some(wanted), Some(value)) => {
                format!("`{key}` is {}; it takes {wanted}", found_word(value))
            }
            (Some(wanted), None) => format!("`{key}` takes {wanted}"),
            (None, _) => message.to_owned(),
        };
        Self::Value { what, hint: format!("for example {}", example(path)) }
    }
}

/// Where a list stands in the place of a table, of which serde would take its items for the table's values, in their order.
pub(super) fn list_for_table(table: &Table) -> Option<Vec<KeyStep>> {
    const TABLES: [&str; 4] = ["lab", "until", "sender", "receiver"];
    const OF_HOSTS: [&str; 3] = ["linux", "freebsd", "rto"];
    let hosts = TABLES[2..].iter().flat_map(|host| OF_HOSTS.map(|key| vec![*host, key]));
    let places = TABLES.map(|key| vec![key]).into_iter().chain(hosts);
    let mut places = places.map(|keys| -> Vec<KeyStep> {
        keys.into_iter().map(|key| KeyStep::Key(key.to_owned())).collect()
    });
    places.find(|place| get(table, place).is_some_and(Value::is_array))
}

/// The name and the alternatives in serde's "unknown field `x`, expected one of `a`, `b`".
fn alternatives(message: &str, beginning: &str) -> Option<(String, Vec<String>)> {
    let (name, rest) = message.strip_prefix(beginning)?.rsplit_once("`, expected ")?;
    let known = rest.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    Some((name.to_owned(), known))
}

/// The known word that was probably meant, or all of them.
fn choice(all: &str, name: &str, known: &[String]) -> String {
    match closest(name, known.iter().map(String::as_str)) {
        Some(similar) => format!("did you mean `{similar}`?"),
        None => format!("{all}: {}", known.join(", ")),
    }
}

/// The key that a path ends in, an index left aside.
fn last_key(path: &[KeyStep]) -> &str {
    let keys = path.iter().rev().filter_map(|step| match step {
        KeyStep::Key(key) => Some(key.as_str()),
        KeyStep::Index(_) => None,
    });
    keys.into_iter().next().unwrap_or("scenario")
}

/// A value in the words of TOML.
fn found_word(value: &Value) -> String {
    match value {
        Value::Integer(_) | Value::Float(_) => format!("the number {value}"),
        Value::String(text) => format!("the text {:?}", shortened(text, 60)),
        Value::Boolean(value) => value.to_string(),
        Value::Datetime(_) => format!("the date {value}"),
        Value::Array(_) => "a list".to_owned(),
        Value::Table(_) => "a table".to_owned(),
    }
}

/// serde's Rust type names in the words of TOML.
fn wanted_word(wanted: &str) -> &str {
    match wanted {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number from 0 to 9223372036854775807",
        "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "string" => "a text in quotes",
        "string only" => "a word in quotes",
        "a sequence" => "a list",
        "a map" => "a table",
        other if other.starts_with("struct ") => "a table",
        other if other.starts_with("enum ") => "a word in quotes",
        other => other,
    }
}

//! Values as MiniEdit writes them: numbers as text or as numbers, and nothing in several ways.

use serde_json::{Map, Value};

use super::notes::shown;

/// A table of the file, and where in the file it stands.
#[derive(Debug, Clone)]
pub(super) struct Table {
    /// As in `links[0].opts`; empty for the whole file.
    pub(super) place: String,
    map: Map<String, Value>,
}

impl Table {
    /// An empty one, for what the file leaves out.
    pub(super) fn empty(place: String) -> Self {
        Self { place, map: Map::new() }
    }

    /// `value`, if it is a table; else what it is.
    pub(super) fn of(place: String, value: Value) -> Result<Self, String> {
        if let Value::Object(map) = value {
            return Ok(Self { place, map });
        }
        let place = if place.is_empty() { "it" } else { &place };
        Err(format!("{place} is {}, not a table", kind(&value)))
    }

    /// Takes keys out of which nothing need be said.
    pub(super) fn drop_keys(&mut self, keys: &[&str]) {
        self.map.retain(|key, _| !keys.contains(&key.as_str()));
    }

    /// Takes a key out, whatever it holds.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.map.shift_remove(key)
    }

    /// Takes a table out; an empty one where there is none.
    pub(super) fn take_table(&mut self, key: &str) -> Result<Self, String> {
        let place =
            if self.place.is_empty() { key.to_owned() } else { format!("{}.{key}", self.place) };
        match self.take(key) {
            None | Some(Value::Null) => Ok(Self::empty(place)),
            Some(value) => Self::of(place, value),
        }
    }

    /// Takes out what a key says; `None` where it says nothing: an empty text, list or table, or null.
    pub(super) fn take_said(&mut self, key: &str) -> Option<Value> {
        self.take(key).filter(says_something)
    }

    /// Takes a key out as text, which a number is too.
    pub(super) fn take_text(&mut self, key: &str) -> Option<String> {
        self.take_said(key).and_then(|value| text(&value))
    }

    /// What is left, of which something is said.
    pub(super) fn rest(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.map
            .iter()
            .filter(|(_, value)| says_something(value))
            .map(|(key, value)| (key.as_str(), value))
    }
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(list) => list.iter().any(says_something),
        Value::Object(map) => map.values().any(says_something),
    }
}

/// A text without the space around it, or a number as text.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A number, or a text that is one.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
    .filter(|number| number.is_finite())
}

/// For a line of ours: as JSON, on one line.
pub(super) fn quoted(value: &Value) -> String {
    shown(&value.to_string())
}

/// What it is, with its article.
pub(super) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_and_texts_stand_for_each_other_and_nothing_is_nothing() {
        assert_eq!(number(&json!("10")), Some(10.0));
        assert_eq!(number(&json!(0.5)), Some(0.5));
        assert_eq!(number(&json!("ten")), None);
        assert_eq!(number(&json!("inf")), None);
        assert_eq!(text(&json!(1)).as_deref(), Some("1"));
        let mut table =
            Table::of("t".to_owned(), json!({ "a": "", "b": [], "c": [[""]], "d": 0 })).unwrap();
        assert_eq!(table.rest().map(|(key, _)| key).collect::<Vec<_>>(), ["d"]);
        assert_eq!(table.take_said("a"), None);
        assert_eq!(table.take_text("d").as_deref(), Some("0"));
        assert_eq!(
            Table::of("hosts[1]".to_owned(), json!(7)).unwrap_err(),
            "hosts[1] is a number, not a table"
        );
    }
}

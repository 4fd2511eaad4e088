//! Rows as comma-separated values (RFC 4180): swept keys, then every number of the outcome.

use maxseg_core::results::{Row, numbers};
use serde_json::Value;

/// All rows under one header; empty fields where a value is unknown.
pub(crate) fn csv(rows: &[Row]) -> String {
    let axes: Vec<&String> = rows.first().map(|row| row.point.keys().collect()).unwrap_or_default();
    let metrics: Vec<String> =
        rows.first().map(|row| numbers(&row.outcome).keys().cloned().collect()).unwrap_or_default();
    let mut header: Vec<String> = vec!["engine".to_owned(), "seed".to_owned(), "hash".to_owned()];
    header.extend(axes.iter().map(|axis| field(axis)));
    header.extend(metrics.iter().cloned());
    header.extend(["limited_by".to_owned(), "formula".to_owned()]);
    let mut text = header.join(",") + "\n";
    for row in rows {
        let outcome = numbers(&row.outcome);
        let mut fields = vec![
            row.engine.to_string(),
            row.seed.map_or_else(String::new, |seed| seed.to_string()),
            row.hash.clone(),
        ];
        fields.extend(axes.iter().map(|axis| value(row.point.get(*axis))));
        fields.extend(metrics.iter().map(|metric| value(outcome.get(metric))));
        fields.push(row.outcome.limited_by.map_or("", |limit| limit.word()).to_owned());
        fields.push(field(row.outcome.formula.as_deref().unwrap_or("")));
        text += &fields.join(",");
        text.push('\n');
    }
    text
}

fn value(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => field(text),
        Some(other) => field(&other.to_string()),
    }
}

/// A field, in quotes where it must be.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(field("2 Mbit/s"), "2 Mbit/s");
        assert_eq!(field("[1, 2]"), "\"[1, 2]\"");
        assert_eq!(field("say \"x\""), "\"say \"\"x\"\"\"");
    }
}

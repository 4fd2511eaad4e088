//! Rows as comma-separated values (RFC 4180), with empty fields for the unknown.

use maxseg_core::results::Row;

use super::columns::{Column, Values, columns};

/// All rows under one header.
pub fn csv(rows: &[Row]) -> String {
    let columns = columns(rows);
    let header: Vec<String> = columns.iter().map(|column| field(&column.name)).collect();
    let mut text = header.join(",") + "\n";
    for row in 0..rows.len() {
        let fields: Vec<String> = columns.iter().map(|column| column.field(row)).collect();
        text += &fields.join(",");
        text.push('\n');
    }
    text
}

impl Column {
    fn field(&self, row: usize) -> String {
        let written = match &self.values {
            Values::Text(values) => values[row].as_deref().map(field),
            Values::Integer(values) => values[row].map(|n| n.to_string()),
            // The shortest digits that read back to the same number.
            Values::Number(values) => values[row].map(|x| x.to_string()),
        };
        written.unwrap_or_default()
    }
}

/// A field, in quotes where it must be.
pub(super) fn field(text: &str) -> String {
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

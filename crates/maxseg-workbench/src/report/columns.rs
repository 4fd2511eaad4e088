//! Rows as columns: the swept keys, every number of the outcome, of each link and of each flow. CSV and Parquet have the same.

mod nested;

use maxseg_core::outcome::LabProof;
use maxseg_core::results::{Row, in_base_units, numbers};
use serde_json::Value;

/// A column: its name and a value, or none, for each row.
#[derive(Debug, PartialEq)]
pub(super) struct Column {
    /// What it is called.
    pub(super) name: String,
    /// Its values, of one type.
    pub(super) values: Values,
}

/// The values of a column.
#[derive(Debug, PartialEq)]
pub(super) enum Values {
    /// Words.
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Integer(Vec<Option<i64>>),
    /// Numbers.
    Number(Vec<Option<f64>>),
}

/// The columns of all rows.
pub(super) fn columns(rows: &[Row]) -> Vec<Column> {
    let text = |name: &str, of: &dyn Fn(&Row) -> Option<String>| Column {
        name: name.to_owned(),
        values: Values::Text(rows.iter().map(of).collect()),
    };
    let mut columns = vec![
        text("engine", &|row| Some(row.engine.to_string())),
        column("seed", &rows.iter().map(|row| row.seed.map(Value::from)).collect::<Vec<_>>()),
        text("hash", &|row| Some(row.hash.clone())),
    ];
    for key in rows.first().iter().flat_map(|row| row.point.keys()) {
        let values: Vec<_> = rows.iter().map(|row| row.point.get(key).cloned()).collect();
        columns.push(column(key, &values));
    }
    let outcomes: Vec<_> = rows.iter().map(|row| numbers(&row.outcome)).collect();
    for key in outcomes.first().iter().flat_map(|outcome| outcome.keys()) {
        // Counts as numbers too: a mean over rows is what they are for.
        let values = outcomes.iter().map(|outcome| outcome.get(key).and_then(Value::as_f64));
        columns.push(Column { name: key.clone(), values: Values::Number(values.collect()) });
    }
    columns.push(text("limited_by", &|row| row.outcome.limited_by.map(|limit| limit.to_string())));
    columns.push(text("formula", &|row| row.outcome.formula.clone()));
    columns.extend(lab_columns(rows));
    columns.push(text("caveats", &|row| {
        let codes: Vec<&str> = row.caveats.iter().map(|caveat| caveat.code.as_str()).collect();
        Some(codes.join(" "))
    }));
    columns.extend(in_units(rows));
    columns.extend(nested::links(rows));
    columns.extend(nested::flows(rows));
    columns
}

/// The swept keys in base units, where that is another number than in the file.
fn in_units(rows: &[Row]) -> Vec<Column> {
    let points: Vec<_> = rows.iter().map(|row| in_base_units(&row.point)).collect();
    let mut keys: Vec<&String> = Vec::new();
    for (point, row) in points.iter().zip(rows) {
        for key in point.keys() {
            if !row.point.contains_key(key) && !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    let values = |key: &String| -> Vec<Option<Value>> {
        points.iter().map(|point| point.get(key).cloned()).collect()
    };
    keys.into_iter().map(|key| column(key, &values(key))).collect()
}

/// What a lab run proves of itself, in short; nothing of other engines.
fn lab_columns(rows: &[Row]) -> [Column; 4] {
    let proofs = || rows.iter().map(|row| row.outcome.lab.as_deref());
    let text =
        |of: fn(&LabProof) -> String| Values::Text(proofs().map(|lab| lab.map(of)).collect());
    let number = |of: fn(&LabProof) -> Option<f64>| {
        Values::Number(proofs().map(|lab| lab.and_then(of)).collect())
    };
    [
        ("lab_valid", text(|lab| lab.is_valid().to_string())),
        ("lab_invalid_because", text(|lab| lab.invalid_because.join("; "))),
        ("lab_lateness_p99_s", number(|lab| Some(lab.lateness.as_ref()?.p99_s))),
        ("lab_kernel_drops", number(|lab| Some(lab.kernel_drops as f64))),
    ]
    .map(|(name, values)| Column { name: name.to_owned(), values })
}

/// Numbers where all values are, text otherwise.
fn column(name: &str, values: &[Option<Value>]) -> Column {
    let all = |is: fn(&Value) -> bool| values.iter().flatten().all(is);
    let values = if all(Value::is_i64) {
        Values::Integer(values.iter().map(|value| value.as_ref()?.as_i64()).collect())
    } else if all(|value| value.is_f64() || value.is_i64()) {
        Values::Number(values.iter().map(|value| value.as_ref()?.as_f64()).collect())
    } else {
        // What fits no number type is no number: a seed beyond 2^63 keeps its digits.
        let text = |value: &Option<Value>| {
            let value = value.as_ref()?;
            Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        Values::Text(values.iter().map(text).collect())
    };
    Column { name: name.to_owned(), values }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_column_has_one_type_and_loses_nothing() {
        let of = |values: &[Value]| {
            column("", &values.iter().cloned().map(Some).collect::<Vec<_>>()).values
        };
        assert_eq!(of(&[json!(1), json!(2)]), Values::Integer(vec![Some(1), Some(2)]));
        assert_eq!(of(&[json!(0), json!(0.5)]), Values::Number(vec![Some(0.0), Some(0.5)]));
        let text =
            |words: &[&str]| Values::Text(words.iter().map(|w| Some((*w).to_owned())).collect());
        assert_eq!(of(&[json!(1), json!("1%")]), text(&["1", "1%"]));
        assert_eq!(of(&[json!(1), json!(u64::MAX)]), text(&["1", "18446744073709551615"]));
    }
}

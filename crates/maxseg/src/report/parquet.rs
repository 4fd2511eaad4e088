//! Rows as a Parquet table: swept keys, then every number of the outcome, with nulls for the unknown.

use std::sync::Arc;

use maxseg_core::results::{Row, numbers};
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use serde_json::Value;

use crate::failure::Failure;

/// A column: its name and a value, or none, for each row.
struct Column {
    name: String,
    values: Values,
}

enum Values {
    Text(Vec<Option<String>>),
    Integer(Vec<Option<i64>>),
    Number(Vec<Option<f64>>),
}

/// The file's bytes.
pub(crate) fn parquet(rows: &[Row]) -> std::result::Result<Vec<u8>, Failure> {
    write(&columns(rows)).map_err(|error| Failure::new(format!("cannot write Parquet: {error}")))
}

fn columns(rows: &[Row]) -> Vec<Column> {
    let text = |name: &str, of: &dyn Fn(&Row) -> Option<String>| Column {
        name: name.to_owned(),
        values: Values::Text(rows.iter().map(of).collect()),
    };
    let mut columns = vec![
        text("engine", &|row| Some(row.engine.to_string())),
        Column {
            name: "seed".to_owned(),
            values: Values::Integer(
                rows.iter().map(|row| row.seed.and_then(|seed| i64::try_from(seed).ok())).collect(),
            ),
        },
        text("hash", &|row| Some(row.hash.clone())),
    ];
    for key in rows.first().iter().flat_map(|row| row.point.keys()) {
        columns.push(column(key, rows.iter().map(|row| row.point.get(key).cloned()).collect()));
    }
    let outcomes: Vec<_> = rows.iter().map(|row| numbers(&row.outcome)).collect();
    for key in outcomes.first().iter().flat_map(|outcome| outcome.keys()) {
        let values = outcomes.iter().map(|outcome| {
            // Counts as numbers too: a column has one type, whatever the first row happens to hold.
            outcome.get(key).and_then(Value::as_f64)
        });
        columns.push(Column { name: key.clone(), values: Values::Number(values.collect()) });
    }
    columns.push(text("limited_by", &|row| row.outcome.limited_by.map(|limit| limit.to_string())));
    columns.push(text("formula", &|row| row.outcome.formula.clone()));
    columns.push(text("caveats", &|row| {
        let codes: Vec<&str> = row.caveats.iter().map(|caveat| caveat.code.as_str()).collect();
        Some(codes.join(" "))
    }));
    columns
}

/// A swept key: numbers where all its values are, text otherwise.
fn column(name: &str, values: Vec<Option<Value>>) -> Column {
    let name = name.to_owned();
    let all = |is: fn(&Value) -> bool| values.iter().flatten().all(is);
    let values = if all(Value::is_i64) {
        Values::Integer(values.iter().map(|value| value.as_ref()?.as_i64()).collect())
    } else if all(Value::is_number) {
        Values::Number(values.iter().map(|value| value.as_ref()?.as_f64()).collect())
    } else {
        let text = |value: Option<Value>| {
            let value = value?;
            Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        Values::Text(values.into_iter().map(text).collect())
    };
    Column { name, values }
}

fn write(columns: &[Column]) -> Result<Vec<u8>> {
    let fields = columns.iter().map(|column| field(column).map(Arc::new)).collect::<Result<_>>()?;
    let schema = Type::group_type_builder("rows").with_fields(fields).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for column in columns {
        let Some(mut writer) = group.next_column()? else { break };
        match &column.values {
            Values::Text(values) => {
                let (levels, present) = split(values, |text| ByteArray::from(text.as_str()));
                writer.typed::<ByteArrayType>().write_batch(&present, Some(&levels), None)?;
            }
            Values::Integer(values) => {
                let (levels, present) = split(values, |n| *n);
                writer.typed::<Int64Type>().write_batch(&present, Some(&levels), None)?;
            }
            Values::Number(values) => {
                let (levels, present) = split(values, |n| *n);
                writer.typed::<DoubleType>().write_batch(&present, Some(&levels), None)?;
            }
        }
        writer.close()?;
    }
    group.close()?;
    file.close()?;
    Ok(bytes)
}

fn field(column: &Column) -> Result<Type> {
    let (physical, converted) = match column.values {
        Values::Text(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        Values::Integer(_) => (Physical::INT64, ConvertedType::NONE),
        Values::Number(_) => (Physical::DOUBLE, ConvertedType::NONE),
    };
    Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_converted_type(converted)
        .build()
}

/// Definition levels (1 where there is a value), and the values that are there.
fn split<T, V>(values: &[Option<T>], of: impl Fn(&T) -> V) -> (Vec<i16>, Vec<V>) {
    let levels = values.iter().map(|value| i16::from(value.is_some())).collect();
    (levels, values.iter().flatten().map(of).collect())
}

#[cfg(test)]
mod tests {
    use maxseg_core::engine::EngineName;
    use maxseg_core::outcome::Outcome;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;

    #[test]
    fn what_is_written_can_be_read_with_its_nulls() {
        let row = |mss: u64, goodput| Row {
            engine: EngineName::Sim,
            point: [("sender.mss".to_owned(), Value::from(mss))].into_iter().collect(),
            hash: "abc".to_owned(),
            seed: Some(1),
            outcome: Outcome { goodput_bps: goodput, ..Outcome::default() },
            caveats: Vec::new(),
        };
        let bytes = parquet(&[row(536, Some(1.5)), row(600, None)]).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &bytes).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].get_string(0).unwrap(), "sim");
        assert_eq!(rows[1].get_long(3).unwrap(), 600);
        assert!((rows[0].get_double(4).unwrap() - 1.5).abs() < 1e-12);
        assert!(rows[1].get_double(4).is_err(), "null is not a number");
    }
}

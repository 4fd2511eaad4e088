//! Rows as a Parquet table, with nulls for the unknown.

use std::sync::Arc;

use maxseg_core::results::Row;
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::columns::{Column, Values, columns};
use crate::error::Error;

/// The file's bytes.
///
/// # Errors
/// A value cannot be encoded.
pub fn parquet(rows: &[Row]) -> std::result::Result<Vec<u8>, Error> {
    Ok(write(&columns(rows))?)
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
    use serde_json::Value;

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
        assert_eq!(rows[1].get_long(rows[1].len() - 1).unwrap(), 600, "sender.mss_bytes");
    }
}

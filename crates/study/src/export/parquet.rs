//! Parquet: a typed column each, for data frames. Factors that are numbers have a second column with the number, in base
//! units.

use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError as Error;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::{COSTS, ExportedRow};
use crate::run::Cost;
use crate::store::StudyRecord;

/// The rows cannot be written as Parquet.
#[derive(Debug, thiserror::Error)]
#[error("the rows cannot be written as Parquet ({0}); export them as CSV")]
pub struct ParquetError(#[from] Error);

/// Values of a column.
enum Values {
    Whole(Vec<i64>),
    Number(Vec<Option<f64>>),
    Text(Vec<String>),
}

/// All rows as a Parquet file.
pub fn parquet(study: &StudyRecord, rows: &[ExportedRow], with_costs: bool) -> Result<Vec<u8>, ParquetError> {
    let columns = columns(study, rows, with_costs);
    let fields: Result<Vec<TypePtr>, Error> = columns.iter().map(|(name, values)| field(name, values)).collect();
    let schema = Type::group_type_builder("runs").with_fields(fields?).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::UNCOMPRESSED).build();
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for (_, values) in &columns {
        write(&mut group, values)?;
    }
    group.close()?;
    Ok(file.into_inner()?)
}

fn columns(study: &StudyRecord, rows: &[ExportedRow], with_costs: bool) -> Vec<(String, Values)> {
    let whole = |value: fn(&ExportedRow) -> u64| Values::Whole(rows.iter().map(|row| value(row) as i64).collect());
    let mut columns = vec![
        ("row".to_owned(), whole(|row| row.row.row)),
        ("point".into(), whole(|row| row.row.point)),
        ("repetition".into(), whole(|row| row.row.repetition)),
        ("seed".into(), whole(|row| row.row.seed)),
    ];
    for (place, factor) in study.factors.iter().enumerate() {
        let texts = rows.iter().map(|row| row.row.levels[place].0.clone()).collect();
        columns.push((factor.name.clone(), Values::Text(texts)));
        if factor.numeric {
            let numbers = rows.iter().map(|row| row.row.levels[place].1).collect();
            columns.push((format!("{} as a number", factor.name), Values::Number(numbers)));
        }
    }
    for (place, response) in study.responses.iter().enumerate() {
        let values = rows.iter().map(|row| row.row.responses[place]).collect();
        columns.push((response.name.clone(), Values::Number(values)));
    }
    let status = |row: &ExportedRow| if row.row.is_done { "done".to_owned() } else { "failed".into() };
    columns.push(("status".into(), Values::Text(rows.iter().map(status).collect())));
    if with_costs {
        let cost: [fn(&Cost) -> Option<f64>; 3] = [
            |cost| Some(cost.wall_seconds),
            |cost| Some(cost.cpu_seconds),
            |cost| cost.memory_bytes.map(|bytes| bytes as f64),
        ];
        for (name, cost) in COSTS.into_iter().zip(cost) {
            let values = rows.iter().map(|row| row.cost.as_ref().and_then(cost)).collect();
            columns.push((name.into(), Values::Number(values)));
        }
    }
    columns
}

fn field(name: &str, values: &Values) -> Result<TypePtr, Error> {
    let (physical, logical, repetition) = match values {
        Values::Whole(_) => (Physical::INT64, None, Repetition::REQUIRED),
        Values::Number(_) => (Physical::DOUBLE, None, Repetition::OPTIONAL),
        Values::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED),
    };
    let field = Type::primitive_type_builder(name, physical).with_logical_type(logical).with_repetition(repetition);
    Ok(Arc::new(field.build()?))
}

fn write(group: &mut SerializedRowGroupWriter<'_, Vec<u8>>, values: &Values) -> Result<(), Error> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    match values {
        Values::Whole(values) => {
            column.typed::<Int64Type>().write_batch(values, None, None)?;
        }
        Values::Number(values) => {
            let present: Vec<f64> = values.iter().flatten().copied().collect();
            let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
            column.typed::<DoubleType>().write_batch(&present, Some(&levels), None)?;
        }
        Values::Text(values) => {
            let values: Vec<ByteArray> = values.iter().map(|value| ByteArray::from(value.as_str())).collect();
            column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        }
    }
    column.close()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{rows, study};
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    #[test]
    fn rows_come_back() {
        let mut study = study();
        study.factors[1].numeric = true;
        let file = parquet(&study, &rows(), true).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(file)).unwrap();
        let found: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].get_long(3).unwrap(), 7);
        assert_eq!(found[0].get_string(4).unwrap(), "say \"x\"");
        assert_eq!(found[0].get_double(6).unwrap(), 1024.0);
        assert_eq!(found[0].get_double(7).unwrap(), 0.1);
        assert!(found[1].get_double(7).is_err());
        assert_eq!(found[1].get_string(8).unwrap(), "failed");
    }
}

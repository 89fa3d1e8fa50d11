//! Rows become columns, and columns a Parquet file. A file is written in groups of rows, so it needs only the
//! memory of one group.

use std::io::Write;
use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError};

use parquet::basic::{Compression, Encoding, Type};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnDescriptor;

use base::error::{Error, Result};
use base::file_action::FileAction;

/// Rows that are kept before they are written.
const GROUP_ROWS: usize = 1 << 18;
/// Bytes of texts that are kept before they are written.
const GROUP_TEXT: usize = 32 << 20;

/// A table while it is written.
pub(super) struct TableWriter<'o> {
    out: &'o mut dyn Write,
    written: Written,
    file: SerializedFileWriter<Written>,
    columns: Vec<UnwrittenColumn>,
    /// The column that is filled next.
    next: usize,
    rows: usize,
    text_bytes: usize,
}

impl<'o> TableWriter<'o> {
    /// `schema` is Parquet's text of a schema. `different` are the columns whose values are nearly all
    /// different, and ascend.
    pub(super) fn new(
        out: &'o mut dyn Write,
        schema: &str,
        different: &[&str],
        metadata: &[(&str, &str)],
    ) -> Result<Self> {
        let schema = Arc::new(parse_message_type(schema).map_err(broken)?);
        let metadata = metadata
            .iter()
            .map(|(key, value)| KeyValue::new((*key).to_owned(), (*value).to_owned()));
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            // One minimum and maximum for each column of a group: there are few pages.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .set_created_by(concat!("warpo-heap-analyzer ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(metadata.collect()));
        for &name in different {
            properties = properties
                .set_column_dictionary_enabled(name.into(), false)
                .set_column_encoding(name.into(), Encoding::DELTA_BINARY_PACKED);
        }
        let written = Written::default();
        let properties = Arc::new(properties.build());
        let file =
            SerializedFileWriter::new(written.clone(), schema, properties).map_err(broken)?;
        let descriptors = file.schema_descr().columns();
        let columns = descriptors
            .iter()
            .map(|column| UnwrittenColumn::new(column))
            .collect();
        Ok(Self {
            out,
            written,
            file,
            columns,
            next: 0,
            rows: 0,
            text_bytes: 0,
        })
    }

    fn next(&mut self) -> &mut UnwrittenColumn {
        let column = self.next;
        self.next += 1;
        &mut self.columns[column]
    }

    /// The value of the next column of the row; `None` in columns that are optional.
    pub(super) fn add(&mut self, value: impl Into<Option<ColumnValue>>) {
        let value = value.into();
        self.text_bytes += value.as_ref().map_or(0, ColumnValue::text_size);
        self.next().add(value, 0);
    }

    /// The values of the next column of the row, which is a list, or a field of the members of a list.
    pub(super) fn add_list<V: Into<Option<ColumnValue>>>(
        &mut self,
        values: impl IntoIterator<Item = V>,
    ) {
        let column = self.next();
        let mut repetition = 0;
        let mut text_bytes = 0;
        for value in values {
            let value = value.into();
            text_bytes += value.as_ref().map_or(0, ColumnValue::text_size);
            column.add(value, repetition);
            repetition = 1;
        }
        if repetition == 0 {
            column.definitions.push(0);
            column.repetitions.push(0);
        }
        self.text_bytes += text_bytes;
    }

    pub(super) fn end_row(&mut self) -> Result<()> {
        debug_assert_eq!(self.next, self.columns.len(), "a row has every column");
        self.next = 0;
        self.rows += 1;
        if self.rows >= GROUP_ROWS || self.text_bytes >= GROUP_TEXT {
            self.write_group()
        } else {
            Ok(())
        }
    }

    fn write_group(&mut self) -> Result<()> {
        let mut group = self.file.next_row_group().map_err(broken)?;
        for column in &mut self.columns {
            if let Some(writer) = group.next_column().map_err(broken)? {
                column.write(writer).map_err(broken)?;
            }
        }
        group.close().map_err(broken)?;
        self.rows = 0;
        self.text_bytes = 0;
        self.pass_on()
    }

    /// Hands over what the library has written.
    fn pass_on(&mut self) -> Result<()> {
        self.file.flush().map_err(failed)?;
        self.out.write_all(&self.written.take()).map_err(failed)
    }

    /// Writes the rest.
    pub(super) fn finish(mut self) -> Result<()> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.file.finish().map_err(broken)?;
        self.pass_on()?;
        self.out.flush().map_err(failed)
    }
}

/// The value of a column. Unsigned numbers keep their bits.
#[derive(Clone, Debug)]
pub(super) enum ColumnValue {
    Bool(bool),
    Int32(i32),
    Int64(i64),
    Double(f64),
    Text(ByteArray),
}

impl ColumnValue {
    fn text_size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            _ => 0,
        }
    }
}

impl From<bool> for ColumnValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u32> for ColumnValue {
    fn from(value: u32) -> Self {
        Self::Int32(value.cast_signed())
    }
}

impl From<u64> for ColumnValue {
    fn from(value: u64) -> Self {
        Self::Int64(value.cast_signed())
    }
}

impl From<i64> for ColumnValue {
    fn from(value: i64) -> Self {
        Self::Int64(value)
    }
}

impl From<f64> for ColumnValue {
    fn from(value: f64) -> Self {
        Self::Double(value)
    }
}

impl From<&str> for ColumnValue {
    fn from(value: &str) -> Self {
        Self::Text(value.as_bytes().to_vec().into())
    }
}

/// The values of a column that are not written yet.
struct UnwrittenColumn {
    values: Values,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    most_definition: i16,
    most_repetition: i16,
}

enum Values {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Double(Vec<f64>),
    Text(Vec<ByteArray>),
}

impl UnwrittenColumn {
    fn new(column: &ColumnDescriptor) -> Self {
        Self {
            values: match column.physical_type() {
                Type::BOOLEAN => Values::Bool(Vec::new()),
                Type::INT32 => Values::Int32(Vec::new()),
                Type::INT64 => Values::Int64(Vec::new()),
                Type::DOUBLE => Values::Double(Vec::new()),
                _ => Values::Text(Vec::new()),
            },
            definitions: Vec::new(),
            repetitions: Vec::new(),
            most_definition: column.max_def_level(),
            most_repetition: column.max_rep_level(),
        }
    }

    #[inline]
    fn add(&mut self, value: Option<ColumnValue>, repetition: i16) {
        if self.most_definition > 0 {
            let missing = i16::from(value.is_none());
            self.definitions.push(self.most_definition - missing);
        }
        if self.most_repetition > 0 {
            self.repetitions.push(repetition);
        }
        match (&mut self.values, value) {
            (Values::Bool(values), Some(ColumnValue::Bool(value))) => values.push(value),
            (Values::Int32(values), Some(ColumnValue::Int32(value))) => values.push(value),
            (Values::Int64(values), Some(ColumnValue::Int64(value))) => values.push(value),
            (Values::Double(values), Some(ColumnValue::Double(value))) => values.push(value),
            (Values::Text(values), Some(ColumnValue::Text(value))) => values.push(value),
            (_, value) => debug_assert!(value.is_none(), "a value of another type"),
        }
    }

    fn write(&mut self, mut writer: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let (definitions, repetitions) = (take(&mut self.definitions), take(&mut self.repetitions));
        let definitions = (self.most_definition > 0).then_some(definitions.as_slice());
        let repetitions = (self.most_repetition > 0).then_some(repetitions.as_slice());
        macro_rules! write {
            ($kind:ty, $values:expr) => {{
                let column = writer.typed::<$kind>();
                column.write_batch(&take($values), definitions, repetitions)?;
            }};
        }
        match &mut self.values {
            Values::Bool(values) => write!(BoolType, values),
            Values::Int32(values) => write!(Int32Type, values),
            Values::Int64(values) => write!(Int64Type, values),
            Values::Double(values) => write!(DoubleType, values),
            Values::Text(values) => write!(ByteArrayType, values),
        }
        writer.close()
    }
}

/// What the library has written. It takes only writers that can be sent to another thread.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn take(&self) -> Vec<u8> {
        take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn failed(source: std::io::Error) -> Error {
    Error::Io {
        action: FileAction::Write,
        source,
    }
}

/// Writing to memory fails only if a row does not fit its schema.
fn broken(error: ParquetError) -> Error {
    Error::Internal {
        message: error.to_string().into(),
    }
}

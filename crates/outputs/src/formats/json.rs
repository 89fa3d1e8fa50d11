//! JSON as the command line prints it: indented by two spaces, a newline at the end, empty lists
//! as `[]`. It is produced while it is read, so an output of any size needs little memory: only the order
//! of the instances of one row.

use std::io::{self, Read};

use super::accounting::accounting_json;
use super::document::{Document, Row, Total};
use base::error::Result;
use base::warning::Warning;
use heap::views::{ChangeKind, Instances};

/// The text is made in pieces of about this many bytes.
const PIECE: usize = 1 << 16;

/// The JSON of a document, to be read to its end. Reading fails only if there is no memory for the
/// order of a row's instances, and may then be tried again.
#[derive(Debug)]
pub struct JsonStream<D> {
    document: D,
    /// The piece that is being read, and how much of it was.
    text: Text,
    read: usize,
    row: usize,
    /// Within a row: its instances, and how many of them are written.
    open: Option<(Instances, usize)>,
    state: JsonState,
    with_accounting: bool,
    with_warnings: bool,
    /// Instances written so far.
    written: u64,
}

#[derive(Debug, PartialEq, Eq)]
enum JsonState {
    Start,
    Rows,
    Done,
}

impl<D: Document> JsonStream<D> {
    /// The JSON of a document.
    pub fn new(document: D) -> Self {
        Self {
            document,
            text: Text::default(),
            read: 0,
            row: 0,
            open: None,
            state: JsonState::Start,
            with_accounting: false,
            with_warnings: false,
            written: 0,
        }
    }

    /// Adds the accounting of the heap as the last key. It is not part of WARPO's format.
    pub fn with_accounting(mut self) -> Self {
        self.with_accounting = true;
        self
    }

    /// Ends with `partial`, also if it is false, and `warnings`. Not part of WARPO's format.
    pub fn with_warnings(mut self) -> Self {
        self.with_warnings = true;
        self
    }

    /// The part that is written, by the number of instances: from 0 to 1.
    pub fn fraction(&self) -> f64 {
        match self.document.instance_count() {
            0 => 1.0,
            count => self.written as f64 / count as f64,
        }
    }

    /// Writes the next part: the totals, the start of a row, or some instances.
    fn step(&mut self, text: &mut Text) -> Result<()> {
        if self.state == JsonState::Start {
            text.raw("{\n");
            for (key, number) in self.document.totals().iter().flat_map(Total::entries) {
                text.number(2, key, number);
                text.raw(",\n");
            }
            text.key(2, "constructors");
            text.raw("[");
            self.state = JsonState::Rows;
        } else if let Some((instances, written)) = &mut self.open {
            let before = *written;
            let is_whole = write_instances(text, instances, written);
            self.written += (*written - before) as u64;
            if is_whole {
                text.raw("\n    }");
                self.open = None;
                self.row += 1;
            }
        } else if let (Some(row), Some(instances)) = (
            self.document.row(self.row),
            self.document.instances(self.row)?,
        ) {
            text.raw(if self.row == 0 {
                "\n    {\n"
            } else {
                ",\n    {\n"
            });
            write_row(
                text,
                &row,
                self.document.columns().iter().map(|column| column.key),
            );
            text.raw("[");
            self.open = Some((instances, 0));
        } else {
            text.raw(if self.row == 0 { "]" } else { "\n  ]" });
            if self.document.is_partial() && !self.with_warnings {
                text.raw(",\n");
                text.key(2, "partial");
                text.raw("true");
            }
            let accounting = self.document.accounting();
            if let Some(accounting) = accounting.filter(|_| self.with_accounting) {
                text.raw(",\n");
                text.key(2, "accounting");
                text.raw(&accounting_json(accounting).replace('\n', "\n  "));
            }
            if self.with_warnings {
                write_doubts(text, self.document.is_partial(), &self.document.warnings());
            }
            text.raw("\n}\n");
            self.state = JsonState::Done;
        }
        Ok(())
    }
}

impl<D: Document> Read for JsonStream<D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.text.0.len() {
            let mut text = std::mem::take(&mut self.text);
            text.0.clear();
            let mut made = Ok(());
            while made.is_ok() && self.state != JsonState::Done && text.0.len() < PIECE {
                made = self.step(&mut text);
            }
            self.text = text;
            self.read = 0;
            // The text before the error is returned first.
            if self.text.0.is_empty() {
                made.map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error))?;
            }
        }
        let length = (&self.text.0[self.read..]).read(buffer)?;
        self.read += length;
        Ok(length)
    }
}

fn write_row(text: &mut Text, row: &Row<'_>, keys: impl Iterator<Item = &'static str>) {
    text.key(6, "className");
    text.string(row.class_name);
    text.raw(",\n");
    if let Some(evidence) = row.type_evidence {
        text.key(6, "typeEvidence");
        text.string(evidence);
        text.raw(",\n");
    }
    for (key, &number) in keys.zip(&row.numbers) {
        text.number(6, key, number);
        text.raw(",\n");
    }
    text.key(6, "instances");
}

fn write_doubts(text: &mut Text, is_partial: bool, warnings: &[&Warning]) {
    text.raw(",\n");
    text.key(2, "partial");
    text.raw(if is_partial { "true" } else { "false" });
    text.raw(",\n");
    text.key(2, "warnings");
    text.raw("[");
    for (nth, warning) in warnings.iter().enumerate() {
        text.raw(if nth == 0 { "\n    {\n" } else { ",\n    {\n" });
        text.key(6, "code");
        text.string(warning.code());
        text.raw(",\n");
        text.key(6, "message");
        text.string(&warning.to_string());
        text.raw("\n    }");
    }
    text.raw(if warnings.is_empty() { "]" } else { "\n  ]" });
}

/// Writes instances of a row until a piece is full. Returns whether all are written.
fn write_instances(text: &mut Text, instances: &Instances, written: &mut usize) -> bool {
    while let Some(instance) = instances.get(*written).filter(|_| text.0.len() < PIECE) {
        text.raw(if *written == 0 {
            "\n        {\n"
        } else {
            ",\n        {\n"
        });
        text.raw("          \"address\": ");
        text.digits(instance.address.0.cast_signed());
        text.raw(",\n          \"shallowSize\": ");
        text.digits(instance.shallow_size as i64);
        text.raw(",\n          \"retainedSize\": ");
        text.digits(instance.retained_size as i64);
        text.raw(match instance.change {
            None => "",
            Some(ChangeKind::New) => ",\n          \"changeKind\": \"new\"",
            Some(ChangeKind::Deleted) => ",\n          \"changeKind\": \"delete\"",
        });
        text.raw("\n        }");
        *written += 1;
    }
    if *written < instances.len() {
        return false;
    }
    text.raw(if instances.is_empty() {
        "]"
    } else {
        "\n      ]"
    });
    true
}

/// JSON text under construction.
#[derive(Debug, Default)]
struct Text(Vec<u8>);

impl Text {
    fn raw(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    fn string(&mut self, value: &str) {
        self.raw(&serde_json::Value::from(value).to_string());
    }

    fn key(&mut self, indent: usize, key: &str) {
        const SPACES: &str = "          ";
        self.raw(&SPACES[..indent]);
        self.raw("\"");
        self.raw(key);
        self.raw("\": ");
    }

    fn number(&mut self, indent: usize, key: &str, value: i64) {
        self.key(indent, key);
        self.digits(value);
    }

    fn digits(&mut self, value: i64) {
        self.raw(itoa::Buffer::new().format(value));
    }
}

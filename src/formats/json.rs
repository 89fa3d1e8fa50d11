//! JSON as the command line prints it: indented by two spaces, a newline at the end, empty lists
//! as `[]`. Made in pieces, so that an output of any size needs little memory: the instances of
//! one row at a time.

use super::accounting::accounting_json;
use super::document::{Document, DocumentInstances, Row, Total};

/// Pieces are at least this long, but for the last.
const PIECE: usize = 1 << 18;

/// An iterator over the pieces of a document's JSON.
#[derive(Debug)]
pub struct JsonStream<D> {
    document: D,
    row: usize,
    /// Within a row: its instances, and how many of them are written.
    open: Option<(DocumentInstances, usize)>,
    state: State,
    with_accounting: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Start,
    Rows,
    Done,
}

impl<D: Document> JsonStream<D> {
    /// The JSON of a document.
    pub fn new(document: D) -> Self {
        Self {
            document,
            row: 0,
            open: None,
            state: State::Start,
            with_accounting: false,
        }
    }

    /// Adds where every byte of the heap is, as the last key. Not part of WARPO's format.
    pub fn with_accounting(mut self) -> Self {
        self.with_accounting = true;
        self
    }

    /// Writes the next thing: the totals, the start of a row, or some instances.
    fn step(&mut self, text: &mut Text) {
        if self.state == State::Start {
            text.raw("{\n");
            for (key, number) in self.document.totals().iter().flat_map(Total::entries) {
                text.number(2, key, number);
                text.raw(",\n");
            }
            text.key(2, "constructors");
            text.raw("[");
            self.state = State::Rows;
        } else if let Some((row, written)) = &mut self.open {
            if write_instances(text, row, written) {
                text.raw("\n    }");
                self.open = None;
                self.row += 1;
            }
        } else if let (Some(row), Some(instances)) = (
            self.document.row(self.row),
            self.document.instances(self.row),
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
            if self.document.is_partial() {
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
            text.raw("\n}\n");
            self.state = State::Done;
        }
    }
}

impl<D: Document> Iterator for JsonStream<D> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let mut text = Text::default();
        while self.state != State::Done && text.0.len() < PIECE {
            self.step(&mut text);
        }
        (!text.0.is_empty()).then_some(text.0)
    }
}

fn write_row(text: &mut Text, row: &Row<'_>, keys: impl Iterator<Item = &'static str>) {
    text.key(6, "className");
    text.string(row.class_name);
    text.raw(",\n");
    for (key, &number) in keys.zip(&row.numbers) {
        text.number(6, key, number);
        text.raw(",\n");
    }
    text.key(6, "instances");
}

/// Goes on with a row's instances until a piece is full. Returns whether all are written.
fn write_instances(text: &mut Text, row: &DocumentInstances, written: &mut usize) -> bool {
    let DocumentInstances {
        instances,
        new_count,
    } = row;
    while *written < instances.len() && text.0.len() < PIECE {
        let nth = *written;
        text.raw(if nth == 0 {
            "\n        {\n"
        } else {
            ",\n        {\n"
        });
        text.number(10, "address", i64::from(instances.addresses[nth]));
        text.raw(",\n");
        text.number(10, "shallowSize", i64::from(instances.shallow_sizes[nth]));
        text.raw(",\n");
        text.number(10, "retainedSize", i64::from(instances.retained_sizes[nth]));
        if let Some(new_count) = *new_count {
            text.raw(",\n");
            text.key(10, "changeKind");
            text.string(if nth < new_count { "new" } else { "delete" });
        }
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
#[derive(Default)]
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
        self.raw(itoa::Buffer::new().format(value));
    }
}

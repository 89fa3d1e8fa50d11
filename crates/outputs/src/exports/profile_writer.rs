//! Writes the messages of pprof's `profile.proto`, compressed.

use std::io::{BufWriter, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use quick_protobuf::Writer;

use super::output::PIECE;
use base::error::{Error, Result};
use base::file_action::FileAction;

/// Wire types of fields.
pub(super) const NUMBER: u32 = 0;
pub(super) const BYTES: u32 = 2;

/// Fields of messages, by their numbers in pprof's `profile.proto`.
pub(super) mod field {
    pub(in crate::exports) mod profile {
        pub(in crate::exports) const SAMPLE_TYPE: u32 = 1;
        pub(in crate::exports) const SAMPLE: u32 = 2;
        pub(in crate::exports) const MAPPING: u32 = 3;
        pub(in crate::exports) const LOCATION: u32 = 4;
        pub(in crate::exports) const FUNCTION: u32 = 5;
        pub(in crate::exports) const STRING_TABLE: u32 = 6;
        pub(in crate::exports) const TIME_NANOS: u32 = 9;
        pub(in crate::exports) const DURATION_NANOS: u32 = 10;
        pub(in crate::exports) const PERIOD_TYPE: u32 = 11;
        pub(in crate::exports) const PERIOD: u32 = 12;
        pub(in crate::exports) const COMMENT: u32 = 13;
        pub(in crate::exports) const DEFAULT_SAMPLE_TYPE: u32 = 14;
    }
    pub(in crate::exports) mod value_type {
        pub(in crate::exports) const TYPE: u32 = 1;
        pub(in crate::exports) const UNIT: u32 = 2;
    }
    pub(in crate::exports) mod sample {
        pub(in crate::exports) const LOCATION_ID: u32 = 1;
        pub(in crate::exports) const VALUE: u32 = 2;
    }
    pub(in crate::exports) mod mapping {
        pub(in crate::exports) const ID: u32 = 1;
        pub(in crate::exports) const FILENAME: u32 = 5;
        pub(in crate::exports) const HAS_FUNCTIONS: u32 = 7;
        pub(in crate::exports) const HAS_FILENAMES: u32 = 8;
        pub(in crate::exports) const HAS_LINE_NUMBERS: u32 = 9;
        pub(in crate::exports) const HAS_INLINE_FRAMES: u32 = 10;
    }
    pub(in crate::exports) mod location {
        pub(in crate::exports) const ID: u32 = 1;
        pub(in crate::exports) const MAPPING_ID: u32 = 2;
        pub(in crate::exports) const LINE: u32 = 4;
    }
    pub(in crate::exports) mod line {
        pub(in crate::exports) const FUNCTION_ID: u32 = 1;
        pub(in crate::exports) const LINE: u32 = 2;
    }
    pub(in crate::exports) mod function {
        pub(in crate::exports) const ID: u32 = 1;
        pub(in crate::exports) const NAME: u32 = 2;
        pub(in crate::exports) const FILENAME: u32 = 4;
    }
}

/// Writes the fields of a profile. Nested messages are made first, because their length comes before them.
pub(super) struct Profile<W: Write> {
    out: BufWriter<GzEncoder<W>>,
    message: Vec<u8>,
}

/// The message that is being made.
pub(super) type Message<'m> = Writer<&'m mut Vec<u8>>;

impl<W: Write> Profile<W> {
    pub(super) fn new(out: W) -> Self {
        let compressed = GzEncoder::new(out, Compression::default());
        Self {
            out: BufWriter::with_capacity(PIECE, compressed),
            message: Vec::new(),
        }
    }

    /// Writes the end.
    pub(super) fn finish(self) -> Result<W> {
        let compressed = self
            .out
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        compressed.finish().map_err(failed)
    }

    /// Writes a number of the profile itself.
    pub(super) fn field(&mut self, field: u32, value: u64) -> Result<()> {
        let mut writer = Writer::new(&mut self.out);
        let written =
            writer.write_with_tag(field << 3 | NUMBER, |writer| writer.write_uint64(value));
        written.map_err(broken)
    }

    pub(super) fn string(&mut self, text: &str) -> Result<()> {
        let mut writer = Writer::new(&mut self.out);
        let tag = field::profile::STRING_TABLE << 3 | BYTES;
        writer
            .write_with_tag(tag, |writer| writer.write_string(text))
            .map_err(broken)
    }

    pub(super) fn message(
        &mut self,
        field: u32,
        fill: impl FnOnce(&mut Message<'_>) -> quick_protobuf::Result<()>,
    ) -> Result<()> {
        self.message.clear();
        fill(&mut Writer::new(&mut self.message)).map_err(broken)?;
        let mut writer = Writer::new(&mut self.out);
        writer
            .write_with_tag(field << 3 | BYTES, |writer| {
                writer.write_bytes(&self.message)
            })
            .map_err(broken)
    }
}

pub(super) fn number(
    message: &mut Message<'_>,
    field: u32,
    value: u64,
) -> quick_protobuf::Result<()> {
    message.write_with_tag(field << 3 | NUMBER, |message| message.write_uint64(value))
}

pub(super) fn packed(
    message: &mut Message<'_>,
    field: u32,
    values: &[u64],
) -> quick_protobuf::Result<()> {
    let write = |message: &mut Message<'_>, &value: &u64| message.write_uint64(value);
    let size = |&value: &u64| quick_protobuf::sizeofs::sizeof_uint64(value);
    message.write_packed_with_tag(field << 3 | BYTES, values, write, &size)
}

fn broken(error: quick_protobuf::Error) -> Error {
    failed(match error {
        quick_protobuf::Error::Io(source) => source,
        other => std::io::Error::other(other),
    })
}

pub(super) fn failed(source: std::io::Error) -> Error {
    Error::Io {
        action: FileAction::Write,
        source,
    }
}

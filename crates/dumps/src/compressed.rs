//! Decompresses gzip and zstd into memory. What comes out is bounded by what goes in.

use std::io::{self, Read};

use crate::ContainerError;
use base::columns;
use base::control::Control;
use base::error::Result;
use base::file_kind::FileKind;
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use crate::proportion::Proportion;

/// The bytes that are decompressed between two looks at the control.
const PIECE: usize = 1 << 16;

/// The most memory that a zstd file may take as its window: what the program `zstd` uses without `--long`.
const LARGEST_WINDOW: u64 = 128 << 20;

/// A format of compressed files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// gzip, in one member or several.
    Gzip,
    /// zstd, in one frame or several.
    Zstandard,
}

impl Compression {
    /// The format of a file; `None` if it is not compressed, or in another format.
    pub fn of(file: &[u8]) -> Option<Self> {
        match FileKind::of(file)? {
            FileKind::Gzip => Some(Self::Gzip),
            FileKind::Zstandard => Some(Self::Zstandard),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstandard => "zstd",
        }
    }

    /// The contents of a compressed file, at most `largest` bytes, in memory of exactly their size.
    ///
    /// # Errors
    /// [`ContainerError::Compressed`], [`ContainerError::OutOfProportion`],
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub fn decompress(self, file: &[u8], largest: u64, control: &Control) -> Result<Vec<u8>> {
        let mut contents = Contents {
            format: self.name(),
            proportion: Proportion::of(file.len() as u64, largest),
            bytes: Vec::new(),
        };
        match self {
            Self::Gzip => contents.read(MultiGzDecoder::new(file), control)?,
            Self::Zstandard => contents.read_frames(file, control)?,
        }
        contents.bytes.shrink_to_fit();
        Ok(contents.bytes)
    }
}

/// What was decompressed so far.
struct Contents {
    format: &'static str,
    proportion: Proportion,
    bytes: Vec<u8>,
}

impl Contents {
    fn failed(&self, error: impl ToString) -> ContainerError {
        ContainerError::Compressed {
            format: self.format,
            size: self.bytes.len() as u64,
            message: error.to_string(),
        }
    }

    fn read(&mut self, mut decoder: impl Read, control: &Control) -> Result<()> {
        let mut piece = vec![0; PIECE];
        loop {
            control.check()?;
            let length = match decoder.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.failed(error).into()),
            };
            let size = self.bytes.len() as u64 + length as u64;
            self.proportion.check("the decompressed file", size)?;
            columns::extend(&mut self.bytes, &piece[..length])?;
        }
    }

    fn read_frames(&mut self, mut file: &[u8], control: &Control) -> Result<()> {
        let mut frames = FrameDecoder::new();
        frames.set_max_window_size(LARGEST_WINDOW);
        while !file.is_empty() {
            control.check()?;
            let opened = StreamingDecoder::new_with_decoder(&mut file, &mut frames);
            match opened {
                Ok(frame) => self.read(frame, control)?,
                // A frame that belongs to another program.
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let rest = file.get(length as usize..);
                    file = rest.ok_or_else(|| self.failed("a frame to skip has no end"))?;
                    continue;
                }
                Err(error) => return Err(self.failed(error).into()),
            }
            let found = frames.get_calculated_checksum();
            if frames
                .get_checksum_from_data()
                .is_some_and(|expected| Some(expected) != found)
            {
                return Err(self.failed("the checksum of the contents differs").into());
            }
        }
        Ok(())
    }
}

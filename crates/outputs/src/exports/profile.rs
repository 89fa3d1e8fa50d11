//! pprof's profile of what a running program did: samples with stacks of calls.

use std::collections::HashMap;
use std::io::Read as _;

use flate2::read::GzDecoder;
use quick_protobuf::BytesReader;
use serde::Deserialize;

use super::profile_writer::{BYTES, Message, Profile, field, number, packed};
use base::error::{Error, Result};
use base::frame::Frame;
use questions::QuestionError;
use questions::{AllocationSites, SampledBlocks};

/// A profile, before it is encoded. The profiler makes it as JSON.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CallProfile {
    /// Type and unit of each value of a sample.
    pub sample_types: Vec<(String, String)>,
    /// The type that tools show first.
    pub default_sample_type: String,
    /// What happens between two samples, and its unit.
    pub period_type: (String, String),
    /// How much of it.
    pub period: u64,
    /// When the profile was made, in nanoseconds since 1970.
    pub time_nanos: u64,
    /// How long it took.
    pub duration_nanos: u64,
    /// The program.
    pub program: String,
    /// What a reader of the profile should know.
    pub comments: Vec<String>,
    /// Places in the program, each with its functions, the innermost first.
    pub locations: Vec<Vec<CallFrame>>,
    /// The samples.
    pub samples: Vec<CallSample>,
    /// The blocks that are in use, for [`LoadedHeap::allocation_sites`](questions::LoadedHeap).
    pub sampled_blocks: Option<SampledBlocks>,
}

/// A function and a line in it, as in [`Frame`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CallFrame {
    /// Its name.
    pub function: String,
    /// Its source file, if it is known.
    pub file: String,
    /// The line, if it is known.
    pub line: u32,
}

/// A stack and its values.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CallSample {
    /// Indexes into the locations, the innermost first.
    pub stack: Vec<u32>,
    /// One value for each type.
    pub values: Vec<u64>,
}

impl From<Frame> for CallFrame {
    fn from(frame: Frame) -> Self {
        Self {
            function: frame.function,
            file: frame.file,
            line: frame.line,
        }
    }
}

/// The start of the string that has the sampled blocks. Nothing refers to it, so other readers skip it; some of
/// them do not skip fields that they do not know.
const SAMPLED_BLOCKS: &str = "warpo_heap_analyzer_profile:";

/// The only mapping.
const MAPPING: u64 = 1;

impl CallProfile {
    /// Reads a profile from JSON.
    ///
    /// # Errors
    /// [`Error::Internal`]: only this package makes the JSON.
    pub fn from_json(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| Error::Internal {
            message: format!("a profile cannot be read: {error}").into(),
        })
    }

    /// The profile as compressed `profile.proto`.
    ///
    /// # Errors
    /// [`Error::Io`], if memory cannot be written.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut strings = StringNumbers::default();
        strings.number("");
        let mut profile = Profile::new(Vec::new());
        for (name, unit) in &self.sample_types {
            let (name, unit) = (strings.number(name), strings.number(unit));
            profile.message(field::profile::SAMPLE_TYPE, |message| {
                number(message, field::value_type::TYPE, name)?;
                number(message, field::value_type::UNIT, unit)
            })?;
        }
        for sample in &self.samples {
            let stack: Vec<u64> = sample.stack.iter().map(|&at| u64::from(at) + 1).collect();
            profile.message(field::profile::SAMPLE, |message| {
                packed(message, field::sample::LOCATION_ID, &stack)?;
                packed(message, field::sample::VALUE, &sample.values)
            })?;
        }
        let program = strings.number(&self.program);
        profile.message(field::profile::MAPPING, |message| {
            number(message, field::mapping::ID, MAPPING)?;
            number(message, field::mapping::FILENAME, program)?;
            for known in [
                field::mapping::HAS_FUNCTIONS,
                field::mapping::HAS_FILENAMES,
                field::mapping::HAS_LINE_NUMBERS,
                field::mapping::HAS_INLINE_FRAMES,
            ] {
                number(message, known, 1)?;
            }
            Ok(())
        })?;
        self.locations(&mut profile, &mut strings)?;
        let period = (
            strings.number(&self.period_type.0),
            strings.number(&self.period_type.1),
        );
        profile.message(field::profile::PERIOD_TYPE, |message| {
            number(message, field::value_type::TYPE, period.0)?;
            number(message, field::value_type::UNIT, period.1)
        })?;
        for comment in &self.comments {
            profile.field(field::profile::COMMENT, strings.number(comment))?;
        }
        let default = strings.number(&self.default_sample_type);
        for (of, value) in [
            (field::profile::TIME_NANOS, self.time_nanos),
            (field::profile::DURATION_NANOS, self.duration_nanos),
            (field::profile::PERIOD, self.period),
            (field::profile::DEFAULT_SAMPLE_TYPE, default),
        ] {
            profile.field(of, value)?;
        }
        for text in &strings.list {
            profile.string(text)?;
        }
        if let Some(blocks) = &self.sampled_blocks {
            let json = serde_json::to_string(blocks).map_err(|error| Error::Internal {
                message: error.to_string().into(),
            })?;
            profile.string(&format!("{SAMPLED_BLOCKS}{json}"))?;
        }
        profile.finish()
    }

    /// What is alive by the line that allocated it.
    pub fn of_sites(sites: &AllocationSites, program: &str) -> Self {
        let types = [
            ("live_objects", "count"),
            ("live_space", "bytes"),
            ("retained_space", "bytes"),
        ];
        let lines = (0..).zip(&sites.sites);
        Self {
            sample_types: types.map(|(name, unit)| (name.to_owned(), unit.to_owned())).to_vec(),
            default_sample_type: "retained_space".to_owned(),
            period_type: ("space".to_owned(), "bytes".to_owned()),
            period: sites.interval,
            program: program.to_owned(),
            comments: vec![
                "retained_space counts each byte once within a line; the sum over lines counts bytes twice"
                    .to_owned(),
            ],
            locations: lines
                .clone()
                .map(|(_, site)| vec![site.place.clone().into()])
                .collect(),
            samples: lines
                .map(|(nth, site)| CallSample {
                    stack: vec![nth],
                    values: vec![site.count, site.size, site.retained_size],
                })
                .collect(),
            ..Self::default()
        }
    }

    /// A location for each place, and a function for each pair of name and file.
    fn locations<'s>(
        &'s self,
        profile: &mut Profile<Vec<u8>>,
        strings: &mut StringNumbers<'s>,
    ) -> Result<()> {
        let mut functions: HashMap<(u64, u64), u64> = HashMap::new();
        for (frames, id) in self.locations.iter().zip(1u64..) {
            let mut lines = Vec::new();
            for frame in frames {
                let key = (strings.number(&frame.function), strings.number(&frame.file));
                let next = functions.len() as u64 + 1;
                let function = *functions.entry(key).or_insert(next);
                if function == next {
                    profile.message(field::profile::FUNCTION, |message| {
                        number(message, field::function::ID, function)?;
                        number(message, field::function::NAME, key.0)?;
                        number(message, field::function::FILENAME, key.1)
                    })?;
                }
                lines.push((function, u64::from(frame.line)));
            }
            profile.message(field::profile::LOCATION, |message| {
                number(message, field::location::ID, id)?;
                number(message, field::location::MAPPING_ID, MAPPING)?;
                for &(function, line) in &lines {
                    let mut written = Vec::new();
                    let mut inner = Message::new(&mut written);
                    number(&mut inner, field::line::FUNCTION_ID, function)?;
                    number(&mut inner, field::line::LINE, line)?;
                    let tag = field::location::LINE << 3 | BYTES;
                    message.write_with_tag(tag, |message| message.write_bytes(&written))?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// The largest number of bytes into which a byte of a profile may be decompressed. A profile of
/// many blocks of one size becomes 8 times as large; gzip can make a byte a thousand.
const MOST_PER_BYTE: u64 = 64;
/// More bytes that are allowed, however short the profile is.
const MORE_BYTES: u64 = 1 << 20;
/// The most bytes of a profile, decompressed.
const MOST_BYTES: u64 = 1 << 30;

/// The sampled blocks in an encoded profile.
///
/// # Errors
/// [`QuestionError::Profile`] if it is no profile, or has no blocks.
pub fn sampled_blocks(encoded: &[u8]) -> Result<SampledBlocks> {
    let broken = |what: &str| {
        Error::from(QuestionError::Profile {
            message: format!("{what}; expected heap.pb.gz as the profiler wrote it"),
        })
    };
    let mut bytes = Vec::new();
    let most = (encoded.len() as u64)
        .saturating_mul(MOST_PER_BYTE)
        .saturating_add(MORE_BYTES)
        .min(MOST_BYTES);
    GzDecoder::new(encoded)
        .take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| broken(&format!("it cannot be decompressed: {error}")))?;
    if bytes.len() as u64 > most {
        return Err(broken(&format!(
            "its {} bytes become more than {most} bytes when they are decompressed, much more than its size explains",
            encoded.len()
        )));
    }
    let mut reader = BytesReader::from_bytes(&bytes);
    while !reader.is_eof() {
        let tag = reader
            .next_tag(&bytes)
            .map_err(|error| broken(&format!("it cannot be read: {error}")))?;
        if tag == field::profile::STRING_TABLE << 3 | BYTES {
            let text = reader
                .read_bytes(&bytes)
                .map_err(|error| broken(&format!("it cannot be read: {error}")))?;
            if let Some(json) = text.strip_prefix(SAMPLED_BLOCKS.as_bytes()) {
                return serde_json::from_slice(json)
                    .map_err(|error| broken(&format!("its blocks cannot be read: {error}")));
            }
            continue;
        }
        let skipped = reader.read_unknown(&bytes, tag);
        skipped.map_err(|error| broken(&format!("it cannot be read: {error}")))?;
    }
    Err(broken(
        "it does not contain the addresses of blocks: only profiles of AssemblyScript and WARPO programs do, \
         and only as the profiler wrote them",
    ))
}

/// The table of strings, in the order of their numbers.
#[derive(Default)]
struct StringNumbers<'s> {
    list: Vec<&'s str>,
    numbers: HashMap<&'s str, u64>,
}

impl<'s> StringNumbers<'s> {
    fn number(&mut self, text: &'s str) -> u64 {
        let next = self.list.len() as u64;
        let number = *self.numbers.entry(text).or_insert(next);
        if number == next {
            self.list.push(text);
        }
        number
    }
}

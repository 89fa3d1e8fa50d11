//! pprof's profile: the live heap by the paths of its objects, as compressed protocol buffers.
//!
//! A sample is a path group, a frame a step of it. Names are made where they are written: a module may
//! have classes with long names and many fields, and all names together need not fit into memory.

use questions::{origin_text, step_text};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{BufWriter, Write};

use super::output::PIECE;
use super::path_sums::{PathSum, PathSums};
use super::profile_writer::{BYTES, Message, Profile, failed, field, number, packed};
use base::columns;
use base::control::{Control, Phase, Step};
use base::error::Result;
use heap::{EdgeLabel, GroupStart, PathGroup, RootOrigin};
use questions::LoadedHeap;

/// Objects, groups or frames between two reports.
const REPORT: usize = 1 << 12;

/// The first strings of the table; those of the frames follow.
const STRINGS: [&str; 6] = ["", "objects", "count", "shallow_space", "bytes", "[heap]"];
const OBJECTS: u64 = 1;
const COUNT: u64 = 2;
const SHALLOW_SPACE: u64 = 3;
const SIZE: u64 = 4;
const FILENAME: u64 = 5;

/// The only mapping.
const MAPPING: u64 = 1;

/// Writes the live objects of a heap.
///
/// # Errors
/// As [`LoadedHeap::export`].
pub(super) fn write(heap: &LoadedHeap, out: &mut dyn Write, control: &Control) -> Result<()> {
    let (samples, frames) = samples(heap, control)?;
    let step = control.begin(
        Phase::Export,
        (samples.len() + 2 * frames.keys.len()) as u64,
    );
    let mut profile = Profile::new(BufWriter::with_capacity(PIECE, out));
    profile.types()?;
    profile.samples(heap, &samples, &frames, &step, control)?;
    profile.locations(frames.keys.len(), &step)?;
    profile.strings(heap, &frames.keys, &step)?;
    profile.finish()?.flush().map_err(failed)
}

/// The objects of one stack.
struct Sample {
    count: u64,
    size: u64,
    group: PathGroup,
    /// The frame of their class.
    leaf: u32,
}

/// What a frame is called by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum FrameKey {
    /// Where a path begins.
    Root(RootOrigin),
    /// A reference of an object of this class slot.
    Step(u32, EdgeLabel),
    /// The class of the objects.
    Class(u32),
    /// Steps that are not known.
    LeftOut,
}

/// All frames of a profile.
#[derive(Default)]
struct Frames {
    keys: Vec<FrameKey>,
    numbers: HashMap<FrameKey, u32>,
    /// Path group → the frame before that of its class.
    steps: Vec<u32>,
}

impl Frames {
    fn number(&mut self, key: FrameKey) -> Result<u32> {
        if let Some(&number) = self.numbers.get(&key) {
            return Ok(number);
        }
        let number = self.keys.len() as u32;
        columns::push(&mut self.keys, key)?;
        self.numbers.insert(key, number);
        Ok(number)
    }
}

/// The live objects by path: shallow size ↓, count ↓, then in the order of the paths.
fn samples(heap: &LoadedHeap, control: &Control) -> Result<(Vec<Sample>, Frames)> {
    let tree = heap.path_tree(control)?;
    let groups = tree.groups();
    let PathSums { groups: sums, rest } = PathSums::of(heap, control)?;

    let mut frames = Frames::default();
    for number in 0..groups.len() as u32 {
        let key = match groups.info(PathGroup(number)).start {
            GroupStart::Rest => FrameKey::LeftOut,
            GroupStart::Root(origin) => FrameKey::Root(origin),
            GroupStart::Step(before, label) => {
                FrameKey::Step(groups.info(before).class_slot, label)
            }
        };
        let frame = frames.number(key)?;
        columns::push(&mut frames.steps, frame)?;
    }
    let mut samples = Vec::new();
    let grouped = (0..).zip(sums).map(|(group, sum)| {
        let group = PathGroup(group);
        (group, groups.info(group).class_slot, sum)
    });
    let rest = (0..)
        .zip(rest)
        .map(|(slot, sum)| (PathGroup::REST, slot, sum));
    for (group, class_slot, PathSum { count, size }) in grouped.chain(rest) {
        if count > 0 {
            let leaf = frames.number(FrameKey::Class(class_slot))?;
            let sample = Sample {
                count,
                size,
                group,
                leaf,
            };
            columns::push(&mut samples, sample)?;
        }
    }
    samples.sort_by_key(|sample| Reverse((sample.size, sample.count)));
    Ok((samples, frames))
}

impl<W: Write> Profile<W> {
    fn types(&mut self) -> Result<()> {
        for (name, unit) in [(OBJECTS, COUNT), (SHALLOW_SPACE, SIZE)] {
            self.message(field::profile::SAMPLE_TYPE, |message| {
                number(message, field::value_type::TYPE, name)?;
                number(message, field::value_type::UNIT, unit)
            })?;
        }
        self.field(field::profile::DEFAULT_SAMPLE_TYPE, SHALLOW_SPACE)?;
        self.message(field::profile::MAPPING, |message| {
            number(message, field::mapping::ID, MAPPING)?;
            number(message, field::mapping::FILENAME, FILENAME)?;
            number(message, field::mapping::HAS_FUNCTIONS, 1)
        })
    }

    fn samples(
        &mut self,
        heap: &LoadedHeap,
        samples: &[Sample],
        frames: &Frames,
        step: &Step<'_>,
        control: &Control,
    ) -> Result<()> {
        let groups = heap.path_tree(control)?.groups();
        let mut stack = Vec::new();
        for (nth, sample) in samples.iter().enumerate() {
            // From the object to the root.
            stack.clear();
            columns::push(&mut stack, id(sample.leaf))?;
            let mut next = Some(sample.group);
            while let Some(group) = next {
                columns::push(&mut stack, id(frames.steps[group.0 as usize]))?;
                next = match groups.info(group).start {
                    GroupStart::Step(before, _) => Some(before),
                    GroupStart::Root(_) | GroupStart::Rest => None,
                };
            }
            self.message(field::profile::SAMPLE, |message| {
                packed(message, field::sample::LOCATION_ID, &stack)?;
                packed(message, field::sample::VALUE, &[sample.count, sample.size])
            })?;
            report(nth, step)?;
        }
        Ok(())
    }

    /// A location and a function for every frame.
    fn locations(&mut self, count: usize, step: &Step<'_>) -> Result<()> {
        let mut line = Vec::new();
        for nth in 0..count as u32 {
            line.clear();
            self.message(field::profile::LOCATION, |message| {
                number(message, field::location::ID, id(nth))?;
                number(message, field::location::MAPPING_ID, MAPPING)?;
                number(
                    &mut Message::new(&mut line),
                    field::line::FUNCTION_ID,
                    id(nth),
                )?;
                let tag = field::location::LINE << 3 | BYTES;
                message.write_with_tag(tag, |message| message.write_bytes(&line))
            })?;
            let name = STRINGS.len() as u64 + u64::from(nth);
            // A name that is also the system's would be taken for one of C++, and lose what is in brackets.
            self.message(field::profile::FUNCTION, |message| {
                number(message, field::function::ID, id(nth))?;
                number(message, field::function::NAME, name)
            })?;
            report(nth as usize, step)?;
        }
        Ok(())
    }

    fn strings(&mut self, heap: &LoadedHeap, keys: &[FrameKey], step: &Step<'_>) -> Result<()> {
        for text in STRINGS {
            self.string(text)?;
        }
        for (nth, &key) in keys.iter().enumerate() {
            self.string(&frame_name(heap, key))?;
            report(nth, step)?;
        }
        Ok(())
    }
}

/// The id of a frame, of its location and of its function: 0 stands for none.
fn id(frame: u32) -> u64 {
    u64::from(frame) + 1
}

fn report(nth: usize, step: &Step<'_>) -> Result<()> {
    if nth.is_multiple_of(REPORT) {
        step.advance(REPORT as u64)
    } else {
        Ok(())
    }
}

fn frame_name(heap: &LoadedHeap, key: FrameKey) -> String {
    match key {
        FrameKey::Root(origin) => origin_text(heap, origin),
        FrameKey::Step(class_slot, label) => step_text(heap, class_slot, label).0,
        FrameKey::Class(class_slot) => heap.slot_name(class_slot).to_owned(),
        FrameKey::LeftOut => questions::LEFT_OUT.to_owned(),
    }
}

//! Files that are not heap dumps, but contain the memory of a program: compressed files, coredumps, and raw memory.
//! Each becomes the heap dump that a host would have written at the same moment.

use base::control::Control;
use base::error::{Error, Result};
use base::input::Input;
use base::tolerance::Tolerance;
use base::trap::{Trap, TrapFrame};
use base::units::{Address, GlobalIndex};
use base::warning::Warning;
use dumps::{
    Compression, ContainerError, Coredump, CoredumpFrame, CoredumpInstance, Header, HostRoot,
    dump_of_raw_memory,
};
use instrument::{Boundaries, Boundary};
use questions::{QuestionError, SampledBlocks};
use wasm::module::{Global, Module};
use wasm::symbols::Symbols;

use crate::InputError;
use crate::raw_memory_warning::RawMemoryWarning;

/// The most frames that a summary lists.
const MOST_FRAMES: usize = 100;
/// The most instances that an error lists.
const MOST_INSTANCES: usize = 20;

/// How a file is read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Problems that do not stop the analysis.
    pub tolerance: Tolerance,
    /// That the file is raw memory, and the values of globals by name or index.
    pub raw: Option<Vec<(String, u32)>>,
    /// Of a coredump with several instances of the module, the number of the one that is read.
    pub instance: Option<u32>,
    /// The blocks of a profile of the same moment, which names the lines that allocated them.
    pub profile: Option<SampledBlocks>,
    /// Pointers that the host held when a dump of C, C++, Rust or Zig was taken.
    pub host_roots: Vec<HostRoot>,
    /// The most bytes that the contents of a compressed file and the memory of a coredump may have; of heaps that are joined,
    /// those of all files together.
    pub largest: Option<u64>,
}

impl From<Tolerance> for Reading {
    fn from(tolerance: Tolerance) -> Self {
        Self {
            tolerance,
            ..Self::default()
        }
    }
}

/// What comes with a dump out of another container.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    pub(crate) trap: Option<Trap>,
    pub(crate) warnings: Vec<Warning>,
}

/// What a file is inside of.
trait Container: Sync {
    /// Whether a file is one.
    fn recognise(&self, file: &[u8], reading: &Reading) -> bool;

    /// The contents of a file, and what else it says.
    ///
    /// # Errors
    /// [`ContainerError`], [`InputError::ModuleMissing`], the errors of the module around its name, [`Error::Aborted`].
    fn unpack(
        &self,
        file: &[u8],
        module: Option<Input<'_>>,
        reading: &Reading,
        control: &Control,
    ) -> Result<(Vec<u8>, Origin)>;
}

/// All containers, in the order in which they are opened: each at most once.
static CONTAINERS: [&dyn Container; 3] = [&CompressedFile, &RawMemory, &CoredumpFile];

/// The contents of a file as a heap dump or a heap snapshot. The bytes of the file are dropped if they are not these.
///
/// # Errors
/// [`Error::InFile`] around those of [`Container::unpack`].
pub(crate) fn unpacked<'n, Bytes: AsRef<[u8]> + From<Vec<u8>>>(
    file: Input<'n, Bytes>,
    module: Option<&Input<'_, impl AsRef<[u8]>>>,
    reading: &Reading,
    control: &Control,
) -> Result<(Input<'n, Bytes>, Origin)> {
    let Input { name, mut bytes } = file;
    let mut origin = Origin::default();
    for container in CONTAINERS {
        if container.recognise(bytes.as_ref(), reading) {
            let contents = container.unpack(
                bytes.as_ref(),
                module.map(Input::borrowed),
                reading,
                control,
            );
            let (contents, found) = contents.map_err(|error| error.in_file(name))?;
            bytes = contents.into();
            origin = found;
        }
    }
    Ok((Input { name, bytes }, origin))
}

/// The most bytes that the contents may have.
fn largest(reading: &Reading) -> u64 {
    reading.largest.unwrap_or(dumps::LARGEST)
}

/// A compressed file.
struct CompressedFile;

impl Container for CompressedFile {
    fn recognise(&self, file: &[u8], _: &Reading) -> bool {
        Compression::of(file).is_some()
    }

    fn unpack(
        &self,
        file: &[u8],
        _: Option<Input<'_>>,
        reading: &Reading,
        control: &Control,
    ) -> Result<(Vec<u8>, Origin)> {
        let contents = match Compression::of(file) {
            Some(format) => format.decompress(file, largest(reading), control)?,
            None => Vec::new(),
        };
        Ok((contents, Origin::default()))
    }
}

/// Memory without a header, if the caller says so.
struct RawMemory;

impl Container for RawMemory {
    fn recognise(&self, _: &[u8], reading: &Reading) -> bool {
        reading.raw.is_some()
    }

    fn unpack(
        &self,
        file: &[u8],
        module: Option<Input<'_>>,
        reading: &Reading,
        _: &Control,
    ) -> Result<(Vec<u8>, Origin)> {
        let values = reading.raw.as_deref().unwrap_or_default();
        ContainerModule::read(module)?.dump_of_raw(file, values)
    }
}

/// A coredump of WebAssembly.
struct CoredumpFile;

impl Container for CoredumpFile {
    fn recognise(&self, file: &[u8], _: &Reading) -> bool {
        Coredump::begins(file)
    }

    fn unpack(
        &self,
        file: &[u8],
        module: Option<Input<'_>>,
        reading: &Reading,
        control: &Control,
    ) -> Result<(Vec<u8>, Origin)> {
        ContainerModule::read(module)?.dump_of_coredump(file, reading, control)
    }
}

/// The module whose memory is in a container.
struct ContainerModule<'a> {
    wasm: &'a [u8],
    module: Module<'a>,
    boundaries: Boundaries,
}

impl<'a> ContainerModule<'a> {
    fn read(input: Option<Input<'a>>) -> Result<Self> {
        let input = input.ok_or(InputError::ModuleMissing)?;
        let wasm = input.bytes;
        let read = || {
            let module = Module::parse(wasm, &Control::default())?;
            let boundaries = Boundaries::of_module(wasm, &module)?;
            Ok(Self {
                wasm,
                module,
                boundaries,
            })
        };
        read().map_err(|error: Error| error.in_file(input.name))
    }

    /// The header of a dump with these values of globals.
    fn header(&self, value: impl Fn(&Global<'_>) -> u32) -> Header {
        let globals = &self.module.globals;
        let at = |boundary| match boundary {
            Boundary::Folded(address) => Address(address),
            Boundary::Global(index) => Address(globals.get(index).map_or(0, &value)),
        };
        Header {
            data_end: at(self.boundaries.data_end),
            heap_base: at(self.boundaries.heap_base),
            stack_pointer: at(self.boundaries.stack_pointer),
            globals: self.mutable_globals().map(&value).collect(),
        }
    }

    /// The globals whose values are in a dump.
    fn mutable_globals(&self) -> impl Iterator<Item = &Global<'a>> {
        let globals = self.module.globals.iter();
        globals.filter(|global| global.dump_position.is_some())
    }

    fn dump_of_raw(&self, memory: &[u8], values: &[(String, u32)]) -> Result<(Vec<u8>, Origin)> {
        let mut given = vec![None; self.module.globals.iter().len()];
        for (name, value) in values {
            let index = self.global(name)?;
            if let Some(slot) = given.get_mut(index.0 as usize) {
                *slot = Some(*value);
            }
        }
        let value_of = |global: &Global<'_>| given.get(global.index.0 as usize).copied().flatten();
        let mut header = self.header(|global| value_of(global).or(global.initial).unwrap_or(0));
        let mut warnings = Vec::new();
        let mut missing = self
            .mutable_globals()
            .filter(|&global| value_of(global).is_none());
        if values.is_empty() {
            // The engine warns of a dump without values.
            header.globals.clear();
        } else if let Some(first) = missing.next() {
            warnings.push(
                RawMemoryWarning::GlobalsAssumed {
                    name: first
                        .name
                        .map_or_else(|| first.index.to_string(), str::to_owned),
                    count: 1 + missing.count() as u64,
                }
                .into(),
            );
        }
        let stack = match self.boundaries.stack_pointer {
            Boundary::Global(index) => self.module.globals.get(index),
            Boundary::Folded(_) => None,
        };
        if stack.is_some_and(|stack| stack.mutable && value_of(stack).is_none()) {
            header.stack_pointer = header.heap_base;
            warnings.push(RawMemoryWarning::StackAssumedEmpty.into());
        }
        let dump = dump_of_raw_memory(memory, &header)?;
        let trap = None;
        Ok((dump, Origin { trap, warnings }))
    }

    /// The global with this name or index. Only one whose value is an address, and that can change, is accepted.
    fn global(&self, name: &str) -> Result<GlobalIndex> {
        let globals = &self.module.globals;
        let by_index = || globals.get(GlobalIndex(name.parse().ok()?));
        let found = globals
            .named(name)
            .or_else(|| globals.exported(name))
            .or_else(by_index)
            .filter(|global| global.is_i32);
        found.map(|global| global.index).ok_or_else(|| {
            Error::from(QuestionError::InvalidOption {
                name: "global",
                found: name.to_owned(),
                expected: "the name or the index of an i32 global of the module",
            })
        })
    }

    fn dump_of_coredump(
        &self,
        file: &[u8],
        reading: &Reading,
        control: &Control,
    ) -> Result<(Vec<u8>, Origin)> {
        let coredump = Coredump::parse(file, control)?;
        coredump.check_memory()?;
        let (number, instance) = self.instance(&coredump, reading)?;
        let globals = coredump.globals_of(instance).unwrap_or_default();
        let value = |global: &Global<'_>| {
            let found = globals.get(global.index.0 as usize);
            found.and_then(|found| found.i32_value).unwrap_or(0)
        };
        let dump = coredump.dump_of(instance, &self.header(value), largest(reading), control)?;
        let module = instance.module;
        let is_of_module = |frame: &&CoredumpFrame| {
            let other = coredump.instances.get(frame.instance as usize);
            frame.instance == number || other.is_some_and(|other| other.module == module)
        };
        let frames = coredump.frames.iter().filter(is_of_module);
        let trap = Some(self.trap(&frames.copied().collect::<Vec<_>>()));
        let warnings = Vec::new();
        Ok((dump, Origin { trap, warnings }))
    }

    /// The instance of the module, and its number.
    fn instance<'c>(
        &self,
        coredump: &'c Coredump<'_>,
        reading: &Reading,
    ) -> Result<(u32, &'c CoredumpInstance)> {
        let numbered = || (0..).zip(&coredump.instances);
        let fitting: Vec<u32> = numbered()
            .filter(|(_, instance)| self.fits(coredump, instance))
            .map(|(number, _)| number)
            .collect();
        let chosen = match (reading.instance, &fitting[..]) {
            (Some(number), _) => fitting.contains(&number).then_some(number),
            (None, &[only]) => Some(only),
            _ => None,
        };
        if let Some(found) = numbered().find(|&(number, _)| Some(number) == chosen) {
            return Ok(found);
        }
        let listed = numbered().take(MOST_INSTANCES).map(|(number, instance)| {
            let name = coredump.module_name(instance.module);
            let fits = if fitting.contains(&number) {
                " (fits)"
            } else {
                ""
            };
            format!("{number} of {name}{fits}")
        });
        let instances = listed.collect::<Vec<_>>().join(", ");
        let error = if fitting.is_empty() {
            ContainerError::CoredumpModule { instances }
        } else {
            ContainerError::CoredumpInstance {
                found: fitting.len(),
                asked: reading.instance,
                instances,
            }
        };
        Err(error.into())
    }

    /// Whether an instance has the globals of the module: as many, and of the same types.
    fn fits(&self, coredump: &Coredump<'_>, instance: &CoredumpInstance) -> bool {
        let Some(found) = coredump.globals_of(instance) else {
            return false;
        };
        let expected = &self.module.globals;
        found.len() == expected.iter().len()
            && expected.iter().zip(&found).all(|(expected, found)| {
                expected.mutable == found.mutable && expected.is_i32 == found.i32_value.is_some()
            })
    }

    fn trap(&self, frames: &[CoredumpFrame]) -> Trap {
        // Damaged names leave the indexes of functions.
        let symbols = Symbols::read(self.wasm, None).ok();
        let named = frames.iter().take(MOST_FRAMES).flat_map(|frame| {
            let (index, offset) = (frame.function, frame.offset);
            let body = self.module.functions.body(index);
            let at = body.map(|body| body.range().start + u64::from(offset));
            let found = symbols
                .as_ref()
                .zip(at)
                .map(|(symbols, at)| symbols.frames(at))
                .unwrap_or_else(|| {
                    vec![base::frame::Frame {
                        function: format!("wasm-function[{index}]"),
                        ..base::frame::Frame::default()
                    }]
                });
            found.into_iter().map(move |found| TrapFrame {
                function: found.function,
                index,
                offset,
                file: found.file,
                line: found.line,
            })
        });
        Trap {
            frames: named.take(MOST_FRAMES).collect(),
            total: frames.len() as u64,
        }
    }
}

//! Coredumps of WebAssembly, as wasmtime writes them after a trap: the memories, the values of all globals, and the
//! frames of the trap. The module, its names and its tables are not in them.
//!
//! A coredump is encoded as a module whose first section is named `core`. What is not in a data segment is zero.

use crate::ContainerError;
use base::columns;
use base::control::Control;
use base::error::Result;
use base::file_kind::FileKind;
use wasmparser::{
    BinaryReader, BinaryReaderError, CoreDumpInstancesSection, CoreDumpModulesSection,
    CoreDumpStackSection, CustomSectionReader, Data, DataKind, MemoryType, Operator, Parser,
    Payload, ValType,
};

use crate::image::Header;
use crate::proportion::Proportion;

const PAGE: u64 = 1 << 16;
/// The pages of a full wasm32 memory.
const MOST_PAGES: u64 = 1 << 16;
/// The most bytes of a section with frames or instances: its entries take up to 24 times as much.
const LARGEST_LIST: usize = 1 << 20;
/// The number that wasmtime writes for a memory that it left out.
const ABSENT: u32 = u32::MAX;

/// The parts of a coredump. It borrows the bytes of the file.
#[derive(Debug, Default)]
pub struct Coredump<'a> {
    /// The instances of the store.
    pub instances: Vec<CoredumpInstance>,
    /// The frames of the trap, the innermost first, those of all threads one after the other.
    pub frames: Vec<CoredumpFrame>,
    modules: Vec<&'a str>,
    globals: Vec<CoredumpGlobal>,
    memories: Vec<MemoryType>,
    segments: Vec<Segment<'a>>,
    has_data: bool,
    length: u64,
}

/// An instance of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoredumpInstance {
    /// The number of its module.
    pub module: u32,
    memories: Vec<u32>,
    globals: Vec<u32>,
}

/// A global of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoredumpGlobal {
    /// Its value, if its type is i32.
    pub i32_value: Option<u32>,
    /// Whether the program can change it.
    pub mutable: bool,
}

/// A frame of the trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoredumpFrame {
    /// The number of the instance.
    pub instance: u32,
    /// The index of the function in its module.
    pub function: u32,
    /// The offset of the instruction from the start of the function's body.
    pub offset: u32,
}

#[derive(Debug)]
struct Segment<'a> {
    memory: u32,
    start: u64,
    bytes: &'a [u8],
    offset: u64,
}

impl<'a> Coredump<'a> {
    /// Whether a file begins as a coredump does.
    pub fn begins(file: &[u8]) -> bool {
        FileKind::of(file) == Some(FileKind::Coredump)
    }

    /// Reads a coredump. Nothing is allocated for its memory.
    ///
    /// # Errors
    /// [`ContainerError::Coredump`] with the offset in the file, [`Error::OutOfMemory`](base::Error::OutOfMemory),
    /// [`Error::Aborted`](base::Error::Aborted).
    pub fn parse(file: &'a [u8], control: &Control) -> Result<Self> {
        let mut coredump = Self {
            length: file.len() as u64,
            ..Self::default()
        };
        for payload in Parser::new(0).parse_all(file) {
            control.check()?;
            match payload.map_err(unreadable)? {
                Payload::CustomSection(section) => coredump.read_custom(&section)?,
                Payload::MemorySection(section) => {
                    for memory in section {
                        control.count(1)?;
                        columns::push(&mut coredump.memories, memory.map_err(unreadable)?)?;
                    }
                }
                Payload::GlobalSection(section) => {
                    for global in section {
                        control.count(1)?;
                        let global = value_of(&global.map_err(unreadable)?)?;
                        columns::push(&mut coredump.globals, global)?;
                    }
                }
                Payload::DataSection(section) => {
                    coredump.has_data = true;
                    for data in section.into_iter_with_offsets() {
                        control.count(1)?;
                        let (offset, data) = data.map_err(unreadable)?;
                        columns::push(&mut coredump.segments, segment(offset, &data)?)?;
                    }
                }
                _ => {}
            }
        }
        Ok(coredump)
    }

    fn read_custom(&mut self, section: &CustomSectionReader<'a>) -> Result<()> {
        let name = section.name();
        if !["coremodules", "coreinstances", "corestack"].contains(&name) {
            return Ok(());
        }
        let (data, offset) = (section.data(), section.data_offset());
        if data.len() > LARGEST_LIST {
            let message = format!(
                "section {name} has {} bytes, expected at most {LARGEST_LIST}",
                data.len()
            );
            return Err(ContainerError::Coredump { offset, message }.into());
        }
        let reader = BinaryReader::new(data, offset);
        match name {
            "coremodules" => {
                let read = CoreDumpModulesSection::new(reader);
                self.modules = read.map_err(unreadable)?.modules;
            }
            "coreinstances" => {
                let read = CoreDumpInstancesSection::new(reader);
                let instances = read
                    .map_err(unreadable)?
                    .instances
                    .into_iter()
                    .map(|instance| CoredumpInstance {
                        module: instance.module_index,
                        memories: instance.memories,
                        globals: instance.globals,
                    });
                self.instances.extend(instances);
            }
            _ => {
                let frames = CoreDumpStackSection::new(reader)
                    .map_err(unreadable)?
                    .frames;
                self.frames.extend(frames.iter().map(|frame| CoredumpFrame {
                    instance: frame.instanceidx,
                    function: frame.funcidx,
                    offset: frame.codeoffset,
                }));
            }
        }
        Ok(())
    }

    /// The globals of an instance in wasm global index order; `None` if it names one that there is not.
    pub fn globals_of(&self, instance: &CoredumpInstance) -> Option<Vec<CoredumpGlobal>> {
        let global = |&index: &u32| self.globals.get(index as usize).copied();
        instance.globals.iter().map(global).collect()
    }

    /// The name of a module, as the host gave it.
    pub fn module_name(&self, module: u32) -> &'a str {
        self.modules
            .get(module as usize)
            .copied()
            .unwrap_or_default()
    }

    /// Refuses a coredump without memory, such as those of WasmEdge, and one whose memories belong to no instance.
    ///
    /// # Errors
    /// [`ContainerError::CoredumpWithoutMemory`], [`ContainerError::Coredump`].
    pub fn check_memory(&self) -> Result<()> {
        let found = if self.memories.is_empty() {
            "no memories"
        } else if !self.has_data {
            "no data of a memory"
        } else if self.instances.is_empty() {
            // The first tools that wrote coredumps did not list instances.
            let message = "no instances, so it is not known whose the memories are".to_owned();
            return Err(ContainerError::Coredump { offset: 0, message }.into());
        } else {
            return Ok(());
        };
        Err(ContainerError::CoredumpWithoutMemory { found }.into())
    }

    /// A heap dump of the memory of an instance, of at most `largest` bytes.
    ///
    /// # Errors
    /// [`ContainerError::Coredump`], [`ContainerError::CoredumpWithoutMemory`],
    /// [`ContainerError::OutOfProportion`] before anything is allocated;
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub fn dump_of(
        &self,
        instance: &CoredumpInstance,
        header: &Header,
        largest: u64,
        control: &Control,
    ) -> Result<Vec<u8>> {
        let absent = |found| ContainerError::CoredumpWithoutMemory { found };
        let memory = match instance.memories[..] {
            [] => return Err(absent("an instance without a memory").into()),
            [ABSENT] => return Err(absent("a shared memory, which is left out").into()),
            [memory] => memory,
            _ => {
                let count = instance.memories.len();
                let message = format!("the instance has {count} memories, expected one");
                return Err(ContainerError::Coredump { offset: 0, message }.into());
            }
        };
        let size = self.memory_size(memory)?;
        Proportion::of(self.length, largest).check("the memory in the coredump", size)?;
        let (mut file, start) = header.with_zeros(size)?;
        let bytes = &mut file[start..];
        for segment in &self.segments {
            control.check()?;
            if segment.memory != memory {
                continue;
            }
            let end = segment.start + segment.bytes.len() as u64;
            if end > size {
                return Err(ContainerError::Coredump {
                    offset: segment.offset,
                    message: format!(
                        "a data segment ends at address {end}, but the memory has {size} bytes"
                    ),
                }
                .into());
            }
            // Both are at most the size of the memory, which is in memory.
            bytes[segment.start as usize..end as usize].copy_from_slice(segment.bytes);
        }
        Ok(file)
    }

    fn memory_size(&self, memory: u32) -> Result<u64> {
        let wrong = |message: String| ContainerError::Coredump { offset: 0, message };
        let Some(ty) = self.memories.get(memory as usize) else {
            let count = self.memories.len();
            return Err(wrong(format!(
                "an instance has memory {memory}, but there are {count} memories"
            ))
            .into());
        };
        if ty.memory64 || ty.page_size_log2.is_some() {
            return Err(wrong(
                "the memory is a 64-bit memory, or has pages of another size than 64 KiB"
                    .to_owned(),
            )
            .into());
        }
        if ty.initial > MOST_PAGES {
            return Err(wrong(format!(
                "the memory has {} pages, expected at most {MOST_PAGES}",
                ty.initial
            ))
            .into());
        }
        Ok(ty.initial * PAGE)
    }
}

fn unreadable(error: BinaryReaderError) -> ContainerError {
    let words: Vec<&str> = error.message().split_whitespace().collect();
    ContainerError::Coredump {
        offset: error.offset(),
        message: words.join(" "),
    }
}

fn value_of(global: &wasmparser::Global<'_>) -> Result<CoredumpGlobal> {
    let mut i32_value = None;
    if global.ty.content_type == ValType::I32 {
        let mut operators = global.init_expr.get_operators_reader();
        if let Operator::I32Const { value } = operators.read().map_err(unreadable)? {
            i32_value = Some(value as u32);
        }
    }
    Ok(CoredumpGlobal {
        i32_value,
        mutable: global.ty.mutable,
    })
}

fn segment<'a>(offset: u64, data: &Data<'a>) -> Result<Segment<'a>> {
    let wrong = |message: &str| ContainerError::Coredump {
        offset,
        message: message.to_owned(),
    };
    let DataKind::Active {
        memory_index,
        offset_expr,
    } = &data.kind
    else {
        return Err(wrong("a data segment without an address").into());
    };
    let mut operators = offset_expr.get_operators_reader();
    let start = match operators.read().map_err(unreadable)? {
        // Addresses from 2 GiB on are negative there.
        Operator::I32Const { value } => u64::from(value as u32),
        _ => return Err(wrong("a data segment whose address is no constant").into()),
    };
    Ok(Segment {
        memory: *memory_index,
        start,
        bytes: data.data,
        offset,
    })
}

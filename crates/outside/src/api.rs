//! What a host asks, and what it is answered: plain data for JSON.

use std::fs::File;
use std::path::PathBuf;

use base::control::Control;
use base::error::{Error, Result};
use base::file_action::FileAction;
use serde::{Deserialize, Serialize};

use crate::OutsideError;
use crate::core_file::CoreFile;
use crate::modules::FoundModule;
use crate::sightings::{LinearMemory, Sightings, Wanted};
use crate::target::Target;

/// What to read.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum TargetName {
    /// A running process.
    Process {
        /// Its id.
        pid: u32,
        /// When it began, to be sure that it is the same one: what [`Described::since`] says.
        since: Option<u64>,
    },
    /// A core file.
    Core {
        /// Its path.
        path: PathBuf,
    },
}

/// A process or a core file with its memories.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Described {
    /// The program's name, of a process.
    pub program: Option<String>,
    /// When the process began, in ticks since the system did.
    pub since: Option<u64>,
    /// By address.
    pub memories: Vec<DescribedMemory>,
}

/// A memory of a process.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DescribedMemory {
    /// Where it begins in the process.
    pub address: u64,
    /// In bytes.
    pub size: u64,
    /// Bytes in pages of 4 KiB that are not only zeros.
    pub used_size: u64,
    /// The beginning of the SHA-256 of its module, if that was found.
    pub module: Option<String>,
    /// Why the module was not found.
    pub why_no_module: Option<String>,
}

/// A process with a memory.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessWithMemories {
    /// Its id.
    pub pid: u32,
    /// Its program.
    pub program: String,
    /// By address.
    pub memories: Vec<DescribedMemory>,
}

/// All processes that have one.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AllMemories {
    /// By id.
    pub processes: Vec<ProcessWithMemories>,
    /// How many processes of the same user could not be read.
    pub unreadable: u32,
    /// Why the first of them could not be read.
    pub why_unreadable: Option<String>,
}

/// How a dump was taken.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DumpTaken {
    /// The size of the memory in bytes.
    pub size: u64,
    /// Milliseconds for which the process stood still; nothing for a core file.
    pub pause: Option<f64>,
    /// The engine in whose order the globals lie.
    pub engine: &'static str,
    /// How many moments were tried.
    pub tries: u32,
}

/// Opens what a name stands for.
///
/// # Errors
/// Those of [`OutsideError`].
pub fn open(name: &TargetName) -> Result<Target> {
    match name {
        TargetName::Process { pid, since } => process(*pid, *since),
        TargetName::Core { path } => {
            let file = File::open(path).map_err(|source| {
                let action = FileAction::Open;
                Error::Io { action, source }.in_file(path.to_string_lossy())
            })?;
            CoreFile::open(file)
                .map(Target::Core)
                .map_err(|error| error.in_file(path.to_string_lossy()))
        }
    }
}

#[cfg(target_os = "linux")]
fn process(pid: u32, since: Option<u64>) -> Result<Target> {
    let wrong = |why: &str| OutsideError::Process {
        pid,
        why: why.into(),
    };
    if pid == std::process::id() {
        return Err(wrong("a process cannot stop itself").into());
    }
    let process = crate::process::Process::open(pid)?;
    if since.is_some_and(|since| since != process.since) {
        return Err(wrong("it has ended, and its id is that of another process now").into());
    }
    Ok(Target::Process(process))
}

#[cfg(not(target_os = "linux"))]
fn process(pid: u32, _: Option<u64>) -> Result<Target> {
    let why = "only Linux lets a process read the memory of another".to_owned();
    Err(OutsideError::Process { pid, why }.into())
}

/// Describes a target: its memories, and the module of each.
///
/// # Errors
/// Those of [`OutsideError`].
pub fn describe(name: &TargetName, wasm: Option<&[u8]>, control: &Control) -> Result<Described> {
    let target = open(name)?;
    let found = target.search(Wanted::MemoriesAndModules, control)?;
    let (program, since) = match &target {
        #[cfg(target_os = "linux")]
        Target::Process(process) => (Some(process.program.clone()), Some(process.since)),
        Target::Core(_) => (None, None),
    };
    let mut memories = Vec::new();
    for memory in &found.memories {
        let module = target.module(&found, memory, wasm, control);
        memories.push(described(&target, memory, Some(module), control)?);
    }
    Ok(Described {
        program,
        since,
        memories,
    })
}

fn described(
    target: &Target,
    memory: &LinearMemory,
    module: Option<Result<FoundModule>>,
    control: &Control,
) -> Result<DescribedMemory> {
    let (module, why_no_module) = match module {
        Some(Err(error @ Error::Aborted)) => return Err(error),
        Some(Err(error)) => (None, Some(error.to_string())),
        Some(Ok(found)) => (Some(found.name), None),
        None => (None, None),
    };
    Ok(DescribedMemory {
        address: memory.range.start,
        size: memory.range.end - memory.range.start,
        used_size: target.used(memory, control)?,
        module,
        why_no_module,
    })
}

/// The module of a memory.
///
/// # Errors
/// Those of [`OutsideError`].
pub fn module(
    name: &TargetName,
    address: u64,
    wasm: Option<&[u8]>,
    control: &Control,
) -> Result<Vec<u8>> {
    let target = open(name)?;
    let found = target.search(Wanted::MemoriesAndModules, control)?;
    let memory = memory_at(&target, &found, address)?;
    Ok(target.module(&found, memory, wasm, control)?.wasm)
}

/// Writes a dump of a memory into a new file.
///
/// # Errors
/// Those of [`OutsideError`].
pub fn dump(
    name: &TargetName,
    address: u64,
    wasm: &[u8],
    tries: u32,
    output: &File,
    control: &Control,
) -> Result<DumpTaken> {
    let mut target = open(name)?;
    let found = target.search(Wanted::MemoriesAndModules, control)?;
    let memory = memory_at(&target, &found, address)?;
    target.module(&found, memory, Some(wasm), control)?;
    let taken = target.take(memory, wasm, tries, control)?;
    let failed = |source| Error::from(OutsideError::Write { source });
    // What is not written after this is a hole, of zeros.
    write_at(output, taken.moment.file_size() - 1, &[0]).map_err(failed)?;
    taken.moment.write(control, |offset, bytes| {
        write_at(output, offset, bytes).map_err(failed)
    })?;
    let pause = match &target {
        Target::Core(_) => None,
        #[cfg(target_os = "linux")]
        Target::Process(_) => Some(taken.moment.pause.as_secs_f64() * 1000.0),
    };
    Ok(DumpTaken {
        size: taken.moment.size,
        pause,
        engine: taken.engine,
        tries: taken.tries,
    })
}

fn memory_at<'f>(target: &Target, found: &'f Sightings, address: u64) -> Result<&'f LinearMemory> {
    let is_it = |memory: &&LinearMemory| memory.range.start == address;
    found.memories.iter().find(is_it).ok_or_else(|| {
        let what = target.name();
        let why = "it had one at this address before";
        OutsideError::NoMemory { what, why }.into()
    })
}

fn write_at(mut file: &File, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

/// All processes of this user that have a memory, or these.
///
/// # Errors
/// [`OutsideError::Refused`] and others, if processes are named.
#[cfg(target_os = "linux")]
pub fn all_memories(pids: Option<&[u32]>, control: &Control) -> Result<AllMemories> {
    use crate::process::{Process, all_processes, own_user, owner_of};
    use std::path::Path;
    let proc = Path::new("/proc");
    let user = own_user();
    let every = match pids {
        Some(pids) => pids.to_vec(),
        None => all_processes(proc)
            .map_err(|source| {
                let action = FileAction::Open;
                Error::Io { action, source }.in_file("/proc")
            })?
            .into_iter()
            .filter(|&pid| pid != std::process::id())
            .filter(|&pid| user == 0 || owner_of(proc, pid) == Some(user))
            .collect(),
    };
    let mut all = AllMemories::default();
    for pid in every {
        control.check()?;
        match Process::open(pid) {
            Ok(process) => all.add(Target::Process(process), control)?,
            Err(error) if pids.is_some() => return Err(error),
            Err(error) if matches!(error.own(), Some(OutsideError::Refused { .. })) => {
                all.unreadable += 1;
                all.why_unreadable.get_or_insert(error.to_string());
            }
            // It has ended meanwhile, or is a part of the system.
            Err(_) => {}
        }
    }
    Ok(all)
}

/// Processes can be read on Linux only.
#[cfg(not(target_os = "linux"))]
pub fn all_memories(_: Option<&[u32]>, _: &Control) -> Result<AllMemories> {
    process(0, None).map(|_| AllMemories::default())
}

#[cfg(target_os = "linux")]
impl AllMemories {
    fn add(&mut self, target: Target, control: &Control) -> Result<()> {
        let found = Sightings::search(target.space(), Wanted::Memories, control)?;
        let mut memories = Vec::new();
        for memory in &found.memories {
            memories.push(described(&target, memory, None, control)?);
        }
        if let Target::Process(process) = target
            && !memories.is_empty()
        {
            self.processes.push(ProcessWithMemories {
                pid: process.pid,
                program: process.program,
                memories,
            });
        }
        Ok(())
    }
}

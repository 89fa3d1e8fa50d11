//! What memories are read from: a running process, or a core file.

use std::ops::Range;
use std::time::Duration;

use base::control::Control;
use base::error::{Error, Result};

use crate::OutsideError;
use crate::core_file::CoreFile;
use crate::globals::find_globals;
use crate::layout::GlobalLayout;
use crate::modules::{FoundModule, code_of, data_share, module_of, modules, name_of};
use crate::moment::{Prepared, Taken, used_bytes};
use crate::sightings::{LinearMemory, Sightings, Wanted};
use crate::space::AddressSpace;

#[cfg(target_os = "linux")]
use crate::process::Process;

/// A process or a core file.
pub enum Target {
    /// A process that runs.
    #[cfg(target_os = "linux")]
    Process(Process),
    /// What is left of one.
    Core(CoreFile),
}

impl Target {
    /// The address space.
    pub fn space(&self) -> &dyn AddressSpace {
        match self {
            #[cfg(target_os = "linux")]
            Self::Process(process) => process,
            Self::Core(core) => core,
        }
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        match self {
            #[cfg(target_os = "linux")]
            Self::Process(process) => format!("process {} ({})", process.pid, process.program),
            Self::Core(_) => "the core file".to_owned(),
        }
    }

    /// Its memories, and the modules in it if they are wanted.
    ///
    /// # Errors
    /// [`OutsideError::NoMemory`].
    pub fn search(&self, wanted: Wanted, control: &Control) -> Result<Sightings> {
        let found = Sightings::search(self.space(), wanted, control)?;
        if found.memories.is_empty() {
            let what = self.name();
            let why = "looked for writable pages of 64 KiB with 4 GiB of reserved addresses, whose address and size the engine keeps; engines that check bounds in code reserve none";
            return Err(OutsideError::NoMemory { what, why }.into());
        }
        Ok(found)
    }

    /// How many bytes of a memory are in pages that are not zero.
    pub fn used(&self, memory: &LinearMemory, control: &Control) -> Result<u64> {
        used_bytes(self.space(), &self.filled(&memory.range), control)
    }

    /// The module of a memory: the given one if the memory is one of it, otherwise the one in the process.
    ///
    /// # Errors
    /// [`OutsideError::OtherModule`], [`OutsideError::OtherCode`], [`OutsideError::NoModule`].
    pub fn module(
        &self,
        found: &Sightings,
        memory: &LinearMemory,
        given: Option<&[u8]>,
        control: &Control,
    ) -> Result<FoundModule> {
        let space = self.space();
        let in_process = modules(space, &found.modules, control)?;
        let own = module_of(space, memory, in_process, control);
        let Some(wasm) = given else { return own };
        let share = data_share(space, memory, wasm, control)?;
        if share.all > 0 && !share.is_most() {
            let (equal, all) = (share.equal, share.all);
            return Err(OutsideError::OtherModule { equal, all }.into());
        }
        // Programs of one language share most of their data. V8 keeps its modules, whose code tells them apart.
        match own {
            Err(error @ Error::Aborted) => return Err(error),
            Ok(own) if code_of(&own.wasm) != code_of(wasm) => {
                return Err(OutsideError::OtherCode { name: own.name }.into());
            }
            _ => {}
        }
        let wasm = wasm.to_vec();
        let name = name_of(&wasm);
        Ok(FoundModule { wasm, name })
    }

    fn filled(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Process(process) => process.filled(range),
            Self::Core(core) => core.touched(range),
        }
    }

    /// Takes a dump of a memory: of a process, while all of its threads stand still.
    ///
    /// # Errors
    /// [`OutsideError::NoGlobals`], [`OutsideError::Changed`], [`OutsideError::Refused`].
    pub fn take(
        &mut self,
        memory: &LinearMemory,
        wasm: &[u8],
        tries: u32,
        control: &Control,
    ) -> Result<Taken> {
        let layout = GlobalLayout::of(wasm)?;
        match self {
            #[cfg(target_os = "linux")]
            Self::Process(process) => crate::live::take(process, memory, &layout, tries, control),
            Self::Core(core) => {
                let place = find_globals(core, memory, &layout, control)?;
                let size = memory.range.end - memory.range.start;
                let parts = core.touched(&memory.range);
                let values = place.read(core, &layout, size);
                let copied = match values {
                    Some(values) => {
                        Prepared::new(&parts)?.copy(core, &memory.range, parts, values)?
                    }
                    None => None,
                };
                let mut moment = copied.ok_or_else(|| OutsideError::Core {
                    why: "the file ends in the memory: it is truncated".to_owned(),
                })?;
                moment.pause = Duration::ZERO;
                let engine = place.engine();
                Ok(Taken {
                    moment,
                    engine,
                    tries: 1,
                })
            }
        }
    }
}

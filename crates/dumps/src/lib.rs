//! Containers of memory. The one of this package is ASHD: a 24-byte header, the values of the module's mutable i32
//! globals, and the linear memory to the end of the file. [`Coredump`]s and [raw memory](dump_of_raw_memory) become
//! such a dump, with the addresses in its [`Header`] from the module; [`Compression`] unpacks a file before.
//!
//! ```
//! use dumps::Dump;
//!
//! let mut file = b"ASHD".to_vec();
//! for word in [2, 1024, 33792, 33792, 1, 33792] {
//!     file.extend_from_slice(&u32::to_le_bytes(word));
//! }
//! file.resize(file.len() + 65536, 0);
//!
//! let dump = Dump::parse(&file)?;
//! assert_eq!(dump.heap_base.0, 33792);
//! assert_eq!(dump.globals.iter().collect::<Vec<_>>(), [33792]);
//! assert_eq!(dump.memory.size(), 65536);
//! # Ok::<(), base::Error>(())
//! ```

mod compressed;
mod container_error;
mod coredump;
mod error;
mod host_roots;
mod image;
mod memory;
mod proportion;
mod raw_memory;

pub use compressed::Compression;
pub use container_error::ContainerError;
pub use coredump::{Coredump, CoredumpFrame, CoredumpGlobal, CoredumpInstance};
pub use error::DumpError;
pub use host_roots::{HostRoot, HostRoots};
pub use image::Header;
pub use memory::Memory;
pub use raw_memory::dump_of_raw_memory;

use base::error::Result;
use base::file_kind::{DUMP_MAGIC, FileStart};
use base::units::Address;

/// The version of the format that is written.
pub const VERSION: u32 = 2;
/// The bit of the version that marks a dump whose host says which pointers it holds: between the values of globals and the
/// memory are the size of these records in bytes, and the records. The next number is WARPO's to give, hence a bit.
const HOST_ROOTS: u32 = 1 << 31;
/// The bit of the version that marks a dump whose writer saw that no function of the program was running.
const AT_REST: u32 = 1 << 30;
/// The version before it: its header is as long, but no values of globals follow.
const VERSION_WITHOUT_GLOBALS: u32 = 1;
/// The number of bytes before the global values.
pub const HEADER_SIZE: usize = 24;

/// The most bytes that a dump has: a header, a value for each of the at most 1,000,000 globals that engines allow, and
/// 4 GiB of memory.
pub const LARGEST: u64 = HEADER_SIZE as u64 + 4_000_000 + MAX_MEMORY_SIZE;

/// The most bytes that a wasm32 memory can hold.
const MAX_MEMORY_SIZE: u64 = 1 << 32;

/// The parts of a dump file. It borrows the bytes of the file.
#[derive(Clone, Copy, Debug)]
pub struct Dump<'a> {
    /// Where static data ends and the shadow stack begins.
    pub data_end: Address,
    /// Where the shadow stack ends and the allocator begins.
    pub heap_base: Address,
    /// The top of the shadow stack when the dump was taken. Live words are between here and the heap base.
    pub stack_pointer: Address,
    /// The values of the mutable i32 globals.
    pub globals: GlobalValues<'a>,
    /// Whether the writer saw that no function of the program was running. Otherwise this is not known.
    pub is_at_rest: bool,
    /// The pointers that the host held.
    pub host_roots: HostRoots<'a>,
    /// The linear memory.
    pub memory: Memory<'a>,
}

/// The values of the module's mutable i32 globals, in wasm global index order.
#[derive(Clone, Copy, Debug)]
pub struct GlobalValues<'a>(Memory<'a>);

impl<'a> GlobalValues<'a> {
    /// The number of values in the dump. 0 means that its writer could not read globals.
    pub fn len(&self) -> u32 {
        (self.0.size() / 4) as u32
    }

    /// Whether the dump has no values.
    pub fn is_empty(&self) -> bool {
        self.0.size() == 0
    }

    /// The value of the `nth` mutable i32 global.
    pub fn get(&self, nth: u32) -> Option<u32> {
        self.0.word(Address(nth.checked_mul(4)?))
    }

    /// All values in order.
    pub fn iter(self) -> impl Iterator<Item = u32> + 'a {
        self.0.words()
    }
}

impl<'a> Dump<'a> {
    /// The same dump, as if its writer could not read globals.
    pub fn without_globals(&self) -> Self {
        Self {
            globals: GlobalValues(Memory::new(&[])),
            ..*self
        }
    }

    /// Reads a dump file, and checks its header for contradictions.
    ///
    /// # Errors
    /// [`DumpError::Truncated`], [`DumpError::NotADump`], [`DumpError::Version`],
    /// [`DumpError::Boundary`], [`DumpError::BoundaryOrder`] and [`DumpError::TooLarge`], each with
    /// the offset in the file.
    pub fn parse(file: &'a [u8]) -> Result<Self> {
        let truncated = |what, offset: usize, needed: u64| DumpError::Truncated {
            what,
            offset: offset as u64,
            needed,
            length: file.len() as u64,
        };
        let magic = file
            .first_chunk::<4>()
            .ok_or(truncated("the magic \"ASHD\"", 0, 4))?;
        if *magic != DUMP_MAGIC {
            return Err(DumpError::NotADump {
                found: FileStart::of(file),
            }
            .into());
        }
        let header = Memory::new(file.get(..HEADER_SIZE).ok_or(truncated(
            "the header",
            0,
            HEADER_SIZE as u64,
        ))?);
        let field = |offset| header.word(Address(offset)).unwrap_or_default();

        let version = field(4);
        // In version 1, which has no values of globals, the last word of the header is reserved.
        let is_readable = version & !(HOST_ROOTS | AT_REST) == VERSION
            || (version == VERSION_WITHOUT_GLOBALS && field(20) == 0);
        if !is_readable {
            return Err(DumpError::Version { found: version }.into());
        }
        let globals_size = u64::from(field(20)) * 4;
        let memory_start = HEADER_SIZE as u64 + globals_size;
        if memory_start > file.len() as u64 {
            return Err(truncated(
                "the global values (count at offset 20)",
                HEADER_SIZE,
                globals_size,
            )
            .into());
        }
        let (globals, rest) = file[HEADER_SIZE..].split_at(globals_size as usize);
        let (host_roots, memory) = if version & HOST_ROOTS != 0 {
            let size = Memory::new(rest).word(Address(0)).unwrap_or(u32::MAX);
            let what = "the pointers of the host (their size is before them)";
            let cut = truncated(what, memory_start as usize, 4 + u64::from(size));
            let rest = rest.get(4..).unwrap_or_default();
            rest.split_at_checked(size as usize).ok_or(cut)?
        } else {
            (&[][..], rest)
        };
        let memory_size = memory.len() as u64;
        if memory_size > MAX_MEMORY_SIZE {
            return Err(DumpError::TooLarge { memory_size }.into());
        }
        let boundary = |name, offset: u32| {
            let value = Address(field(offset));
            // A program without memory has an empty heap, wherever that would begin.
            if u64::from(value.0) > memory_size && memory_size > 0 {
                return Err(DumpError::Boundary {
                    name,
                    offset: u64::from(offset),
                    value,
                    memory_size,
                });
            }
            Ok(value)
        };
        let data_end = boundary("__data_end", 8)?;
        let heap_base = boundary("__heap_base", 12)?;
        // The stack pointer may lie anywhere. Below the data end, the program ran out of shadow stack; at or
        // above the heap base, the collector finds an empty stack.
        let stack_pointer = Address(field(16));
        if data_end > heap_base {
            return Err(DumpError::BoundaryOrder {
                name: "__data_end",
                offset: 8,
                value: data_end,
                heap_base,
            }
            .into());
        }
        Ok(Self {
            data_end,
            heap_base,
            stack_pointer,
            globals: GlobalValues(Memory::new(globals)),
            is_at_rest: version & AT_REST != 0,
            host_roots: HostRoots::new(host_roots),
            memory: Memory::new(memory),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    fn file(version: u32, last_word: u32) -> Vec<u8> {
        let mut file = DUMP_MAGIC.to_vec();
        for word in [version, 1024, 33792, 33792, last_word] {
            file.extend_from_slice(&word.to_le_bytes());
        }
        file.resize(HEADER_SIZE + (1 << 16), 0);
        file
    }

    #[test]
    fn version_1_is_read_as_a_dump_without_values_of_globals() {
        let file = file(1, 0);
        let dump = Dump::parse(&file).unwrap();
        assert!(dump.globals.is_empty());
        assert_eq!(dump.memory.size(), 1 << 16);
    }

    #[test]
    fn pointers_of_the_host_are_before_the_memory() {
        let mut file = file(HOST_ROOTS | VERSION, 0);
        let records = [12u32, 4096, 4, u32::from_le_bytes(*b"root")];
        let bytes = records.iter().flat_map(|word| word.to_le_bytes());
        file.splice(HEADER_SIZE..HEADER_SIZE, bytes);
        let dump = Dump::parse(&file).unwrap();
        let roots: Vec<_> = dump.host_roots.iter().collect();
        assert_eq!(roots.len(), 1);
        assert_eq!(
            (roots[0].name.as_str(), roots[0].address),
            ("root", Address(4096))
        );
        assert_eq!(dump.memory.size(), 1 << 16);
        file.truncate(HEADER_SIZE + 10);
        assert_eq!(Dump::parse(&file).unwrap_err().code(), "ERR_DUMP_TRUNCATED");
    }

    #[test]
    fn a_writer_may_say_that_no_function_was_running() {
        let is_at_rest = |version| Dump::parse(&file(version, 0)).unwrap().is_at_rest;
        assert!(is_at_rest(AT_REST | VERSION));
        assert!(!is_at_rest(VERSION));
        let error = Dump::parse(&file(AT_REST | 1, 0)).unwrap_err();
        assert!(matches!(error.own(), Some(DumpError::Version { .. })));
    }

    #[test]
    fn version_1_with_anything_in_its_reserved_word_is_refused() {
        let file = file(1, 1);
        let error = Dump::parse(&file).unwrap_err();
        assert!(matches!(error.own(), Some(DumpError::Version { found: 1 })));
    }
}

//! Modules in a process, and which memory is of which.

use base::control::Control;
use base::error::{Error, Result};
use sha2::{Digest, Sha256};
use wasm::module::Module;
use wasmparser::Parser;

use crate::OutsideError;
use crate::sightings::LinearMemory;
use crate::space::{AddressSpace, read_all};

/// The largest module that is taken from a process.
const LARGEST: u64 = 256 << 20;
/// The most sections of a module, and how many of them may be something else that follows it.
const MOST_SECTIONS: usize = 10_000;
const MOST_ENDS: usize = 16;
/// How much of a section is looked at: its kind, its size, and the name of a custom one.
const HEAD: usize = 300;
/// The kinds of custom sections and of code.
const CUSTOM: u8 = 0;
const CODE: u8 = 10;
/// How many bytes of data are compared at once.
const PIECE: usize = 64;

/// A module in the memory of a process.
#[derive(Debug)]
pub struct FoundModule {
    /// Its bytes.
    pub wasm: Vec<u8>,
    /// The beginning of their SHA-256 in hexadecimal.
    pub name: String,
}

/// How much of the data of a module is in a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataShare {
    /// Bytes that are as in the module.
    pub equal: u64,
    /// Bytes that were compared.
    pub all: u64,
}

impl DataShare {
    /// Whether most of it is there.
    pub fn is_most(self) -> bool {
        self.equal * 2 > self.all
    }
}

/// The modules with a memory that begin at these addresses, each once.
pub fn modules(
    space: &dyn AddressSpace,
    starts: &[u64],
    control: &Control,
) -> Result<Vec<FoundModule>> {
    let mut found: Vec<FoundModule> = Vec::new();
    for &start in starts {
        let Some(wasm) = module_at(space, start, control)? else {
            continue;
        };
        if !found.iter().any(|other| other.wasm == wasm) {
            let name = name_of(&wasm);
            found.push(FoundModule { wasm, name });
        }
    }
    Ok(found)
}

/// The module at an address. What follows it may look like sections, so the longest that can be read counts.
fn module_at(space: &dyn AddressSpace, start: u64, control: &Control) -> Result<Option<Vec<u8>>> {
    let ends = section_ends(space, start);
    let Some(&longest) = ends.last() else {
        return Ok(None);
    };
    let mut wasm = base::columns::zeros::<u8>((longest - start) as usize)?;
    if read_all(space, start, &mut wasm).is_none() {
        return Ok(None);
    }
    for end in ends.iter().rev().take(MOST_ENDS) {
        control.check()?;
        wasm.truncate((end - start) as usize);
        match Module::parse(&wasm, control) {
            Ok(module) if module.has_memory => return Ok(Some(wasm)),
            Err(error @ Error::Aborted) => return Err(error),
            _ => {}
        }
    }
    Ok(None)
}

/// A short name of a module: the beginning of its SHA-256.
pub fn name_of(wasm: &[u8]) -> String {
    let hash = Sha256::digest(wasm);
    hash.iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The code of a module, which is the same with and without names and debug information.
pub fn code_of(wasm: &[u8]) -> Option<&[u8]> {
    let mut payloads = Parser::new(0).parse_all(wasm);
    payloads.find_map(|payload| match payload.ok()?.as_section() {
        Some((CODE, range)) => wasm.get(range.start as usize..range.end as usize),
        _ => None,
    })
}

/// Where the sections end that begin at an address.
fn section_ends(space: &dyn AddressSpace, start: u64) -> Vec<u64> {
    let mut ends = Vec::new();
    let mut end = start + 8;
    let mut last = 0;
    while ends.len() < MOST_SECTIONS {
        let mut head = [0; HEAD];
        let read = space.read(end, &mut head);
        let Some((rank, size)) = section(&head[..read]) else {
            break;
        };
        // What begins a section must have its last byte too. Sections have an order, custom ones have none.
        let is_in_order = rank == CUSTOM || rank > last;
        let is_whole = end + size - start <= LARGEST && space.read(end + size - 1, &mut [0]) == 1;
        if !is_in_order || !is_whole {
            break;
        }
        end += size;
        last = last.max(rank);
        ends.push(end);
    }
    ends
}

/// The place of a section in the order of sections, and its size with its head; `None` if this is none. An empty one is
/// none, because what follows a module is often zero, and neither is a custom one without a readable name.
fn section(head: &[u8]) -> Option<(u8, u64)> {
    let (&kind, rest) = head.split_first()?;
    let (size, length) = number(rest)?;
    let rank = match kind {
        CUSTOM => {
            let rest = &rest[length..];
            let (name, length) = number(rest)?;
            let name = rest.get(length..length.checked_add(name as usize)?)?;
            let is_readable = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
            (!name.is_empty() && name.iter().all(is_readable)).then_some(CUSTOM)?
        }
        // The number of data segments comes before the code, tags before globals.
        12 => 2 * 10 - 1,
        13 => 2 * 6 - 1,
        1..=11 => 2 * kind,
        _ => return None,
    };
    (size > 0).then_some((rank, 1 + length as u64 + size))
}

/// A number of at most five bytes, and how many it has.
fn number(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (nth, &byte) in bytes.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * nth);
        if byte & 0x80 == 0 {
            return Some((value, nth + 1));
        }
    }
    None
}

/// How much of a module's data is in a memory.
pub fn data_share(
    space: &dyn AddressSpace,
    memory: &LinearMemory,
    wasm: &[u8],
    control: &Control,
) -> Result<DataShare> {
    let module = Module::parse(wasm, control)?;
    let size = memory.range.end - memory.range.start;
    let mut share = DataShare { equal: 0, all: 0 };
    let mut there = [0; PIECE];
    for segment in &module.data {
        for (nth, piece) in segment.bytes.chunks(PIECE).enumerate() {
            control.count(1)?;
            let at = u64::from(segment.start.0) + (nth * PIECE) as u64;
            // Zeros are everywhere.
            if piece.iter().all(|&byte| byte == 0) {
                continue;
            }
            share.all += piece.len() as u64;
            if at + piece.len() as u64 > size {
                continue;
            }
            let there = &mut there[..piece.len()];
            if read_all(space, memory.range.start + at, there).is_some() && there == piece {
                share.equal += piece.len() as u64;
            }
        }
    }
    Ok(share)
}

/// The module of a memory: the one whose data is there.
pub fn module_of(
    space: &dyn AddressSpace,
    memory: &LinearMemory,
    found: Vec<FoundModule>,
    control: &Control,
) -> Result<FoundModule> {
    let missing = |why: &str| OutsideError::NoModule { why: why.into() };
    let mut best: Vec<(DataShare, FoundModule)> = Vec::new();
    for module in found {
        let share = data_share(space, memory, &module.wasm, control)?;
        if share.is_most() || share.all == 0 {
            best.push((share, module));
        }
    }
    // Data that is there says more than a module without data.
    if best.iter().any(|(share, _)| share.all > 0) {
        best.retain(|(share, _)| share.all > 0);
    }
    let whole = |(share, _): &(DataShare, FoundModule)| share.equal;
    best.sort_by_key(|one| std::cmp::Reverse(whole(one)));
    let is_clear = best.len() < 2 || whole(&best[0]) > whole(&best[1]);
    match (best.into_iter().next(), is_clear) {
        (Some((_, module)), true) => Ok(module),
        (Some(_), false) => {
            Err(missing("several modules in the process fit this memory equally well").into())
        }
        (None, _) => Err(missing(
            "no module in the process has the data that is in this memory; engines other than V8 keep only compiled code",
        )
        .into()),
    }
}

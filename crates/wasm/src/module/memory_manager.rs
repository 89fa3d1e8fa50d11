//! What manages the memory of a module that is none of AssemblyScript: an allocator that is known by its names or its code,
//! something that may be one, or nothing.

use wasmparser::{FunctionBody, Operator};

use super::{Functions, Module, unreadable};
use base::control::Control;
use base::error::Result;

/// Allocators by a part of the names of their functions.
const NAMES: [(&str, &str); 8] = [
    ("wee_alloc", "wee_alloc"),
    ("lol_alloc", "lol_alloc"),
    ("4talc", "talc"),
    ("talc::", "talc"),
    ("mi_heap_malloc", "mimalloc"),
    ("mi_malloc", "mimalloc"),
    ("linked_list_allocator", "linked_list_allocator"),
    ("buddy_system_allocator", "buddy_system_allocator"),
];

/// What `wee_alloc` adds to a size before it grows the memory, and before it rounds that up to a page.
const WEE_ALLOC: [i32; 2] = [16_384, 65_543];

/// The length of names that a tool made short.
const SHORT: usize = 2;

/// What manages the memory of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryManager {
    /// An allocator that is known by its name, and whose heap is not read.
    Known(&'static str),
    /// Something that may be an allocator.
    Unknown,
    /// Nothing: the module cannot grow its memory, and has no function of an allocator.
    None,
}

impl MemoryManager {
    /// What manages the memory of a module, by its names and its code.
    ///
    /// # Errors
    /// [`ModuleError::Unreadable`](crate::ModuleError::Unreadable), [`Error::Aborted`](base::Error::Aborted).
    pub fn of(module: &Module<'_>, control: &Control) -> Result<Self> {
        let functions = &module.functions;
        let mut names = functions
            .defined()
            .filter_map(|(function, _)| functions.name(function));
        let known = |name: &str| NAMES.iter().find(|(part, _)| name.contains(part));
        if let Some(&(_, known)) = names.find_map(known) {
            return Ok(Self::Known(known));
        }
        let mut is_growing = false;
        for (_, body) in functions.defined() {
            let range = body.range();
            control.count(range.end - range.start)?;
            match growth(body)? {
                MemoryGrowth::None => {}
                MemoryGrowth::Unknown => is_growing = true,
                MemoryGrowth::WeeAlloc => return Ok(Self::Known("wee_alloc")),
            }
        }
        let is_none = !is_growing && !may_allocate(functions);
        Ok(if is_none { Self::None } else { Self::Unknown })
    }
}

/// Whether an import may grow the memory, or an export or a name is that of an allocator. Names that a tool made short say
/// nothing, so that any of these may be one.
fn may_allocate(functions: &Functions<'_>) -> bool {
    let is_allocating = |name: &str| {
        let name = name.to_ascii_lowercase();
        let parts = ["alloc", "free", "grow", "resize_heap", "sbrk"];
        name.len() <= SHORT || parts.iter().any(|part| name.contains(part))
    };
    let mut imports = functions.imports();
    let mut others = functions.exports().map(|(name, _)| name);
    let mut names = functions
        .defined()
        .filter_map(|(function, _)| functions.name(function));
    imports.any(is_allocating)
        || others.any(|name| name.len() > SHORT && is_allocating(name))
        || names.any(|name| name.len() > SHORT && is_allocating(name))
}

/// Whether a function grows the memory, and for which allocator.
enum MemoryGrowth {
    None,
    Unknown,
    WeeAlloc,
}

fn growth(body: &FunctionBody<'_>) -> Result<MemoryGrowth> {
    let mut is_growing = false;
    let mut has = [false; WEE_ALLOC.len()];
    for operator in body.get_operators_reader().map_err(unreadable)? {
        match operator.map_err(unreadable)? {
            Operator::MemoryGrow { .. } => is_growing = true,
            Operator::I32Const { value } => {
                if let Some(nth) = WEE_ALLOC.iter().position(|&known| known == value) {
                    has[nth] = true;
                }
            }
            _ => {}
        }
    }
    Ok(match (is_growing, has) {
        (false, _) => MemoryGrowth::None,
        (true, [true, true]) => MemoryGrowth::WeeAlloc,
        (true, _) => MemoryGrowth::Unknown,
    })
}

//! What a function of an allocator does with its parameters and its result.

/// Where the address of a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockAddress {
    /// Below the result by this number of bytes.
    Result { below: i32 },
    /// Below a parameter by this number of bytes.
    Parameter { at: u32, below: i32 },
    /// In memory, where a parameter points to; the result is 0 then.
    Pointer { at: u32 },
    /// In a parameter, unless the result is 0.
    Kept { at: u32 },
}

/// What the size of a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AllocatedSize {
    /// A parameter.
    Parameter(u32),
    /// The product of two parameters.
    Product(u32, u32),
    /// What the header of the block says, with the header.
    Block,
    /// What is left of a free block when it is split at the size in a parameter, with the header.
    SplitBlock(u32),
}

/// What a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookKind {
    Allocate {
        address: BlockAddress,
        size: AllocatedSize,
    },
    Reallocate {
        old: BlockAddress,
        address: BlockAddress,
        size: AllocatedSize,
    },
    Free(BlockAddress),
    /// Go's `mallocgc` or a variant of it, whose parameters are on a stack in memory.
    GoAllocate,
}

/// A function of an allocator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hook {
    pub(crate) function: u32,
    pub(crate) name: &'static str,
    pub(crate) kind: HookKind,
}

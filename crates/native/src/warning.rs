//! What may be wrong about the heap of a program of C, C++, Rust or Zig.

use base::units::Address;
use base::warning::CodedWarning;

/// A finding about a heap whose blocks are exact, and whose references, roots and types may be wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NativeWarning {
    /// Of a native program: every word that is an address in a block counts as a reference.
    #[error(
        "references are words that look like addresses: a number can keep a block, and a block that only the host or a local variable holds looks unreferenced"
    )]
    ReferencesConservative,
    /// The end of static data is not known, and follows from the usual sizes of stacks.
    #[error(
        "the module does not say where its static data ends: it follows from the usual sizes of stacks; if the stack has another size, old words of it count as references, and there may be more unreferenced blocks"
    )]
    StackBoundsGuessed,
    /// Of a native program: the debug information cannot be read.
    #[error(
        "blocks of this program have no types, because its debug information cannot be read: {message}"
    )]
    TypesUnreadable {
        /// What was found.
        message: String,
    },
    /// Of a native program: pointers of different types refer to one block.
    #[error(
        "{count} pointer(s) have a type that does not fit what else is known of their block, such as after a cast or in memory that was not initialised: a block can have the type of an earlier pointer; sizes and counts do not depend on types"
    )]
    TypeConflict {
        /// The number of pointers.
        count: u64,
    },
    /// Of a program of Zig: full pages whose blocks are not known.
    #[error(
        "{count} page(s) of 64 KiB are full, so that Zig's allocator does not say which blocks they hold: these are missing from every number, and what only they refer to is unreferenced"
    )]
    PagesUnknown {
        /// The number of pages.
        count: u64,
    },
    /// Of a native program: types that only fit.
    #[error(
        "the types of {count} block(s) are guesses: they are the only ones that fit (their class has the evidence \"fit\"); sizes and counts do not depend on types"
    )]
    TypeGuessed {
        /// The number of blocks.
        count: u64,
    },
    /// The stack is in use: by functions that were running, or since the program was started.
    #[error(
        "{size} bytes of the stack are in use: functions were running when the dump was taken, or the program keeps these bytes since it was started; local variables of running functions that are not on the stack are not in the dump, so there may be fewer unreferenced blocks"
    )]
    FramesActive {
        /// The bytes of the stack that are in use.
        size: u32,
    },
    /// Nothing in the memory refers to blocks, and the host may.
    #[error(
        "nothing in the memory refers to, or leads to, {unreferenced} of {blocks} blocks, and the host may hold them: what is unreferenced need not be a leak"
    )]
    HostRootsUnknown {
        /// How many blocks the roots do not reach.
        unreferenced: u64,
        /// How many blocks there are.
        blocks: u64,
    },
    /// Most memory is in a few blocks that refer into themselves.
    #[error(
        "{count} block(s) with {size} bytes, the first at {first}, refer into themselves as the memory of another allocator does: the objects of the program are inside of these blocks, and are not seen"
    )]
    NestedAllocator {
        /// How many such blocks there are.
        count: u64,
        /// Their bytes.
        size: u64,
        /// The address of the first.
        first: Address,
    },
    /// A pointer that the host is said to hold, and that points to no block.
    #[error(
        "the host is said to hold {address}, which is in no used block: it keeps nothing alive; is it from this dump?"
    )]
    HostRootElsewhere {
        /// The pointer.
        address: Address,
    },
    /// A module that has no allocator, so that its memory has no blocks.
    #[error(
        "the module has no allocator, so nothing can leak here: no code of it makes its memory larger, none of its functions has the name of an allocator, and no state of one is in the memory; of {size} bytes, the module initialises {initialised}, the program or its host wrote to {written} others, and the rest is 0"
    )]
    NoAllocator {
        /// The bytes of the memory.
        size: u64,
        /// The bytes that the module initialises.
        initialised: u64,
        /// The other bytes that are not 0.
        written: u64,
    },
    /// A module that was made from the memory of a running program.
    #[error(
        "the module initialises memory that is part of the heap, so that it was made from the memory of a running program: initialised static words count as references even if they still have their initial value, so there may be more unreferenced blocks"
    )]
    DataSnapshot,
}

impl CodedWarning for NativeWarning {
    fn code(&self) -> &'static str {
        match self {
            Self::ReferencesConservative => "WARN_CONSERVATIVE",
            Self::StackBoundsGuessed => "WARN_STACK_BOUNDS_GUESSED",
            Self::TypesUnreadable { .. } => "WARN_TYPES_UNREADABLE",
            Self::TypeConflict { .. } => "WARN_TYPE_CONFLICT",
            Self::PagesUnknown { .. } => "WARN_PAGES_UNKNOWN",
            Self::TypeGuessed { .. } => "WARN_TYPE_GUESSED",
            Self::FramesActive { .. } => "WARN_FRAMES_ACTIVE",
            Self::HostRootsUnknown { .. } => "WARN_HOST_ROOTS_UNKNOWN",
            Self::NestedAllocator { .. } => "WARN_NESTED_ALLOCATOR",
            Self::HostRootElsewhere { .. } => "WARN_HOST_ROOT_ELSEWHERE",
            Self::NoAllocator { .. } => "WARN_NO_ALLOCATOR",
            Self::DataSnapshot => "WARN_DATA_SNAPSHOT",
        }
    }
}

//! What every byte of the heap is used for. The parts add up to the heap's size exactly.

/// The whole heap, from the first block to the end of the memory, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounting {
    /// Live objects.
    pub live: LiveBytes,
    /// Objects that the collector has not freed yet.
    pub garbage: u64,
    /// Blocks in use that hold no managed object (`heap.alloc`).
    pub raw: u64,
    /// Blocks that the allocator can give out.
    pub free: FreeBlocks,
    /// The ends of regions and the padding at their starts.
    pub overhead: u64,
    /// Memory that the allocator does not own: pages that other code added, or all memory before the first
    /// allocation.
    pub gaps: u64,
    /// The part after damage, which could not be read; 0 unless the result is partial.
    pub unread: u64,
    /// The state of the collector; `None` if the module does not name the variable that holds it.
    pub collector: Option<CollectorState>,
    /// Pinned objects by class name, most first, then by name.
    pub pinned: Vec<(String, u64)>,
}

/// The collector works in steps; a dump can be taken between any two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectorState {
    /// Between two cycles.
    Idle,
    /// Following references.
    Marking,
    /// Freeing unreachable objects, one object per step.
    Sweeping,
}

impl CollectorState {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Marking => "marking",
            Self::Sweeping => "sweeping",
        }
    }
}

/// Live bytes by the first kind of root that reaches an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveBytes {
    /// Reached from a global variable.
    pub global: u64,
    /// Reached from the shadow stack, but from no global.
    pub stack: u64,
    /// Reached from pinned objects only.
    pub pinned: u64,
}

/// Free blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreeBlocks {
    /// All of them.
    pub bytes: u64,
    /// Their number.
    pub blocks: u64,
    /// The largest.
    pub largest: u64,
}

impl FreeBlocks {
    /// How much of the free space is not in its largest block: 0 if all is in one piece.
    pub fn fragmentation(self) -> f64 {
        match self.bytes {
            0 => 0.0,
            bytes => 1.0 - self.largest as f64 / bytes as f64,
        }
    }
}

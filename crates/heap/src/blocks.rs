//! The blocks of an allocator in which objects lie.

/// The blocks in which objects lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Bytes from the start of a block to its object.
    pub header: u32,
    /// Which sizes blocks can have.
    pub sizes: BlockSizes,
    /// If a profiler records the bytes that were asked for: how many more a block has at least. `None` if it records the
    /// size of the block.
    pub overhead: Option<u32>,
}

impl Blocks {
    /// The bytes of a block that its contents do not have, wherever they lie in it.
    pub fn not_contents(self) -> u64 {
        u64::from(self.header) + u64::from(self.overhead.unwrap_or(0))
    }

    /// The size of the block of an object whose contents have `size` bytes.
    pub fn size_for(self, size: u64) -> u64 {
        let size = size + self.not_contents();
        match self.sizes {
            BlockSizes::MultiplesOf(granule) => size.next_multiple_of(u64::from(granule.max(1))),
            BlockSizes::PowersOfTwo => size.next_power_of_two(),
        }
    }
}

/// Which sizes blocks can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockSizes {
    /// All multiples of this.
    MultiplesOf(u32),
    /// 1, 2, 4, 8, …
    PowersOfTwo,
}

//! Sums over the live heap objects of one class.

/// The live heap objects of one class. Sums are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveClass {
    /// The number of objects.
    pub count: u64,
    /// The sum of their shallow sizes.
    pub shallow_size: u64,
    /// The sum of their retained sizes.
    pub retained_size: u64,
}

impl LiveClass {
    /// Adds other objects.
    pub fn add(&mut self, other: Self) {
        self.count += other.count;
        self.shallow_size += other.shallow_size;
        self.retained_size += other.retained_size;
    }
}

//! A number of objects and the bytes that they waste.

/// A number of objects and the bytes that they waste.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WasteSum {
    pub(super) savings: u64,
    pub(super) count: u64,
}

impl WasteSum {
    pub(super) fn add(&mut self, other: Self) {
        self.savings += other.savings;
        self.count += other.count;
    }
}

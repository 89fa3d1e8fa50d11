//! Decides whether it is worth asking for memory before it is needed: where most addresses lead far away, the processor
//! can wait for many of them at the same time. Most heaps have few such addresses.

/// Objects that are looked at together.
pub(super) const BATCH: usize = 32;
/// The caches of a processor have what is nearer than this.
const NEAR: u32 = 1 << 20;

/// The addresses in a batch of objects.
pub(super) struct Lookahead {
    far: Vec<u32>,
    /// How many are near.
    near: usize,
    is_worth_it: bool,
}

impl Lookahead {
    pub(super) fn new() -> Self {
        Self {
            far: Vec::new(),
            near: 0,
            is_worth_it: true,
        }
    }

    /// Whether most addresses of the last batch lead far away, or there was none yet.
    pub(super) fn is_worth_it(&self) -> bool {
        self.is_worth_it
    }

    /// Begins a batch.
    pub(super) fn begin(&mut self) {
        self.far.clear();
        self.near = 0;
    }

    /// Adds an address in the object at another one. Returns whether it leads far away.
    pub(super) fn add(&mut self, object: u32, address: u32) -> bool {
        let is_far = address.abs_diff(object) > NEAR && address != 0;
        if is_far {
            self.far.push(address);
        } else {
            self.near += usize::from(address != 0);
        }
        is_far
    }

    /// Ends a batch. Returns the addresses that lead far away.
    pub(super) fn end(&mut self) -> &[u32] {
        self.is_worth_it = self.far.len() > self.near;
        &self.far
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_worth_it(addresses: &[u32]) -> bool {
        let mut lookahead = Lookahead::new();
        lookahead.begin();
        for &address in addresses {
            lookahead.add(16, address);
        }
        lookahead.end();
        lookahead.is_worth_it()
    }

    #[test]
    fn a_batch_whose_addresses_are_mostly_far_is_worth_it() {
        assert!(is_worth_it(&[2 * NEAR, 3 * NEAR, 32]));
    }

    #[test]
    fn a_batch_of_near_addresses_or_of_none_is_not_worth_it() {
        assert!(!is_worth_it(&[32, 48, 2 * NEAR]));
        assert!(!is_worth_it(&[0, 0]));
    }
}

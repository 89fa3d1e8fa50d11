//! The ids of nodes of objects.

use super::schema::LAST_FIXED_ID;
use base::units::ObjectIndex;
use heap::Heap;

/// Where the ids of objects come from. All are odd, as those of V8.
#[derive(Clone, Copy, Debug)]
pub(super) enum ObjectIds {
    /// From the addresses, so that an object has the same id in every snapshot.
    Addresses,
    /// From the numbers of the objects: addresses of 64 bits do not fit, and others can be too close to each other.
    Numbers,
}

impl ObjectIds {
    pub(super) fn of(heap: &Heap) -> Self {
        let addresses = &heap.objects.addresses;
        let is_apart = |address: u64| address > u64::from(LAST_FIXED_ID) && address & 1 == 0;
        if addresses.fit_32_bits() && addresses.iter().all(|address| is_apart(address.0)) {
            Self::Addresses
        } else {
            Self::Numbers
        }
    }

    #[inline]
    pub(super) fn of_object(self, heap: &Heap, object: ObjectIndex) -> u32 {
        match self {
            Self::Addresses => heap.address(object).0 as u32 | 1,
            // More than 2^31 objects do not fit in memory.
            Self::Numbers => LAST_FIXED_ID + 2 + 2 * object.0,
        }
    }
}

//! The two heaps, as far as a join reads them.

use base::bits::Bits;
use base::units::{Address, ObjectIndex};
use heap::Heap;
use v8::HostView;

/// The address that a number is.
fn address_of(value: f64) -> Option<Address> {
    let is_address = value > 0.0 && value < f64::from(u32::MAX) && value.fract() == 0.0;
    is_address.then_some(Address(value as u32))
}

/// Both heaps.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'h> {
    /// The heap of the memory.
    pub(crate) wasm: &'h Heap,
    /// Its pinned objects.
    pub(crate) pinned: &'h Bits,
    /// The heap of JavaScript.
    pub(crate) js: &'h Heap,
    pub(crate) view: HostView<'h>,
}

impl Sides<'_> {
    /// The pinned object whose address a number is.
    pub(crate) fn pinned_at(self, value: f64) -> Option<ObjectIndex> {
        let object = self.wasm.objects.at(address_of(value)?);
        object.filter(|object| self.pinned.contains(object.0))
    }

    /// The block that a pointer leads to, or into: libraries of C++ and Rust put counts before an object that is shared.
    pub(crate) fn block_around(self, value: f64) -> Option<ObjectIndex> {
        let address = address_of(value)?;
        let objects = &self.wasm.objects;
        let next = objects
            .addresses
            .words()
            .partition_point(|&start| start <= address.0);
        let block = ObjectIndex(next.checked_sub(1)? as u32);
        let end = objects.addresses.get(block.at()).0 + self.wasm.shallow_size(block);
        (u64::from(address.0) < end).then_some(block)
    }
}

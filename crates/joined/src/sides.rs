//! The two heaps, as far as a join reads them.

use base::bits::Bits;
use base::units::{Address, ObjectIndex};
use heap::Heap;
use v8::HostView;

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
        let is_address = value > 0.0 && value < f64::from(u32::MAX) && value.fract() == 0.0;
        let object = self.wasm.objects.at(Address(value as u32));
        object.filter(|object| is_address && self.pinned.contains(object.0))
    }
}

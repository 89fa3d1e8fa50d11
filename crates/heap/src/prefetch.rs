//! Asking for memory before it is needed: where an algorithm knows well ahead which values it will read
//! to next, waiting for them one after the other is most of its time.

/// Asks for the cache line of a value. A position outside of the column is ignored.
#[inline(always)]
pub fn prefetch<T>(column: &[T], position: u32) {
    let Some(value) = column.get(position as usize) else {
        return;
    };
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching reads nothing and never fails; the instruction is in every x86-64 processor.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: prefetching reads nothing and never fails; the instruction is in every ARM64 processor.
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{address}]",
            address = in(reg) std::ptr::from_ref(value),
            options(nostack, readonly, preserves_flags)
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = value;
}

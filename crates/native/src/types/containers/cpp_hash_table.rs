//! What `std::unordered_map` and `std::unordered_set` of libc++ have inside: a list of all entries, whose members say what
//! they are, and a buffer of buckets, each a pointer into the list.

use super::super::container_use::{ContainerElements, UsedBytes};
use super::super::spread::Spread;
use super::super::table::TypeId;
use base::error::Result;

/// The bits of 1.0, the load factor that tables have by default.
const ONE: u32 = 0x3f80_0000;

impl Spread<'_, '_> {
    /// `None` if the members are other ones than those of the versions that are known.
    pub(super) fn cpp_hash_table(&mut self, address: u32, id: TypeId) -> Result<Option<()>> {
        let paths: [&[&[&str]]; 4] = [
            &[&["__bucket_list_", "__ptr_"]],
            &[
                &["__bucket_list_", "__data_"],
                &["__bucket_list_", "__deleter_", "__size_"],
            ],
            &[&["__p2_"], &["__size_"]],
            &[&["__p3_"], &["__max_load_factor_"]],
        ];
        let words = paths.map(|paths| {
            let mut words = paths.iter();
            words.find_map(|path| self.part_word(address, id, path))
        });
        let [Some(buckets), Some(count), Some(length), Some(load)] = words else {
            return Ok(None);
        };
        let pointer = self.parts.part_at(id, &["__bucket_list_", "__ptr_"]);
        let pointer = pointer.and_then(|buckets| {
            let pointer = self.types.pointee(buckets.type_id);
            // In older versions, it is in a pair with its deleter.
            pointer.or_else(|| {
                let value = self.parts.part_at(buckets.type_id, &["__value_"])?;
                self.types.pointee(value.type_id)
            })
        });
        let Some(pointer) = pointer else {
            return Ok(None);
        };
        let needed = self.buckets_for(length, count)?;
        let elements = ContainerElements {
            holder: self.container(address, id),
            start: buckets,
            element: pointer,
            capacity: count,
            used: needed.min(count),
        };
        if let Some(block) = self.type_buffer(&elements)? {
            // With another load factor, all buckets may be needed.
            let used = if load == ONE { elements.used } else { count };
            let used = UsedBytes::Any(used.saturating_mul(4));
            self.add_use(elements.holder, block, used)?;
        }
        Ok(Some(()))
    }

    /// The number of buckets that libc++ chooses for `length` entries: a power of two if `now` is one, otherwise a prime.
    fn buckets_for(&self, length: u32, now: u32) -> Result<u32> {
        let least = length.max(2);
        if now.is_power_of_two() {
            return Ok(least.checked_next_power_of_two().unwrap_or(now));
        }
        let mut candidate = least;
        while candidate < now {
            let root = candidate.isqrt();
            self.control.count(u64::from(root))?;
            if (2..=root).all(|divisor| !candidate.is_multiple_of(divisor)) {
                break;
            }
            candidate += 1;
        }
        Ok(candidate)
    }
}

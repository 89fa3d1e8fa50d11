//! Containers of Rust's library and of libc++. Each is read by the members that the debug information lists; a layout
//! without these members is no container, and stays what its members say.

mod btree;
mod cpp;
mod cpp_deque;
mod cpp_hash_table;
mod deque;
mod hash_table;
mod perhaps;
mod vector;
mod zig;
mod zig_hash_map;

use super::container_kind::LibraryContainer;
use super::container_use::ContainerPlace;
use super::spread::Spread;
use super::table::TypeId;
use base::error::Result;

impl Spread<'_, '_> {
    /// Follows a container at an address.
    pub(super) fn follow_container(
        &mut self,
        address: u32,
        kind: LibraryContainer,
        id: TypeId,
    ) -> Result<()> {
        // What does not fit the layout that is known is not followed.
        let followed = match kind {
            LibraryContainer::Vec => self.vec(address, id)?,
            LibraryContainer::Deque => self.deque(address, id)?,
            LibraryContainer::HashTable => self.hash_table(address, id)?,
            LibraryContainer::BTree => self.btree(address, id)?,
            LibraryContainer::CppVector => self.cpp_vector(address, id)?,
            LibraryContainer::CppString => self.cpp_string(address, id)?,
            LibraryContainer::CppTree => self.cpp_tree(address, id)?,
            LibraryContainer::CppDeque => self.cpp_deque(address, id)?,
            LibraryContainer::CppHashTable => self.cpp_hash_table(address, id)?,
            LibraryContainer::Counted => self.counted_value(address, id)?,
            LibraryContainer::CppWeak => self.cpp_weak(address, id)?,
            LibraryContainer::CppOptional => self.cpp_optional(address, id)?,
            LibraryContainer::CppVariant => self.cpp_variant(address, id)?,
            LibraryContainer::ZigSlice => self.zig_slice(address, id)?,
            LibraryContainer::ZigList => self.zig_list(address, id)?,
            LibraryContainer::ZigHashMap => self.zig_hash_map(address, id)?,
        };
        self.unknown_containers += u64::from(followed.is_none());
        Ok(())
    }

    /// A word of a container.
    fn part_word(&self, address: u32, id: TypeId, path: &[&'static str]) -> Option<u32> {
        let part = self.parts.part_at(id, path)?;
        self.word(address.checked_add(part.offset)?)
    }

    /// Where a container lies.
    fn container(&self, address: u32, id: TypeId) -> ContainerPlace {
        ContainerPlace {
            address,
            size: self.types.size(id),
        }
    }
}

//! Run-time type information: one word of flags per class id, at `__rtti_base`.

use base::units::{Address, ClassId};
use dumps::{Dump, Memory};
use wasm::module::Module;

/// The flags of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeFlags(pub u32);

impl TypeFlags {
    const ARRAY_BUFFER_VIEW: u32 = 1;
    const ARRAY: u32 = 1 << 1;
    const STATIC_ARRAY: u32 = 1 << 2;
    const SET: u32 = 1 << 3;
    const MAP: u32 = 1 << 4;
    const POINTER_FREE: u32 = 1 << 5;
    const VALUE_ALIGN: u32 = 6;
    const VALUE_MANAGED: u32 = 1 << 14;
    const KEY_ALIGN: u32 = 15;
    const KEY_MANAGED: u32 = 1 << 23;

    /// The class is a typed array or a data view.
    pub fn is_array_buffer_view(self) -> bool {
        self.0 & Self::ARRAY_BUFFER_VIEW != 0
    }

    /// The class is an `Array`.
    pub fn is_array(self) -> bool {
        self.0 & Self::ARRAY != 0
    }

    /// The class is a `StaticArray`.
    pub fn is_static_array(self) -> bool {
        self.0 & Self::STATIC_ARRAY != 0
    }

    /// The class is a `Set`; its keys are described by the value flags.
    pub fn is_set(self) -> bool {
        self.0 & Self::SET != 0
    }

    /// The class is a `Map`.
    pub fn is_map(self) -> bool {
        self.0 & Self::MAP != 0
    }

    /// Whether the class is one of these: its visitor follows contents.
    pub fn is_container(self) -> bool {
        const CONTAINERS: u32 =
            TypeFlags::ARRAY | TypeFlags::STATIC_ARRAY | TypeFlags::SET | TypeFlags::MAP;
        self.0 & CONTAINERS != 0
    }

    /// The size of a container's own fields, if the class is a container of fixed size.
    pub fn container_size(self) -> Option<u32> {
        if self.is_array() {
            Some(16)
        } else if self.is_array_buffer_view() {
            Some(12)
        } else {
            (self.is_set() || self.is_map()).then_some(24)
        }
    }

    /// Whether the collector never visits the contents of objects of this class.
    pub fn is_pointer_free(self) -> bool {
        self.0 & Self::POINTER_FREE != 0
    }

    /// Values (elements, or the keys of a set) are references to managed objects.
    pub fn has_managed_values(self) -> bool {
        self.0 & Self::VALUE_MANAGED != 0
    }

    /// Keys of a map are references to managed objects.
    pub fn has_managed_keys(self) -> bool {
        self.0 & Self::KEY_MANAGED != 0
    }

    /// The size of a value in bytes; `None` unless exactly one alignment is set.
    pub fn value_size(self) -> Option<u32> {
        size_from_alignment(self.0 >> Self::VALUE_ALIGN)
    }

    /// The size of a map's key in bytes; `None` unless exactly one alignment is set.
    pub fn key_size(self) -> Option<u32> {
        size_from_alignment(self.0 >> Self::KEY_ALIGN)
    }
}

fn size_from_alignment(bits: u32) -> Option<u32> {
    let size = bits & 0x1f;
    size.is_power_of_two().then_some(size)
}

/// The flags of all classes, in static memory.
#[derive(Clone, Copy, Debug)]
pub struct TypeFlagsTable<'a> {
    flags: Memory<'a>,
}

impl<'a> TypeFlagsTable<'a> {
    /// A table without classes.
    fn empty() -> Self {
        Self {
            flags: Memory::new(&[]),
        }
    }

    /// The table of a module, if it can be found: at the address in the module, or by its pattern.
    pub fn locate(dump: &Dump<'a>, module: &Module<'_>) -> Self {
        let globals = &module.globals;
        globals
            .exported("__rtti_base")
            .or_else(|| globals.named("~lib/rt/__rtti_base"))
            .and_then(|global| global.initial)
            .and_then(|base| Self::read(dump.memory, Address(base), dump.data_end))
            .or_else(|| Self::find(dump.memory, dump.data_end))
            .unwrap_or(Self::empty())
    }

    /// The table at `__rtti_base`; `None` if there cannot be a table, because it would reach past the end of
    /// static data.
    fn read(memory: Memory<'a>, rtti_base: Address, data_end: Address) -> Option<Self> {
        let count = memory.word(rtti_base)?;
        let first = rtti_base.checked_add(4)?;
        let length = count.checked_mul(4)?;
        (first.checked_add(length)? <= data_end).then_some(())?;
        Some(Self {
            flags: memory.bytes_at(first, length)?,
        })
    }

    /// The table of a module that does not contain its address: the compiler writes it last, so it ends at
    /// the end of static data, and it begins with four classes whose flags are always the same. `None` if
    /// there is no such place, or if there are several.
    fn find(memory: Memory<'a>, data_end: Address) -> Option<Self> {
        const FIRST_FLAGS: [u32; 4] = [
            TypeFlags::POINTER_FREE,
            TypeFlags::POINTER_FREE,
            TypeFlags::POINTER_FREE,
            0,
        ];
        let most = data_end.0.checked_sub(4)? / 4;
        let mut tables = (FIRST_FLAGS.len() as u32..=most)
            .filter_map(|count| {
                let base = Address(data_end.0 - 4 - 4 * count);
                let fits = memory.word(base) == Some(count)
                    && memory.words_at(base.checked_add(4)?, 4)?.eq(FIRST_FLAGS);
                fits.then(|| Self::read(memory, base, data_end)).flatten()
            })
            .fuse();
        let found = tables.next()?;
        tables.next().is_none().then_some(found)
    }

    /// The number of classes of the program; ids are smaller.
    pub fn count(self) -> u32 {
        (self.flags.size() / 4) as u32
    }

    /// The flags of a class.
    pub fn get(self, id: ClassId) -> Option<TypeFlags> {
        self.flags
            .word(Address(id.0.checked_mul(4)?))
            .map(TypeFlags)
    }
}

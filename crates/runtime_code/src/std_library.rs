//! Constants of the standard library and the runtime of AssemblyScript, and therefore of WARPO: class ids,
//! and offsets in objects, containers and the allocator. They are taken from `std/assembly/rt` and
//! `std/assembly/{array,map,set,function}.ts`.

use base::units::ClassId;

/// `~lib/object/Object`.
pub const OBJECT: ClassId = ClassId(0);
/// `~lib/arraybuffer/ArrayBuffer`.
pub const ARRAY_BUFFER: ClassId = ClassId(1);
/// `~lib/string/String`.
pub const STRING: ClassId = ClassId(2);
/// `~lib/arraybuffer/ArrayBufferView`.
pub const ARRAY_BUFFER_VIEW: ClassId = ClassId(3);

/// The name of [`OBJECT`].
pub const OBJECT_NAME: &str = "~lib/object/Object";
/// The name of [`ARRAY_BUFFER`].
pub const ARRAY_BUFFER_NAME: &str = "~lib/arraybuffer/ArrayBuffer";
/// The name of [`STRING`].
pub const STRING_NAME: &str = "~lib/string/String";
/// The name of [`ARRAY_BUFFER_VIEW`].
pub const ARRAY_BUFFER_VIEW_NAME: &str = "~lib/arraybuffer/ArrayBufferView";

/// The names of the classes whose ids never change, by id. Newer builds omit classes from the debug
/// information that no global, field or local can reach, but objects of these classes still exist.
pub const FIXED_NAMES: [&str; 4] = [
    OBJECT_NAME,
    ARRAY_BUFFER_NAME,
    STRING_NAME,
    ARRAY_BUFFER_VIEW_NAME,
];

/// Bytes from a block to the payload of the object in it.
pub const HEADER_SIZE: u32 = 20;
/// The alignment of blocks and objects.
pub const ALIGNMENT: u32 = 16;
/// The largest block of the allocator, and the largest object in one. Their checks against these are in every build of every
/// program that allocates objects. Of 60 modules of other languages, none has both.
pub const LARGEST_SIZES: [u32; 2] = [1_073_741_820, 1_073_741_804];
/// Bytes of the allocator's root.
pub const ROOT_SIZE: u32 = 1572;

/// Arrays and views: the offset of the reference to the buffer.
pub const BUFFER: u32 = 0;
/// Arrays: the offset of the address of the first element, which lies in the buffer.
pub const DATA_START: u32 = 4;
/// Arrays: the offset of the number of elements.
pub const LENGTH: u32 = 12;
/// Views: the offset of the number of bytes.
pub const VIEW_LENGTH: u32 = 8;
/// Maps and sets: the offset of the reference to the buckets.
pub const BUCKETS: u32 = 0;
/// Maps and sets: the offset of the reference to the entries.
pub const ENTRIES: u32 = 8;
/// Maps and sets: the offset of the number of entries that the buffer has room for.
pub const ENTRIES_CAPACITY: u32 = 12;
/// Maps and sets: the offset of the number of used entries, deleted ones included.
pub const ENTRIES_OFFSET: u32 = 16;
/// Maps and sets: the offset of the number of entries that are not deleted.
pub const ENTRIES_COUNT: u32 = 20;
/// Functions: the offset of the reference to the environment, if the debug information does not say it.
pub const FUNCTION_ENVIRONMENT: u32 = 4;

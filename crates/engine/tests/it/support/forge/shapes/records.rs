//! Records with text, buffers and maps, as in most programs.

use super::super::super::{ARRAY_BUFFER, ARRAY_BUFFER_VIEW, Class, Object, Scene, flags};
use super::super::heap_writer::{HeapWriter, block_size};
use super::super::{Extent, Filling};
use super::arrays::{Tables, Unit, indexed};
use super::lists::{List, any_text};
use super::{numbers, string};

/// Documents: records with two strings and a typed array.
pub fn text(scene: &mut Scene) -> Box<dyn Filling> {
    let string = string(scene);
    let document = Documents::declare(scene, string);
    indexed(
        scene,
        "assembly/index/Document",
        document.document,
        document,
    )
}

/// Maps from short strings to records of numbers.
pub fn maps(scene: &mut Scene) -> Box<dyn Filling> {
    let string = string(scene);
    let maps = Maps::declare(scene, string);
    let name = "~lib/map/Map<~lib/string/String,assembly/index/Price>";
    indexed(scene, name, maps.map, maps)
}

/// A bit of everything: sessions with a map, a document, a list and a table.
pub fn mix(scene: &mut Scene) -> Box<dyn Filling> {
    let list = List::declare(scene);
    let session = scene.class("assembly/index/Session");
    let sessions = Sessions {
        session,
        documents: Documents::declare(scene, list.string),
        maps: Maps::declare(scene, list.string),
        tables: Tables::declare(scene, 32),
        list,
    };
    let parts = [
        ("log", sessions.list.node),
        ("page", sessions.documents.document),
        ("cart", sessions.maps.map),
        ("measurements", sessions.tables.array),
        ("latest", session),
    ];
    for ((name, of), offset) in parts.into_iter().zip((0..).step_by(4)) {
        scene.field(session, name, offset, of);
    }
    indexed(scene, "assembly/index/Session", session, sessions)
}

struct Documents {
    document: Class,
    string: Class,
    bytes: Class,
}

impl Documents {
    const DOCUMENT: u32 = 16;
    /// Granules of 16 bytes that body and buffer have together, whatever each has.
    const CONTENTS: u32 = 20;

    fn declare(scene: &mut Scene, string: Class) -> Self {
        let buffer = scene.class_with_id("~lib/arraybuffer/ArrayBuffer", Some(ARRAY_BUFFER.id));
        let view_name = "~lib/arraybuffer/ArrayBufferView";
        let view = scene.class_with_id(view_name, Some(ARRAY_BUFFER_VIEW.id));
        scene.field(view, "buffer", 0, buffer);
        let bytes = scene.class("~lib/typedarray/Uint8Array");
        scene.inherit(bytes, view);
        scene.set_flags(bytes, flags::ARRAY_BUFFER_VIEW | flags::value_size(1));
        let document = scene.class("assembly/index/Document");
        let fields = [("title", string), ("body", string), ("image", bytes)];
        for ((name, of), offset) in fields.into_iter().zip((0..).step_by(4)) {
            scene.field(document, name, offset, of);
        }
        scene.field(document, "version", 12, "i32");
        Self {
            document,
            string,
            bytes,
        }
    }
}

impl Unit for Documents {
    fn extent(&self) -> Extent {
        let fixed = block_size(Self::DOCUMENT) + block_size(14) + block_size(12);
        Extent {
            objects: 5,
            bytes: (fixed + 16 * Self::CONTENTS).into(),
        }
    }

    fn make(&self, heap: &mut HeapWriter<'_>) -> Object {
        let document = heap.object(self.document, Self::DOCUMENT);
        let title = any_text(heap, self.string);
        let body_granules = 2 + heap.random.below(Self::CONTENTS - 4);
        let size_of = |granules: u32| 16 * granules - 20;
        let body_size = size_of(body_granules);
        let body = heap.object(self.string, body_size);
        heap.fill_with_text(body.0, body_size);
        let image = heap.object(self.bytes, 12);
        let image_size = size_of(Self::CONTENTS - body_granules);
        let buffer = heap.object(ARRAY_BUFFER, image_size);
        heap.fill_with_numbers(buffer.0, image_size);
        heap.refer(image, 0, buffer);
        heap.set(image, 4, buffer.0);
        heap.set(image, 8, image_size);
        for (part, offset) in [title, body, image].into_iter().zip([0, 4, 8]) {
            heap.refer(document, offset, part);
        }
        let version = heap.random.below(100);
        heap.set(document, 12, version);
        document
    }
}

struct Maps {
    map: Class,
    string: Class,
    price: Class,
}

impl Maps {
    const MAP: u32 = 24;
    const KEY: u32 = 12;
    const PRICE: u32 = 12;
    /// The capacity of a map with this number of entries.
    const BUCKETS: u32 = 8;
    const CAPACITY: u32 = 21;
    const ENTRIES: u32 = 16;
    /// Key, value, the next entry of the bucket.
    const ENTRY: u32 = 12;

    fn declare(scene: &mut Scene, string: Class) -> Self {
        let price = numbers(scene, "assembly/index/Price", Self::PRICE);
        let name = "~lib/map/Map<~lib/string/String,assembly/index/Price>";
        let map = scene.generic(name, &[&string, &price]);
        let keys = flags::KEY_MANAGED | flags::key_size(4);
        let values = flags::VALUE_MANAGED | flags::value_size(4);
        scene.set_flags(map, flags::MAP | keys | values);
        Self { map, string, price }
    }

    /// A key or a value, which is garbage if its entry was deleted.
    fn part(heap: &mut HeapWriter<'_>, class: Class, size: u32, is_deleted: bool) -> Object {
        if is_deleted {
            heap.garbage(class, size)
        } else {
            heap.object(class, size)
        }
    }
}

impl Unit for Maps {
    fn extent(&self) -> Extent {
        let containers = block_size(Self::MAP)
            + block_size(4 * Self::BUCKETS)
            + block_size(Self::ENTRY * Self::CAPACITY);
        let entries = Self::ENTRIES * (block_size(Self::KEY) + block_size(Self::PRICE));
        Extent {
            objects: u64::from(3 + 2 * Self::ENTRIES),
            bytes: (containers + entries).into(),
        }
    }

    fn make(&self, heap: &mut HeapWriter<'_>) -> Object {
        let map = heap.object(self.map, Self::MAP);
        let buckets = heap.object(ARRAY_BUFFER, 4 * Self::BUCKETS);
        let entries = heap.object(ARRAY_BUFFER, Self::ENTRY * Self::CAPACITY);
        heap.refer(map, 0, buckets);
        heap.refer(map, 8, entries);
        let deleted = heap.random.below(Self::ENTRIES);
        let counts = [Self::CAPACITY, Self::ENTRIES, Self::ENTRIES - 1];
        heap.set(map, 4, Self::BUCKETS - 1);
        for (count, offset) in counts.into_iter().zip([12, 16, 20]) {
            heap.set(map, offset, count);
        }
        for nth in 0..Self::ENTRIES {
            let is_deleted = nth == deleted;
            let key = Self::part(heap, self.string, Self::KEY, is_deleted);
            heap.fill_with_text(key.0, Self::KEY);
            let price = Self::part(heap, self.price, Self::PRICE, is_deleted);
            heap.fill_with_numbers(price.0, Self::PRICE);
            let entry = entries.0 + nth * Self::ENTRY;
            if is_deleted {
                // A deleted entry keeps its references; only a mark shows that it is deleted.
                heap.set(entries, nth * Self::ENTRY, key.0);
                heap.set(entries, nth * Self::ENTRY + 4, price.0);
            } else {
                heap.refer_at(map, entry, key);
                heap.refer_at(map, entry + 4, price);
            }
            // The entries of a bucket, the latest first.
            let next = nth.checked_sub(Self::BUCKETS);
            let next = next.map_or(0, |next| entries.0 + next * Self::ENTRY);
            heap.set(entries, nth * Self::ENTRY + 8, next | u32::from(is_deleted));
            heap.set(buckets, 4 * (nth % Self::BUCKETS), entry);
        }
        map
    }
}

struct Sessions {
    session: Class,
    list: List,
    documents: Documents,
    maps: Maps,
    tables: Tables,
}

impl Sessions {
    const SESSION: u32 = 24;
    const LOG: u32 = 10;
}

impl Unit for Sessions {
    fn extent(&self) -> Extent {
        let session = Extent {
            objects: 1,
            bytes: block_size(Self::SESSION).into(),
        };
        session
            .plus(List::UNIT.times(Self::LOG.into()))
            .plus(self.documents.extent())
            .plus(self.maps.extent())
            .plus(self.tables.extent())
    }

    fn make(&self, heap: &mut HeapWriter<'_>) -> Object {
        let session = heap.object(self.session, Self::SESSION);
        let parts = [
            self.list.make(heap, Self::LOG),
            self.documents.make(heap),
            self.maps.make(heap),
            self.tables.make(heap),
            // The session itself, which changes nothing.
            session,
        ];
        for (part, offset) in parts.into_iter().zip((0..).step_by(4)) {
            heap.refer(session, offset, part);
        }
        session
    }
}

//! Walks over the collections of Java's own library.

use crate::container_layout::JavaContainer;
use crate::values::{JavaValue, ValueReader};
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use heap::ContainerKind;

/// A member of a collection: a key of a map with its value, or a value alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Option<JavaValue>,
    pub(crate) value: Option<JavaValue>,
}

/// Takes the entries of a collection one by one, and says whether to go on.
pub(crate) type EntrySink<'s> = dyn FnMut(&mut ValueReader<'_>, Entry) -> Result<bool> + 's;

impl JavaContainer {
    pub(crate) fn kind(self) -> ContainerKind {
        match self {
            Self::List { .. } | Self::Ring => ContainerKind::Elements,
            Self::Map { .. } => ContainerKind::Map,
            Self::Set => ContainerKind::Set,
        }
    }

    /// The number of entries as the collection counts them; `None` if it is not known without walking over them.
    pub(crate) fn count(
        self,
        reader: &mut ValueReader<'_>,
        object: ObjectIndex,
    ) -> Result<Option<u64>> {
        let count = match self {
            Self::List { size, .. } => reader.integer(object, size)?,
            Self::Ring => ring(reader, object)?.map(|ring| ring.count.into()),
            Self::Map { .. } => {
                let size = reader.integer(object, "size")?;
                match size {
                    Some(size) => Some(size),
                    // Of a Hashtable, and of a ConcurrentHashMap with few threads.
                    None => reader.integer(object, "count")?,
                }
            }
            Self::Set => match reader.target(object, "map")? {
                Some(map) => reader.integer(map, "size")?,
                None => None,
            },
        };
        Ok(count.and_then(|count| u64::try_from(count).ok()))
    }

    /// Passes on the entries. Each node and each place of the table is read once: a chain that returns to itself ends.
    pub(crate) fn walk(
        self,
        reader: &mut ValueReader<'_>,
        object: ObjectIndex,
        control: &Control,
        sink: &mut EntrySink<'_>,
    ) -> Result<()> {
        match self {
            Self::List { elements, size } => {
                let size = reader.integer(object, size)?.unwrap_or(0);
                let array = reader.target(object, elements)?;
                let Some(array) = array else { return Ok(()) };
                let room = reader.array_length(array)?.unwrap_or(0);
                let count = u32::try_from(size).unwrap_or(0).min(room);
                walk_array(reader, (array, 0, count, room), control, sink)
            }
            Self::Ring => match ring(reader, object)? {
                Some(ring) => {
                    let part = (ring.array, ring.head, ring.count, ring.room);
                    walk_array(reader, part, control, sink)
                }
                None => Ok(()),
            },
            Self::Map { table } => match reader.target(object, table)? {
                Some(table) => walk_table(reader, table, true, control, sink),
                None => Ok(()),
            },
            Self::Set => {
                let Some(map) = reader.target(object, "map")? else {
                    return Ok(());
                };
                match reader.target(map, "table")? {
                    Some(table) => walk_table(reader, table, false, control, sink),
                    None => Ok(()),
                }
            }
        }
    }
}

struct Ring {
    array: ObjectIndex,
    head: u32,
    count: u32,
    room: u32,
}

fn ring(reader: &mut ValueReader<'_>, object: ObjectIndex) -> Result<Option<Ring>> {
    let head = reader.integer(object, "head")?;
    let tail = reader.integer(object, "tail")?;
    let array = reader.target(object, "elements")?;
    let (Some(head), Some(tail), Some(array)) = (head, tail, array) else {
        return Ok(None);
    };
    let room = reader.array_length(array)?.unwrap_or(0);
    let (Ok(head), Ok(tail)) = (u32::try_from(head), u32::try_from(tail)) else {
        return Ok(None);
    };
    if head >= room || tail >= room {
        return Ok(None);
    }
    let count = if tail >= head {
        tail - head
    } else {
        room - head + tail
    };
    Ok(Some(Ring {
        array,
        head,
        count,
        room,
    }))
}

fn walk_array(
    reader: &mut ValueReader<'_>,
    (array, start, count, room): (ObjectIndex, u32, u32, u32),
    control: &Control,
    sink: &mut EntrySink<'_>,
) -> Result<()> {
    for nth in 0..count {
        control.count(1)?;
        let index = (u64::from(start) + u64::from(nth)) % u64::from(room.max(1));
        let value = reader.element(array, index as u32)?;
        if !sink(reader, Entry { key: None, value })? {
            return Ok(());
        }
    }
    Ok(())
}

/// The most nodes of one table: more than objects in the heap would be a circle.
fn walk_table(
    reader: &mut ValueReader<'_>,
    table: ObjectIndex,
    is_map: bool,
    control: &Control,
    sink: &mut EntrySink<'_>,
) -> Result<()> {
    let room = reader.array_length(table)?.unwrap_or(0);
    let mut left = reader.heap.objects.len();
    for place in 0..room {
        control.count(1)?;
        let mut next = reader.element(table, place)?;
        while let Some(JavaValue::Object(id)) = next {
            let Some(node) = reader.object(id).filter(|_| left > 0) else {
                break;
            };
            left -= 1;
            control.count(1)?;
            let key = match reader.field(node, "key")? {
                Some(key) => Some(key),
                // The entry of a WeakHashMap.
                None => reader.field(node, "referent")?,
            };
            if matches!(key, None | Some(JavaValue::Object(0))) {
                // A node of a tree in a ConcurrentHashMap: its own chain has all nodes.
                if let Some(first) = reader.target(node, "first")? {
                    next = Some(JavaValue::Object(reader.heap.address(first).0));
                    continue;
                }
                if key.is_none() {
                    break;
                }
            }
            let value = match reader.field(node, "value")? {
                Some(value) => Some(value),
                None => reader.field(node, "val")?,
            };
            let entry = if is_map {
                Entry { key, value }
            } else {
                Entry {
                    key: None,
                    value: key,
                }
            };
            if !sink(reader, entry)? {
                return Ok(());
            }
            next = reader.field(node, "next")?;
        }
    }
    Ok(())
}

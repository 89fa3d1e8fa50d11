//! The order of objects: by id, whatever the order of nodes in the file.

use rayon::prelude::*;

use super::raw::RawSnapshot;
use crate::SnapshotError;
use base::columns;
use base::error::Result;

/// The node that is not an object.
pub(super) const NO_OBJECT: u32 = u32::MAX;

/// The order of objects.
pub(super) enum Order {
    /// The nodes except the root, as in the file: their ids ascend.
    OfFile { root: u32 },
    /// Another one: the node of each object, and the object of each node.
    ById {
        nodes: Vec<u32>,
        object_of: Vec<u32>,
    },
}

impl Order {
    pub(super) fn by_id(raw: &RawSnapshot) -> Result<Self> {
        let (before, after) = raw.ids.split_at(raw.root as usize);
        let (of_root, after) = (after[0], &after[1..]);
        let ids = before.iter().chain(after);
        let has_id_of_root = |ids: &[u32]| ids.binary_search(&of_root).is_ok();
        if ids.is_sorted_by(|one, other| one < other)
            && !has_id_of_root(before)
            && !has_id_of_root(after)
        {
            return Ok(Self::OfFile { root: raw.root });
        }
        let nodes = order_by_id(raw)?;
        let mut object_of = columns::repeated(NO_OBJECT, raw.len())?;
        for (&node, object) in nodes.iter().zip(0..) {
            object_of[node as usize] = object;
        }
        Ok(Self::ById { nodes, object_of })
    }

    /// The object of a node; [`NO_OBJECT`] for the root.
    #[inline]
    pub(super) fn object_of(&self, node: u32) -> u32 {
        match self {
            &Self::OfFile { root } if node == root => NO_OBJECT,
            &Self::OfFile { root } => node - u32::from(node > root),
            Self::ById { object_of, .. } => object_of[node as usize],
        }
    }

    /// A column of nodes as one of objects. It may be empty.
    pub(super) fn column<T: Copy>(&self, mut column: Vec<T>) -> Result<Vec<T>> {
        match self {
            _ if column.is_empty() => Ok(column),
            &Self::OfFile { root } => {
                column.remove(root as usize);
                Ok(column)
            }
            Self::ById { nodes, .. } => {
                columns::collected(nodes.iter().map(|&node| column[node as usize]))
            }
        }
    }
}

/// The nodes except the root, by id. No two nodes have one id, the root included.
fn order_by_id(raw: &RawSnapshot) -> Result<Vec<u32>> {
    let mut keyed: Vec<u64> = columns::with_capacity(raw.len())?;
    let nodes = raw.ids.iter().zip(0u32..);
    keyed.extend(nodes.map(|(&id, node)| u64::from(id) << 32 | u64::from(node)));
    keyed.par_sort_unstable();
    let same = keyed.windows(2).find(|pair| pair[0] >> 32 == pair[1] >> 32);
    if let Some(&[one, other]) = same {
        let (id, first, second) = (one >> 32, one as u32, other as u32);
        return Err(SnapshotError::Unreadable {
            offset: raw.nodes_offset,
            message: format!(
                "nodes {first} and {second} have the id {id}: expected an id for each"
            ),
        }
        .into());
    }
    keyed.retain(|&key| key as u32 != raw.root);
    columns::collected(keyed.iter().map(|&key| key as u32))
}

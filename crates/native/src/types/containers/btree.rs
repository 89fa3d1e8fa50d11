//! `BTreeMap` of Rust: nodes with up to 11 keys and values. Those above the leaves begin as a leaf does, and have edges.

use super::super::spread::{BlockType, Spread};
use super::super::table::TypeId;
use base::error::Result;
use heap::TypeEvidence;

const MOST_KEYS: u32 = 11;
/// With 12 edges at each node, no tree in a memory of 32 bits is higher.
const HIGHEST: u32 = 32;

/// Where the parts of a node lie.
struct NodeLayout {
    leaf: TypeId,
    internal: Option<TypeId>,
    length: u32,
    keys: u32,
    values: Option<u32>,
    edges: u32,
}

impl Spread<'_, '_> {
    /// `None` if the members are other ones than those of the versions that are known.
    pub(super) fn btree(&mut self, address: u32, id: TypeId) -> Result<Option<()>> {
        let (Some(root), Some(height)) = (
            self.part_word(address, id, &["root", "node"]),
            self.part_word(address, id, &["root", "height"]),
        ) else {
            return Ok(None);
        };
        if root == 0 {
            return Ok(Some(()));
        }
        let arguments = self
            .types
            .argument(id, "K")
            .zip(self.types.argument(id, "V"));
        let (Some(layout), Some(arguments)) = (self.node_layout(id), arguments) else {
            return Ok(None);
        };
        if height > HIGHEST {
            return Ok(Some(()));
        }
        let mut open = vec![(root, height)];
        while let Some((node, height)) = open.pop() {
            self.node(node, height, &layout, arguments, &mut open)?;
        }
        Ok(Some(()))
    }

    fn node_layout(&self, id: TypeId) -> Option<NodeLayout> {
        let types = self.types;
        let pointer = self.parts.part_at(id, &["root", "node", "pointer"])?;
        let leaf = types.pointee(pointer.type_id)?;
        let name = types.get(leaf).name;
        let internal = name.strip_prefix("LeafNode<");
        let internal = internal.map(|rest| format!("InternalNode<{rest}"));
        let internal = internal.and_then(|name| types.named(&name).first().copied());
        let edges = internal.and_then(|internal| self.parts.part(internal, "edges"));
        Some(NodeLayout {
            leaf,
            internal,
            length: types.member(leaf, "len")?.offset,
            keys: types.member(leaf, "keys")?.offset,
            values: types.member(leaf, "vals").map(|member| member.offset),
            edges: edges.map_or(0, |edges| edges.offset),
        })
    }

    fn node(
        &mut self,
        node: u32,
        height: u32,
        layout: &NodeLayout,
        (key, value): (TypeId, TypeId),
        open: &mut Vec<(u32, u32)>,
    ) -> Result<()> {
        let type_id = if height > 0 {
            layout.internal
        } else {
            Some(layout.leaf)
        };
        let (Some(type_id), Some((block, start, usable))) = (type_id, self.block(node)) else {
            return Ok(());
        };
        let is_new = start == node && self.fits_once(type_id, usable) && self.see(node, type_id)?;
        if !is_new {
            return Ok(());
        }
        let length = self.word(node.saturating_add(layout.length & !3));
        let length = length.map(|word| word >> ((layout.length & 3) * 8) & 0xffff);
        let Some(length) = length.filter(|&length| length <= MOST_KEYS) else {
            return Ok(());
        };
        self.assign_type(block, BlockType::one(type_id, TypeEvidence::Container))?;
        self.place(node.wrapping_add(layout.keys), key, length)?;
        if let Some(values) = layout.values {
            self.place(node.wrapping_add(values), value, length)?;
        }
        if height > 0 {
            let edges = (0..=length)
                .map(|nth| self.word(node.wrapping_add(layout.edges).wrapping_add(nth * 4)));
            open.extend(edges.flatten().map(|edge| (edge, height - 1)));
        }
        Ok(())
    }
}

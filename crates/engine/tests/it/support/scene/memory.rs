//! The blocks of a scene in the memory of its dump.

use super::*;

impl Scene {
    pub(super) fn managed(&self) -> impl Iterator<Item = (Block, u32, u32)> + '_ {
        let blocks = self.regions.iter().flat_map(|region| &region.blocks);
        blocks.filter_map(|&block| match block.kind {
            BlockKind::Managed { id, size } => Some((block, id, size)),
            _ => None,
        })
    }

    pub(super) fn write_blocks(&self, dump: &mut DumpFile) {
        for region in &self.regions {
            let end = region.end.map_or(self.memory_size(), u64::from);
            let tail = (end - 4) as u32;
            let mut region = region.clone();
            if region.next < tail {
                region.blocks.push(Block {
                    address: region.next,
                    payload_size: tail - region.next - 4,
                    kind: BlockKind::Free,
                });
                region.merge_last_two_if_free();
            }
            let mut left_flag = 0;
            for block in region.blocks {
                let is_free = block.kind == BlockKind::Free;
                let own_flag = if is_free { FREE } else { 0 };
                dump.poke(block.address, block.payload_size | own_flag | left_flag);
                if is_free {
                    dump.poke(block.address + block.payload_size, block.address);
                    dump.memory()
                        .add_to_free_list(ALLOCATOR, block.address, block.payload_size);
                }
                left_flag = if is_free { LEFT_FREE } else { 0 };
            }
            dump.poke(tail, left_flag);
            dump.poke(TAIL_POINTER, tail);
        }
    }

    /// Pinned objects go to pinSpace, the others to fromSpace. Static objects stay unlinked, as
    /// they are until the collector first meets them.
    pub(super) fn link_objects(&self, dump: &mut DumpFile) {
        let [from_space, to_space, pin_space] = LIST_HEADS;
        let is_pinned = |block: u32| self.pinned.contains(&Object(block + OBJECT_HEADER));
        let members = |pinned: bool| {
            self.managed()
                .map(|(block, ..)| block.address)
                .filter(move |&block| is_pinned(block) == pinned)
                .collect::<Vec<_>>()
        };
        dump.memory().link(from_space, &members(false), 0);
        dump.memory().link(to_space, &[], 0);
        dump.memory().link(pin_space, &members(true), PINNED_COLOR);
        for (block, id, size) in self.managed() {
            dump.poke(block.address + 12, id);
            dump.poke(block.address + 16, size);
        }
    }
}

//! Maps and sets: the number of their used and unused entries.

use rayon::prelude::*;

use super::Context;
use super::read_ahead::read_ahead;
use super::survey::TableUse;
use crate::columns;
use crate::control::Step;
use crate::error::Result;
use crate::questions::memory::{LONG_WINDOW, Reader, word_at};
use crate::questions::roles::Role;
use crate::runtime::shapes::Entries;
use crate::units::ObjectIndex;

/// The number of tables that one task reads.
const CHUNK: usize = 1 << 10;
/// The largest number of tables with the same buffer that are read. In an undamaged heap there is one.
const MOST_SHARING: usize = 16;

/// A map or a set, and the number of its entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    pub(super) table: ObjectIndex,
    pub(super) buckets: ObjectIndex,
    pub(super) entries: ObjectIndex,
    /// The bytes of the other entries.
    pub(super) unused: u64,
    /// Whether it has no entries and no additional fields.
    pub(super) is_empty: bool,
}

impl Context<'_> {
    /// Counts the entries of maps and sets. Those whose entries do not fit their buffer are left out.
    pub(super) fn tables(
        &self,
        mut uses: Vec<TableUse>,
        sizes: &[u32],
        step: &Step<'_>,
    ) -> Result<Vec<Table>> {
        uses.retain(|of| {
            let stride = self.layout(of).map_or(0, |entries| entries.stride);
            let room = sizes[of.entries.at()];
            stride > 0
                && of.used <= of.capacity
                && u64::from(of.capacity) * u64::from(stride) <= room.into()
        });
        uses.par_sort_unstable_by_key(|of| (of.entries, of.table));
        let mut last = (None, 0);
        uses.retain(|of| {
            let (entries, count) = last;
            let count = if entries == Some(of.entries) {
                count
            } else {
                0
            };
            last = (Some(of.entries), count + 1);
            count < MOST_SHARING
        });
        let chunks = uses.par_chunks(CHUNK);
        let tables = chunks.map_init(
            || Reader::new(self.heap),
            |reader, uses| {
                let mut tables = columns::with_capacity(uses.len())?;
                for nth in 0..uses.len() {
                    tables.extend(self.table(&uses[nth..], reader)?);
                }
                step.advance(0)?;
                Ok(tables)
            },
        );
        let tables: Vec<Vec<Table>> = tables.collect::<Result<_>>()?;
        let mut all = columns::with_capacity(uses.len())?;
        tables
            .iter()
            .for_each(|tables| all.extend_from_slice(tables));
        all.par_sort_unstable_by_key(|table: &Table| table.table);
        Ok(all)
    }

    fn layout(&self, of: &TableUse) -> Option<Entries> {
        match self.role(of.table) {
            Role::Table(entries) => Some(entries),
            _ => None,
        }
    }

    /// The first of these tables; the others are read with it if they are close.
    fn table(&self, uses: &[TableUse], reader: &mut Reader<'_>) -> Result<Option<Table>> {
        let [of, ..] = uses else { return Ok(None) };
        let Some(entries) = self.layout(of) else {
            return Ok(None);
        };
        let stride = entries.stride;
        let per_piece = (LONG_WINDOW / stride).max(1);
        let piece = |of: &TableUse, first: u32| {
            let stride = self.layout(of).map_or(0, |entries| entries.stride);
            let address = self.heap.heap.address(of.entries).0;
            let count = of.used.saturating_sub(first).min(per_piece);
            (address + first * stride, count * stride)
        };
        let mut filled = 0;
        for first in (0..of.used).step_by(per_piece as usize) {
            let following = uses[1..].iter().map(|of| piece(of, 0));
            let pieces = [piece(of, first)].into_iter().chain(following);
            let bytes = read_ahead(reader, pieces)?;
            let entries = bytes.chunks_exact(stride as usize).filter(|entry| {
                let tagged_next = word_at(entry, entries.tagged_next as usize);
                tagged_next.is_some_and(|tagged_next| tagged_next & 1 == 0)
            });
            filled += entries.count() as u32;
        }
        Ok(Some(Table {
            table: of.table,
            buckets: of.buckets,
            entries: of.entries,
            unused: u64::from(of.capacity - filled) * u64::from(stride),
            is_empty: filled == 0 && of.is_plain,
        }))
    }
}

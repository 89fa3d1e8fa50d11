//! The retained sizes of objects: in one sweep from the last object to the first, each adds its sum to that of its
//! immediate dominator.

use rayon::prelude::*;

use super::huge_sizes::HUGE;
use super::search::ROOT;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;

/// What of a dominator tree the sizes are added up by.
#[derive(Clone, Copy)]
pub(super) struct SizedTree<'t> {
    /// Search number, less one → object.
    pub(super) order: &'t [ObjectIndex],
    /// Search number → search number of the immediate dominator.
    pub(super) immediate_dominators: &'t [u32],
}

/// Sizes of at least [`HUGE`] bytes, ascending by object.
pub(crate) type HugeSizes = Vec<(ObjectIndex, u64)>;

impl SizedTree<'_> {
    /// Replaces the search numbers of all objects by their retained sizes. `sums` is memory for one number
    /// per node.
    pub(super) fn retained_sizes(
        self,
        sizes: &[u32],
        mut sums: Vec<u32>,
        numbers: Vec<u32>,
        control: &Control,
    ) -> Result<Vec<u32>> {
        /// The number of objects that a thread takes at once.
        const ROUND: usize = 1 << 16;
        let live = self.order.len();
        let step = control.begin(Phase::Sizes, 2 * live as u64 + numbers.len() as u64);
        let objects = self.order.par_chunks(ROUND);
        sums[1..]
            .par_chunks_mut(ROUND)
            .zip(objects)
            .try_for_each(|(sums, objects)| {
                for (sum, object) in sums.iter_mut().zip(objects) {
                    *sum = sizes[object.at()];
                }
                step.advance(sums.len() as u64)
            })?;
        // Dominators come before the objects that they dominate. So in one pass from the end, every sum is
        // complete when it is added.
        for number in (1..=live).rev() {
            let sum = sums[number];
            let dominator = &mut sums[self.immediate_dominators[number] as usize];
            *dominator = dominator.wrapping_add(sum);
            if number.is_multiple_of(ROUND) {
                step.advance(ROUND as u64)?;
            }
        }
        // Objects that were not reached have the number of the virtual root.
        sums[ROOT as usize] = 0;
        let mut retained = numbers;
        retained.par_chunks_mut(ROUND).try_for_each(|numbers| {
            for number in numbers.iter_mut() {
                *number = sums[*number as usize];
            }
            step.advance(numbers.len() as u64)
        })?;
        Ok(retained)
    }

    /// As `retained_sizes`, with sums of 64 bits.
    pub(super) fn wide_retained_sizes(
        self,
        sizes: &[u32],
        huge: &[(ObjectIndex, u64)],
        numbers: Vec<u32>,
        control: &Control,
    ) -> Result<(Vec<u32>, HugeSizes)> {
        let live = self.order.len();
        let step = control.begin(Phase::Sizes, live as u64);
        let mut sums = columns::repeated(0u64, live + 1)?;
        for (sum, object) in sums[1..].iter_mut().zip(self.order) {
            *sum = sizes[object.at()].into();
        }
        for &(object, size) in huge {
            match numbers[object.at()] {
                ROOT => {}
                number => sums[number as usize] = size,
            }
        }
        for number in (1..=live).rev() {
            let sum = sums[number];
            let dominator = &mut sums[self.immediate_dominators[number] as usize];
            *dominator = dominator.saturating_add(sum);
            if number.is_multiple_of(CHECK_INTERVAL) {
                step.advance(CHECK_INTERVAL as u64)?;
            }
        }
        sums[ROOT as usize] = 0;
        let mut retained = numbers;
        let mut huge = Vec::new();
        for (nth, number) in retained.iter_mut().enumerate() {
            let size = sums[*number as usize];
            *number = u32::try_from(size).unwrap_or(HUGE);
            if *number == HUGE {
                columns::push(&mut huge, (ObjectIndex(nth as u32), size))?;
            }
        }
        Ok((retained, huge))
    }
}

//! Passes over the heap in pieces of bounded size. Each piece goes through these steps, and pieces do so in
//! the order of the heap:
//!
//! 1. It is divided. Here.
//! 2. What its text depends on is read. On rayon's threads.
//! 3. What is new in it is numbered. Here.
//! 4. Its text is made. On rayon's threads.
//! 5. Its text is written. Here.
//!
//! "Here" is the thread of the export. All steps run at the same time, for different pieces.

use super::super::output::Output;
use base::control::Step;
use base::error::Result;
use heap::{ContentReader, OpenedContents};

/// Pieces at each step, for each thread of rayon. More than one, because they do not take equally long.
const LANES_PER_THREAD: usize = 4;

/// Pieces at each step, at most. All pieces together must stay small.
const MOST_LANES: usize = 15;

/// A part of the heap that goes through the steps, and its buffers, which are used again.
pub(super) trait WorkPiece: Default + Send {
    /// What steps 2 and 4 know of the heap.
    type Pass<'p>: Sync;

    /// Step 2, for passes that read ahead.
    fn read(&mut self, _: &Self::Pass<'_>, _: &mut dyn ContentReader) -> Result<()> {
        Ok(())
    }

    /// Step 4, into an empty buffer.
    fn write(
        &mut self,
        pass: &Self::Pass<'_>,
        memory: &mut dyn ContentReader,
        text: &mut Vec<u8>,
    ) -> Result<()>;

    /// Units of work.
    fn units(&self) -> u64;
}

/// Steps 1 and 3.
pub(super) trait Sequence<P> {
    /// Makes a piece the next part of the heap; returns whether there was one.
    fn next_part(&mut self, piece: &mut P, memory: &mut dyn ContentReader) -> Result<bool>;

    /// Numbers what is new in a piece.
    fn number(&mut self, piece: &mut P) -> Result<()>;
}

/// The memory of the dump, for each lane and for this thread.
pub(super) struct Memories<'h> {
    opened: &'h dyn OpenedContents,
    lanes: Vec<Box<dyn ContentReader + 'h>>,
    here: Box<dyn ContentReader + 'h>,
}

impl<'h> Memories<'h> {
    pub(super) fn new(opened: &'h dyn OpenedContents) -> Result<Self> {
        let lanes = (rayon::current_num_threads() * LANES_PER_THREAD).clamp(1, MOST_LANES);
        let memory = || opened.reader(lanes + 1);
        Ok(Self {
            opened,
            lanes: (0..lanes).map(|_| memory()).collect::<Result<_>>()?,
            here: memory()?,
        })
    }
}

/// A place for a piece.
struct PieceSlot<P> {
    piece: P,
    text: Vec<u8>,
    is_used: bool,
    result: Result<()>,
}

impl<P: Default> Default for PieceSlot<P> {
    fn default() -> Self {
        Self {
            piece: P::default(),
            text: Vec::new(),
            is_used: false,
            result: Ok(()),
        }
    }
}

/// Takes all of the heap through the steps.
pub(super) fn run<P: WorkPiece>(
    pass: &P::Pass<'_>,
    sequence: &mut impl Sequence<P>,
    memories: &mut Memories<'_>,
    output: &mut Output<'_>,
    step: &Step<'_>,
) -> Result<()> {
    let Memories {
        opened,
        lanes,
        here,
    } = memories;
    let slots = || {
        let slots = std::iter::repeat_with(PieceSlot::<P>::default);
        slots.take(lanes.len()).collect::<Vec<_>>()
    };
    let mut batches = [slots(), slots(), slots(), slots()];
    let mut is_at_end = false;
    while !is_at_end || batches.iter().flatten().any(|slot| slot.is_used) {
        // What is written makes room for the next parts.
        let [reading, numbering, writing, done] = &mut batches;
        rayon::in_place_scope(|scope| -> Result<()> {
            for ((memory, first), second) in lanes.iter_mut().zip(reading).zip(writing) {
                if !first.is_used && !second.is_used {
                    continue;
                }
                scope.spawn(move |_| {
                    if second.is_used {
                        second.text.clear();
                        second.result = second.piece.write(pass, &mut **memory, &mut second.text);
                    }
                    if first.is_used {
                        first.result = first.piece.read(pass, &mut **memory);
                    }
                });
            }
            for slot in numbering.iter_mut().filter(|slot| slot.is_used) {
                sequence.number(&mut slot.piece)?;
            }
            for slot in done {
                if slot.is_used {
                    output.append(&slot.text)?;
                    step.advance(slot.piece.units())?;
                }
                slot.is_used = !is_at_end && sequence.next_part(&mut slot.piece, &mut **here)?;
                is_at_end |= !slot.is_used;
            }
            Ok(())
        })?;
        // After the bytes were read, so that every earlier change is detected.
        opened.check()?;
        // The parts that were first come first.
        for slot in batches.iter_mut().rev().flatten() {
            std::mem::replace(&mut slot.result, Ok(()))?;
        }
        batches.rotate_right(1);
    }
    Ok(())
}

//! Immediate dominators from semidominators.

use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;

/// Finds immediate dominators: the nearest ancestor, in the dominator tree so far, that is not
/// above the semidominator.
///
/// It is found by walking up from the parent, which is almost always one or two steps. If the nodes of a long
/// list share objects, the search may find each of these first from the end of the list, while its dominator
/// is near the start: then all walks together are quadratic. Therefore, after the walks have taken more steps
/// than there are nodes, every node also gets a jump to an ancestor further up, and a walk takes a
/// logarithmic number of steps.
pub(super) struct Ancestors {
    /// The number of steps that are still allowed without jumps.
    walk_budget: usize,
    /// Node → its depth and the target of its jump; empty as long as walks are short.
    jumps: Vec<Jump>,
}

#[derive(Clone, Copy, Default)]
struct Jump {
    depth: u32,
    ancestor: u32,
}

impl Ancestors {
    pub(super) fn new(walk_budget: usize) -> Self {
        Self {
            walk_budget,
            jumps: Vec::new(),
        }
    }

    /// Turns parents into immediate dominators.
    pub(super) fn find_dominators(
        &mut self,
        dominators: &mut [u32],
        semidominators: &[u32],
        step: &Step<'_>,
    ) -> Result<()> {
        for number in 1..dominators.len() as u32 {
            let semidominator = semidominators[number as usize];
            let mut dominator = dominators[number as usize];
            if self.jumps.is_empty() {
                while dominator > semidominator && self.walk_budget > 0 {
                    dominator = dominators[dominator as usize];
                    self.walk_budget -= 1;
                }
                if self.walk_budget == 0 {
                    self.jumps = columns::with_capacity(dominators.len())?;
                    self.jumps.push(Jump::default());
                    for earlier in 1..number {
                        self.add_jump(dominators[earlier as usize]);
                    }
                }
            }
            if !self.jumps.is_empty() {
                while dominator > semidominator {
                    let jump = self.jumps[dominator as usize].ancestor;
                    dominator = if jump > semidominator {
                        jump
                    } else {
                        dominators[dominator as usize]
                    };
                }
                self.add_jump(dominator);
            }
            dominators[number as usize] = dominator;
            if (number as usize).is_multiple_of(CHECK_INTERVAL) {
                step.advance(CHECK_INTERVAL as u64 / 2)?;
            }
        }
        Ok(())
    }

    /// Adds the next node. Two consecutive jumps of the same length are joined, with one more step, so the
    /// lengths are those of skew-binary numbers.
    fn add_jump(&mut self, dominator: u32) {
        let Jump { depth, ancestor } = self.jumps[dominator as usize];
        let first = self.jumps[ancestor as usize];
        let second = self.jumps[first.ancestor as usize];
        let is_twice = depth - first.depth == first.depth - second.depth;
        self.jumps.push(Jump {
            depth: depth + 1,
            ancestor: if is_twice { first.ancestor } else { dominator },
        });
    }
}

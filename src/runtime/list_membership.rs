//! Which blocks are in a list of the collector's, if the module does not say where the lists begin.
//!
//! The lists are rings through their heads, and the heads are static: whoever follows `next` from
//! an object comes to an address below the heap. Raw blocks that point at each other lead nowhere
//! but round.

use super::objects::next_of;
use crate::columns;
use crate::dump::Memory;
use crate::error::Result;
use crate::units::Address;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Membership {
    Unknown,
    /// On the way that is being followed.
    Followed,
    Member,
    Outsider,
}

/// For each of these blocks, whose neighbours point back at them, whether it is in a list.
/// `position_of` tells where in `linked` a block is.
///
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn list_members(
    memory: Memory<'_>,
    first_block: Address,
    linked: &[Address],
    position_of: impl Fn(Address) -> Option<usize>,
) -> Result<Vec<bool>> {
    let mut memberships = columns::repeated(Membership::Unknown, linked.len())?;
    let mut way = Vec::new();
    for start in 0..linked.len() {
        let mut at = start;
        let verdict = loop {
            match memberships[at] {
                Membership::Unknown => {}
                Membership::Member => break Membership::Member,
                Membership::Followed | Membership::Outsider => break Membership::Outsider,
            }
            memberships[at] = Membership::Followed;
            columns::push(&mut way, at)?;
            at = match next_of(memory, linked[at]) {
                Some(next) if next < first_block => break Membership::Member,
                Some(next) => match position_of(next) {
                    Some(position) => position,
                    None => break Membership::Outsider,
                },
                None => break Membership::Outsider,
            };
        };
        for at in way.drain(..) {
            memberships[at] = verdict;
        }
    }
    let memberships = memberships.into_iter();
    columns::collected(memberships.map(|membership| membership == Membership::Member))
}

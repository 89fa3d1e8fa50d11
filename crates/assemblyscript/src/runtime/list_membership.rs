//! Finds the blocks that are in a list of the collector, if the module does not say where the lists begin.
//!
//! The lists are rings through their heads, and the heads are static: the links of an object therefore lead
//! to an address below the heap. Links between raw blocks that point at each other only lead to these blocks.

use super::objects::{next_of, previous_of};
use base::columns;
use base::error::Result;
use base::units::Address;
use dumps::Memory;

#[derive(Clone, Copy, PartialEq, Eq)]
enum ListState {
    Unknown,
    /// On the path that is being followed.
    Followed,
    Member,
    Outsider,
}

/// For each of these blocks, whose neighbours refer back to them, whether it is in a list. `position_of`
/// returns the position of a block in `linked`.
///
/// A list is broken in a dump that was taken while the collector changed it. Therefore it is followed in both
/// directions: then only the objects at the break are lost, and not all objects before it.
///
/// # Errors
/// [`Error::OutOfMemory`](base::Error::OutOfMemory).
pub fn list_members(
    memory: Memory<'_>,
    first_block: Address,
    linked: &[Address],
    position_of: impl Fn(Address) -> Option<usize>,
) -> Result<Vec<bool>> {
    let leads_to = |neighbour: Option<Address>| match neighbour {
        Some(neighbour) if neighbour < first_block => Link::ListHead,
        Some(neighbour) => position_of(neighbour).map_or(Link::Elsewhere, Link::Block),
        None => Link::Elsewhere,
    };
    let mut are_members = follow(linked.len(), |at| leads_to(next_of(memory, linked[at])))?;
    if are_members.contains(&false) {
        let backwards = follow(linked.len(), |at| leads_to(previous_of(memory, linked[at])))?;
        for (is_member, backwards) in are_members.iter_mut().zip(backwards) {
            *is_member |= backwards;
        }
    }
    Ok(are_members)
}

/// The target of a link.
enum Link {
    /// Below the heap, where the heads are.
    ListHead,
    /// To another one of the blocks.
    Block(usize),
    /// To anything else.
    Elsewhere,
}

/// For each of `count` blocks, whether its links lead to a list head.
fn follow(count: usize, link_from: impl Fn(usize) -> Link) -> Result<Vec<bool>> {
    let mut memberships = columns::repeated(ListState::Unknown, count)?;
    let mut path = Vec::new();
    for start in 0..count {
        let mut at = start;
        let verdict = loop {
            match memberships[at] {
                ListState::Unknown => {}
                ListState::Member => break ListState::Member,
                ListState::Followed | ListState::Outsider => break ListState::Outsider,
            }
            memberships[at] = ListState::Followed;
            columns::push(&mut path, at)?;
            at = match link_from(at) {
                Link::ListHead => break ListState::Member,
                Link::Block(position) => position,
                Link::Elsewhere => break ListState::Outsider,
            };
        };
        for at in path.drain(..) {
            memberships[at] = verdict;
        }
    }
    let memberships = memberships.into_iter();
    columns::collected(memberships.map(|membership| membership == ListState::Member))
}

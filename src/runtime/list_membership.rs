//! Which blocks are in a list of the collector's, if the module does not say where the lists begin.
//!
//! The lists are rings through their heads, and the heads are static: whoever follows `next` from
//! an object comes to an address below the heap. Raw blocks that point at each other lead nowhere
//! but round.

use super::objects::next_of;
use crate::dump::Memory;
use crate::units::Address;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Membership {
    Unknown,
    /// On the way that is being followed.
    Followed,
    Member,
    Outsider,
}

/// For each of these blocks, which are ascending and whose neighbours point back at them, whether
/// it is in a list.
pub fn list_members(memory: Memory<'_>, first_block: Address, linked: &[u32]) -> Vec<bool> {
    let mut memberships = vec![Membership::Unknown; linked.len()];
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
            way.push(at);
            at = match next_of(memory, Address(linked[at])) {
                Some(next) if next < first_block => break Membership::Member,
                Some(next) => match linked.binary_search(&next.0) {
                    Ok(position) => position,
                    Err(_) => break Membership::Outsider,
                },
                None => break Membership::Outsider,
            };
        };
        for at in way.drain(..) {
            memberships[at] = verdict;
        }
    }
    memberships
        .into_iter()
        .map(|membership| membership == Membership::Member)
        .collect()
}

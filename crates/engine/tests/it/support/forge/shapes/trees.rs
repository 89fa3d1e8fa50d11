//! Trees: one in the order of memory, one in random order.

use super::super::super::{Class, OBJECT_HEADER, Object, Scene};
use super::super::heap_writer::{HeapWriter, LIST, block_size};
use super::super::random::Permutation;
use super::super::{Extent, Filling, is_sample};
use super::root;

const CHILDREN: u32 = 8;
const BRANCH: u32 = 4 * (CHILDREN + 1);
const BRANCH_BLOCK: u32 = block_size(BRANCH);

/// A bushy tree: eight children each, which know their parent. Laid out level by level.
pub fn tree(scene: &mut Scene) -> Box<dyn Filling> {
    let branch = scene.class("assembly/index/Branch");
    for nth in 0..CHILDREN {
        scene.field(branch, &format!("child{nth}"), 4 * nth, branch);
    }
    scene.field(branch, "parent", 4 * CHILDREN, branch);
    root(scene, branch);
    Box::new(Tree { branch })
}

struct Tree {
    branch: Class,
}

impl Filling for Tree {
    fn extent(&self, units: u64) -> Extent {
        Extent {
            objects: units,
            bytes: units * u64::from(BRANCH_BLOCK),
        }
    }

    fn fill(&self, heap: &mut HeapWriter<'_>, units: u32) -> Object {
        let first = heap.next_object();
        let address = |nth: u32| Object(first.0 + nth * BRANCH_BLOCK);
        for nth in 0..units {
            let branch = heap.object(self.branch, BRANCH);
            if nth > 0 {
                heap.refer(branch, 4 * CHILDREN, address((nth - 1) / CHILDREN));
            }
            let first_child = u64::from(nth) * u64::from(CHILDREN) + 1;
            let children = (first_child..u64::from(units)).take(CHILDREN as usize);
            for (child, offset) in children.zip((0..).step_by(4)) {
                heap.refer(branch, offset, address(child as u32));
            }
            if is_sample(nth) {
                let bytes = size_below(nth.into(), units.into()) * u64::from(BRANCH_BLOCK);
                heap.knows(branch, bytes);
            }
        }
        first
    }
}

/// How many branches there are below one, itself included.
fn size_below(branch: u64, count: u64) -> u64 {
    let children = u64::from(CHILDREN);
    let level =
        |&(first, last): &(u64, u64)| Some((first * children + 1, last * children + children));
    std::iter::successors(Some((branch, branch)), level)
        .take_while(|&(first, _)| first < count)
        .map(|(first, last)| last.min(count - 1) - first + 1)
        .sum()
}

const NODE: u32 = 28;
const NODE_BLOCK: u32 = block_size(NODE);

/// A binary tree whose nodes are at random addresses, each with a reference to a random node, in a list with
/// another random order: consecutive accesses are never near each other.
pub fn shuffled(scene: &mut Scene) -> Box<dyn Filling> {
    let node = scene.class("assembly/index/Node");
    for (offset, name) in [0, 4, 8].into_iter().zip(["left", "right", "other"]) {
        scene.field(node, name, offset, node);
    }
    for offset in (12..NODE).step_by(4) {
        scene.field(node, &format!("number{offset}"), offset, "i32");
    }
    root(scene, node);
    Box::new(Shuffled { node })
}

struct Shuffled {
    node: Class,
}

impl Filling for Shuffled {
    fn extent(&self, units: u64) -> Extent {
        Extent {
            objects: units,
            bytes: units * u64::from(NODE_BLOCK),
        }
    }

    fn fill(&self, heap: &mut HeapWriter<'_>, units: u32) -> Object {
        let places = Permutation::new(units, &mut heap.random);
        let list = Permutation::new(units, &mut heap.random);
        let first = heap.next_object();
        let at_place = |place: u32| Object(first.0 + place * NODE_BLOCK);
        let in_list = |position: Option<u32>| {
            let position = position.filter(|&position| position < units);
            position.map_or(LIST, |position| {
                at_place(list.at(position)).0 - OBJECT_HEADER
            })
        };
        for place in 0..units {
            let position = list.position_of(place);
            let neighbours = [position.checked_sub(1), Some(position + 1)].map(in_list);
            let node = heap.object_between(self.node, NODE, neighbours);
            let left = u64::from(places.position_of(place)) * 2 + 1;
            for (child, offset) in [left, left + 1].into_iter().zip([0, 4]) {
                if child < u64::from(units) {
                    heap.refer(node, offset, at_place(places.at(child as u32)));
                }
            }
            let other = heap.random.below(units);
            heap.refer(node, 8, at_place(other));
            heap.fill_with_numbers(node.0 + 12, NODE - 12);
        }
        let root = at_place(places.at(0));
        heap.knows(root, heap.live().bytes);
        root
    }
}

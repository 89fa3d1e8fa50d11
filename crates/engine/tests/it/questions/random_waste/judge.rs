//! The definition, and the comparison with it.

use super::{HEADER, KINDS, Made, What, World, any_plan};
use crate::support::{DumpFile, Object, ask, open};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The memory, and which kind claims each byte.
struct Judge<'w> {
    world: &'w World,
    dump: DumpFile,
    live: BTreeSet<Object>,
    /// By address: the number of the kind; none for objects that waste nothing.
    claims: Vec<Option<usize>>,
    counts: [u64; KINDS.len()],
}

fn block_size(size: u32) -> u32 {
    (size + HEADER).next_multiple_of(16)
}

impl<'w> Judge<'w> {
    fn new(world: &'w World) -> Self {
        let dump = world.dump();
        let mut live = BTreeSet::new();
        let mut pending: Vec<Object> = world.roots.iter().copied().collect();
        while let Some(object) = pending.pop() {
            if live.insert(object) {
                let made = world
                    .made
                    .iter()
                    .find(|made| made.object == object)
                    .unwrap();
                pending.extend(made.references.iter().map(|&(target, _)| target));
            }
        }
        let claims = vec![None; dump.memory_size() as usize];
        let mut judge = Self {
            world,
            dump,
            live,
            claims,
            counts: [0; KINDS.len()],
        };
        judge.judge();
        judge
    }

    fn live_objects(&self) -> Vec<&'w Made> {
        let made = self.world.made.iter();
        let mut live: Vec<_> = made
            .filter(|made| self.live.contains(&made.object))
            .collect();
        live.sort_by_key(|made| made.object);
        live
    }

    fn bytes(&self, made: &Made) -> Vec<u8> {
        let memory = &self.dump.bytes[self.dump.memory_start()..];
        memory[made.object.0 as usize..][..made.size as usize].to_vec()
    }

    fn block(&self, object: Object) -> u32 {
        (self.dump.peek(object.block()) & !3) + 4
    }

    /// Claims the bytes of a block from `start` on that nothing has claimed, unless it is static.
    fn claim(&mut self, kind: usize, object: Object, start: u32) -> u64 {
        let made = self
            .world
            .made
            .iter()
            .find(|made| made.object == object)
            .unwrap();
        if made.is_static {
            return 0;
        }
        let block = object.block();
        self.claim_range(kind, block + start..block + self.block(object))
    }

    fn claim_range(&mut self, kind: usize, range: std::ops::Range<u32>) -> u64 {
        let mut claimed = 0;
        for address in range {
            let claim = &mut self.claims[address as usize];
            if claim.is_none() {
                *claim = Some(kind);
                claimed += 1;
            }
        }
        claimed
    }

    fn count(&mut self, kind: usize, claimed: u64) {
        self.counts[kind] += u64::from(claimed > 0);
    }

    /// Everything live that refers to an object, as often as it does.
    fn holders(&self, object: Object) -> Vec<(&'w Made, bool)> {
        let live = self.live_objects().into_iter();
        live.flat_map(|made| {
            made.references
                .iter()
                .map(move |&(to, own)| (made, to, own))
        })
        .filter(|&(_, to, _)| to == object)
        .map(|(made, _, own)| (made, own))
        .collect()
    }

    fn is_root(&self, object: Object) -> bool {
        self.world.roots.contains(&object)
    }

    fn is_empty(&self, made: &Made) -> bool {
        match made.what {
            What::Array { length, .. } => length == 0 && made.size == 16,
            What::View { length, .. } => length == 0 && made.size == 12,
            What::StaticArray => made.size == 0,
            What::Table { .. } => self.filled(made) == 0,
            _ => false,
        }
    }

    fn is_deleted(&self, made: &Made, nth: u32) -> bool {
        let What::Table {
            entries, stride, ..
        } = made.what
        else {
            return false;
        };
        // The mark is in the word after the value of a map, or after the key of a set.
        let mark = if stride == 24 { 16 } else { 4 };
        self.dump.peek(entries.0 + nth * stride + mark) & 1 == 1
    }

    fn filled(&self, made: &Made) -> u32 {
        let What::Table { used, .. } = made.what else {
            return 0;
        };
        let filled = (0..used).filter(|&nth| !self.is_deleted(made, nth));
        filled.count() as u32
    }

    fn judge(&mut self) {
        let live = self.live_objects();
        // Copies.
        for made in &live {
            let is_copy_of = |other: &&Made| {
                let is_there = match made.what {
                    What::Text => other.is_static || self.live.contains(&other.object),
                    _ => self.live.contains(&other.object),
                };
                is_there
                    && other.object < made.object
                    && other.class == made.class
                    && self.is_comparable(other)
                    && self.bytes(other) == self.bytes(made)
            };
            let is_comparable = self.is_comparable(made);
            if is_comparable && self.world.made.iter().any(|other| is_copy_of(&other)) {
                let kind = usize::from(!matches!(made.what, What::Text));
                let claimed = self.claim(kind, made.object, 0);
                self.count(kind, claimed);
            }
        }
        // Empty containers.
        for made in &live {
            let is_claimed = self.claims[made.object.block() as usize].is_some();
            if !self.is_empty(made) || is_claimed {
                continue;
            }
            let mut claimed = self.claim(2, made.object, 0);
            for &(own, _) in &made.references {
                let holders = self.holders(own);
                let is_theirs = holders.iter().all(|(holder, _)| self.is_empty(holder));
                if is_theirs && !self.is_root(own) {
                    claimed += self.claim(2, own, 0);
                }
            }
            self.count(2, claimed);
        }
        // Views.
        for made in live.iter().filter(|made| matches!(made.what, What::Buffer)) {
            let holders = self.holders(made.object);
            let views = holders.iter().filter_map(|&(holder, _)| match holder.what {
                What::View { start, length, .. } => Some(start..start + length),
                _ => None,
            });
            let views: Vec<_> = views.collect();
            if self.is_root(made.object) || views.len() != holders.len() || views.is_empty() {
                continue;
            }
            let used: BTreeSet<u32> = views.into_iter().flatten().collect();
            let used = used.len() as u32;
            if used * 8 < made.size {
                let claimed = self.claim(3, made.object, block_size(used));
                self.count(3, claimed);
            }
        }
        // Room in arrays and tables.
        for made in &live {
            match made.what {
                What::Array { buffer, length } if self.is_alone(buffer) => {
                    let claimed = self.claim(4, buffer, block_size(length * 4));
                    self.count(4, claimed);
                }
                What::Table {
                    entries,
                    stride,
                    capacity,
                    used,
                    ..
                } if self.is_alone(entries) => {
                    let mut claimed = 0;
                    for nth in 0..capacity {
                        if nth >= used || self.is_deleted(made, nth) {
                            let start = entries.0 + nth * stride;
                            claimed += self.claim_range(5, start..start + stride);
                        }
                    }
                    self.count(5, claimed);
                }
                _ => {}
            }
        }
        for made in &live {
            let claimed = self.claim(6, made.object, HEADER + made.size);
            self.count(6, claimed);
        }
    }

    fn is_alone(&self, buffer: Object) -> bool {
        self.holders(buffer).len() == 1 && !self.is_root(buffer)
    }

    /// Whether an object can be a copy, or the original of one.
    fn is_comparable(&self, made: &Made) -> bool {
        match made.what {
            What::Text | What::StaticArray => true,
            What::Buffer => !self.holders(made.object).iter().any(|&(_, own)| own),
            _ => false,
        }
    }

    fn savings(&self, kind: usize) -> u64 {
        let claims = self.claims.iter().filter(|&&claim| claim == Some(kind));
        claims.count() as u64
    }
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap()
}

fn sum(values: &Value, key: &str) -> u64 {
    let values = values.as_array().unwrap().iter();
    values.map(|value| number(value, key)).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_byte_belongs_to_the_first_kind_that_claims_it(
        plans in prop::collection::vec(any_plan(), 1..25),
    ) {
        let world = World::new(&plans);
        let judge = Judge::new(&world);
        let heap = open(&judge.dump, &world.scene.module()).unwrap();
        let answer = ask(&heap, json!({ "question": "waste", "limit": 1000 }));
        let kinds = answer["kinds"].as_array().unwrap();
        let names: Vec<&str> = kinds.iter().map(|kind| kind["kind"].as_str().unwrap()).collect();
        prop_assert_eq!(names, KINDS);
        for (nth, kind) in kinds.iter().enumerate() {
            prop_assert_eq!(number(kind, "savings"), judge.savings(nth), "{}", kind);
            prop_assert_eq!(number(kind, "count"), judge.counts[nth], "{}", kind);
            // Groups and holders are all of it, in order.
            let groups = kind["groups"].as_array().unwrap();
            prop_assert_eq!(number(kind, "total"), groups.len() as u64);
            for key in ["count", "savings"] {
                prop_assert_eq!(sum(&kind["groups"], key), number(kind, key));
                for group in groups {
                    prop_assert_eq!(sum(&group["holders"], key), number(group, key));
                }
            }
            let rank = |group: &Value| Reverse((number(group, "savings"), number(group, "count")));
            prop_assert!(groups.is_sorted_by_key(rank));
        }
        prop_assert_eq!(sum(&answer["kinds"], "savings"), number(&answer, "totalSavings"));
        prop_assert!(number(&answer, "totalSavings") <= number(&answer, "totalLiveSize"));
        let on_heap = judge.live_objects();
        let on_heap = on_heap.iter().filter(|made| !made.is_static).count();
        prop_assert_eq!(number(&answer["headers"], "size"), 20 * on_heap as u64);
    }
}

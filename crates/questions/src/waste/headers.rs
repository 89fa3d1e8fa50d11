//! The size of the headers of live objects.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::answer::{HeaderClass, WasteHeaders};
use super::context::Context;
use super::holders::more;
use crate::parts::page::Page;

impl Context<'_> {
    pub(super) fn headers(&self, page: Page) -> WasteHeaders {
        let heap = &self.heap.heap;
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for (class, live) in heap.objects.classes.iter().zip(&heap.live_classes) {
            if live.count > 0 {
                *counts.entry(&class.name).or_default() += live.count;
            }
        }
        let of = |name: &str, count: u64| HeaderClass {
            class_name: name.to_owned(),
            count,
            size: count * self.blocks.not_contents(),
        };
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|&(name, count)| (Reverse(count), name));
        let most = page.limit.min(counts.len() as u64) as usize;
        let rest = counts.split_off(most);
        let sum = |counts: &[(&str, u64)]| counts.iter().map(|&(_, count)| count).sum::<u64>();
        let mut classes: Vec<_> = counts
            .iter()
            .map(|&(name, count)| of(name, count))
            .collect();
        if !rest.is_empty() {
            classes.push(of(&more(rest.len()), sum(&rest)));
        }
        WasteHeaders {
            size: (sum(&counts) + sum(&rest)) * self.blocks.not_contents(),
            classes,
        }
    }
}

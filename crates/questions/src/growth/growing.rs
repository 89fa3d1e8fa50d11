//! All that grows, and how an answer shows it.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, HashMap};

use super::find::growing_things;
use super::growing_thing::{GrowingThing, What, last};
use super::series::{Field, Merged};
use crate::answer::{FoldedSite, GrowingSite};
use crate::labels::after_class;
use crate::path_text::{LEFT_OUT, PathText};
use crate::question::Page;
use crate::sites::{SiteTable, Sum};
use base::control::Control;
use base::error::Result;

/// Sites that are listed as folded into one.
const MOST_FOLDED: usize = 1000;

/// The class of the site that raw blocks form.
const RAW_BLOCKS: &str = "(raw blocks)";

/// All that grows.
pub(super) struct Growing<'m> {
    pub(super) merged: &'m Merged,
    pub(super) sites: Vec<GrowingThing<'m>>,
}

impl<'m> Growing<'m> {
    pub(super) fn find(
        merged: &'m Merged,
        tables: &[&SiteTable],
        warmup: usize,
        slow: bool,
        control: &Control,
    ) -> Result<Self> {
        let sites = growing_things(merged, tables, warmup, slow, control)?;
        Ok(Self { merged, sites })
    }

    /// The name of the class of a site.
    pub(super) fn class_name(&self, site: &GrowingThing<'_>) -> &str {
        site.class
            .map_or(RAW_BLOCKS, |class| self.merged.name(class))
    }

    /// What a site reads like, which its fingerprint is a hash of.
    pub(super) fn text(&self, site: &GrowingThing<'_>) -> PathText {
        let merged = self.merged;
        let class_name = self.class_name(site);
        let (text, is_stable) = match site.what {
            What::Group(place) | What::Site(place) => return merged.path(place).1,
            What::Field(field) => {
                let label = self.field_label(field);
                let text = format!("{LEFT_OUT} > {label} > {class_name}");
                (text, merged.is_field_stable(field))
            }
            What::Class(class) => {
                let text = format!("{LEFT_OUT} > {class_name}");
                (text, merged.is_class_stable(class))
            }
            What::Raw => (class_name.to_owned(), true),
        };
        PathText { text, is_stable }
    }

    pub(super) fn field_label(&self, field: Field) -> String {
        let [holder, label] = [field.holder, field.label].map(|name| self.merged.name(name));
        format!("{holder}{}", after_class(label))
    }

    pub(super) fn label(&self, site: &GrowingThing<'_>) -> Option<String> {
        match site.what {
            What::Site(place) => self.merged.label(place).map(str::to_owned),
            What::Field(field) => Some(self.field_label(field)),
            What::Group(_) | What::Class(_) | What::Raw => None,
        }
    }

    /// What the sites of a page look like in an answer, and how many there are. Each group is a site and what
    /// is folded into it.
    pub(super) fn shown(
        &self,
        groups: BTreeMap<usize, Vec<usize>>,
        page: Page,
    ) -> (u64, Vec<GrowingSite>) {
        let mut groups: Vec<(f64, usize, Vec<usize>)> = groups
            .into_iter()
            .map(|(site, folded)| (self.weight(site, &folded), site, folded))
            .collect();
        let order = |left: &GrowingThing<'_>, right: &GrowingThing<'_>| {
            let by_count = right.rate.count.total_cmp(&left.rate.count);
            by_count.then_with(|| self.text(left).text.cmp(&self.text(right).text))
        };
        groups.sort_by(|left, right| {
            let by_weight: Ordering = right.0.total_cmp(&left.0);
            by_weight.then_with(|| order(&self.sites[left.1], &self.sites[right.1]))
        });
        let total = groups.len() as u64;
        let shown = page
            .of(groups)
            .map(|(_, site, folded)| self.site(site, folded));
        (total, shown.collect())
    }

    /// The bytes by which a site grows with what is folded into it. What is at one place counts once.
    pub(super) fn weight(&self, site: usize, folded: &[usize]) -> f64 {
        let mut bytes: HashMap<Option<u32>, f64> = HashMap::new();
        for &one in [site].iter().chain(folded) {
            let one = &self.sites[one];
            let known = bytes.entry(one.what.place()).or_default();
            *known = known.max(one.rate.bytes);
        }
        let mut bytes: Vec<f64> = bytes.into_values().collect();
        // Sums of fractions depend on their order.
        bytes.sort_by(f64::total_cmp);
        bytes.iter().sum()
    }

    pub(super) fn site(&self, site: usize, mut folded: Vec<usize>) -> GrowingSite {
        let site = &self.sites[site];
        let text = self.text(site);
        let fingerprint = text.fingerprint();
        folded.sort_by_cached_key(|&one| {
            let site = &self.sites[one];
            let sum = last(site.counted);
            (Reverse((sum.bytes, sum.count)), self.text(site).text, one)
        });
        folded.truncate(MOST_FOLDED);
        let folded = folded.into_iter().map(|one| {
            let site = &self.sites[one];
            let text = self.text(site);
            FoldedSite {
                class_name: self.class_name(site).to_owned(),
                label: self.label(site),
                fingerprint: text.fingerprint(),
                path: site.what.place().map(|_| text.text),
                count: last(site.counted).count,
            }
        });
        let column = |value: fn(Sum) -> u64| {
            let sums = site.series.iter();
            sums.map(|sum| sum.map(value)).collect()
        };
        GrowingSite {
            root: site.what.place().map(|place| self.merged.path(place).0),
            label: self.label(site),
            class_name: self.class_name(site).to_owned(),
            fingerprint,
            stable: text.is_stable,
            path: site.what.place().map(|_| text.text),
            counts: column(|sum| sum.count),
            bytes: column(|sum| sum.bytes),
            per_interval: site.rate,
            folded: folded.collect(),
        }
    }
}

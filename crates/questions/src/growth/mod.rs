//! What grows over two dumps or many, of one build or of several: the place of the program that holds more and
//! more, and by how much.
//!
//! A thing grows if it rises in every interval. What holds it, and what it holds, often grows with it, so
//! each growing thing is folded into the one that explains it.

mod check;
mod fold;
mod series;
mod trend;

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Deserialize;

use super::answer::{Answer, AnswerBody, FoldedSite, GrowingSite, Growth, GrowthDump, Rate};
use super::labels::after_class;
use super::path_text::{LEFT_OUT, PathText};
use super::question::{Page, default_limit};
use super::sites::{SiteTable, Sum};
use super::{WarningText, page};
use base::control::Control;
use base::error::{Error, Result};
use base::warning::Warning;

use fold::fold;
use series::{Field, Merged};
use trend::{Trend, gains_digits, trend};

/// The class of strings in the site tables of dumps.
const TEXT_CLASS: &str = "~lib/string/String";

pub use check::{Accepted, CheckOptions, MaxGrowth, MaxObjects, check};

/// Dumps below which chance can look like growth.
const FEW_DUMPS: usize = 8;
/// Sites that are listed as folded into one.
const MOST_FOLDED: usize = 1000;
/// The class of the site that raw blocks form.
const RAW_BLOCKS: &str = "(raw blocks)";

/// How growth is looked for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GrowthOptions {
    /// How many of the first dumps to ignore.
    #[serde(default)]
    pub warmup: u64,
    /// Whether it is enough that a site never falls, and rises over every two intervals.
    #[serde(default)]
    pub slow: bool,
    /// How many sites to list.
    #[serde(default = "default_limit")]
    pub limit: u64,
    /// How many to leave out before the first.
    #[serde(default)]
    pub offset: u64,
}

/// What grows from table to table, in their order.
///
/// # Errors
/// [`Error::InvalidOption`] for less than two tables after the warm-up and for a limit of 0,
/// [`Error::OutOfMemory`], [`Error::Aborted`].
pub fn growth(tables: &[&SiteTable], options: &GrowthOptions, control: &Control) -> Result<Answer> {
    let page = page(options.offset, options.limit)?;
    let warmup = checked_warmup(tables, options.warmup)?;
    let merged = Merged::new(tables, control)?;
    let growing = Growing::find(&merged, tables, warmup, options.slow, control)?;
    let groups = fold(&merged, &growing.sites, &[])?;
    let sites = growing.shown(groups, page);
    let body = AnswerBody::Growth(Growth {
        dumps: dumps(tables),
        warmup: options.warmup,
        total: sites.0,
        offset: options.offset,
        limit: options.limit,
        sites: sites.1,
    });
    let mut warnings = warnings(tables);
    let count = tables.len() - warmup;
    if count < FEW_DUMPS {
        let count = count as u64;
        warnings.push(WarningText::from(&Warning::FewDumps { count }));
    }
    Ok(Answer::new(body, is_partial(tables), warnings))
}

/// The number of dumps to ignore, if enough are left.
fn checked_warmup(tables: &[&SiteTable], warmup: u64) -> Result<usize> {
    let left = (tables.len() as u64).saturating_sub(warmup);
    match left {
        0 | 1 => Err(Error::InvalidOption {
            name: "dumps",
            found: format!("{} with a warm-up of {warmup}", tables.len()),
            expected: "two dumps or more after the warm-up",
        }),
        _ => Ok(warmup as usize),
    }
}

fn is_partial(tables: &[&SiteTable]) -> bool {
    tables.iter().any(|table| table.is_partial)
}

/// What each dump is called: by its number if all have the same name.
fn dump_names(tables: &[&SiteTable]) -> Vec<String> {
    let first = &tables[0].dump_name;
    match tables.iter().all(|table| table.dump_name == *first) {
        true => (1..=tables.len())
            .map(|nth| format!("dump {nth}"))
            .collect(),
        false => tables.iter().map(|table| table.dump_name.clone()).collect(),
    }
}

fn dumps(tables: &[&SiteTable]) -> Vec<GrowthDump> {
    let names = dump_names(tables).into_iter().zip(tables);
    let dumps = names.map(|(name, table)| GrowthDump {
        name,
        total_live_size: table.total_live_size,
    });
    dumps.collect()
}

/// The warnings of all dumps: those that all have once, the others with the name of the dump.
fn warnings(tables: &[&SiteTable]) -> Vec<WarningText> {
    let is_everywhere =
        |warning: &WarningText| tables.iter().all(|table| table.warnings.contains(warning));
    let shared = tables[0].warnings.iter().filter(|one| is_everywhere(one));
    let mut warnings: Vec<WarningText> = shared.cloned().collect();
    let names = dump_names(tables);
    for (name, table) in names.iter().zip(tables) {
        let own = table.warnings.iter().filter(|one| !is_everywhere(one));
        warnings.extend(own.map(|warning| warning.clone().in_dump(name)));
    }
    for (nth, pair) in tables.windows(2).enumerate() {
        if pair[0].module_hash == pair[1].module_hash && pair[1].total_size < pair[0].total_size {
            let shrank = Warning::MemoryShrank {
                before: pair[0].total_size,
                after: pair[1].total_size,
            };
            warnings.push(WarningText::from(&shrank).in_dump(&names[nth + 1]));
        }
    }
    warnings
}

/// What a growing thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// The objects of a group of paths.
    Group(u32),
    /// What references from a group, or roots, lead to.
    Site(u32),
    /// What references of a class lead to.
    Field(Field),
    /// A class as a whole.
    Class(u32),
    /// The raw blocks.
    Raw,
}

impl What {
    /// Its place; `None` if it has no path.
    fn place(self) -> Option<u32> {
        match self {
            Self::Group(place) | Self::Site(place) => Some(place),
            Self::Field(_) | Self::Class(_) | Self::Raw => None,
        }
    }
}

/// Something that grows.
struct GrowingThing<'m> {
    what: What,
    class: Option<u32>,
    series: &'m [Option<Sum>],
    /// The dumps that count.
    counted: &'m [Option<Sum>],
    rate: Rate,
}

/// All that grows.
struct Growing<'m> {
    merged: &'m Merged,
    sites: Vec<GrowingThing<'m>>,
}

impl<'m> Growing<'m> {
    fn find(
        merged: &'m Merged,
        tables: &[&SiteTable],
        warmup: usize,
        slow: bool,
        control: &Control,
    ) -> Result<Self> {
        let first_hash = tables[0].module_hash;
        // Names that are made of numbers mean something else in another build.
        let is_one_build = tables.iter().all(|table| table.module_hash == first_hash);
        let trend_of = |class: Option<u32>, series: &[Option<Sum>]| {
            let counted = &series[warmup..];
            let is_text = class.is_some_and(|class| merged.name(class) == TEXT_CLASS);
            match trend(counted, slow) {
                Trend::Rises if is_text && gains_digits(counted) => Trend::Neither,
                trend => trend,
            }
        };
        let thing = |what, class, series: &'m [Option<Sum>]| {
            let counted = &series[warmup..];
            GrowingThing {
                what,
                class,
                series,
                counted,
                rate: rate(counted),
            }
        };
        let mut sites = Vec::new();
        // By class: the place that falls; `None` if there are several.
        let mut falling: HashMap<u32, Option<u32>> = HashMap::new();
        let kinds = [(&merged.groups, false), (&merged.sites, true)];
        for (rows, is_site) in kinds {
            control.check()?;
            for (row, &place) in rows.keys.iter().enumerate() {
                let node = merged.places[place as usize];
                if !(is_one_build || node.is_stable) {
                    continue;
                }
                let series = rows.series(row);
                match trend_of(Some(node.class), series) {
                    Trend::Rises => {
                        let what = match is_site {
                            true => What::Site(place),
                            false => What::Group(place),
                        };
                        sites.push(thing(what, Some(node.class), series));
                    }
                    Trend::Falls => {
                        let only = falling.entry(node.class).or_insert(Some(place));
                        *only = only.filter(|&other| other == place);
                    }
                    Trend::Neither => {}
                }
            }
        }
        // What rises while the same objects leave another place has only moved.
        sites.retain(|site: &GrowingThing<'_>| {
            let falling = site.class.and_then(|class| falling.get(&class));
            falling.is_none_or(|only| only.is_some() && *only == site.what.place())
        });
        control.check()?;
        let mut is_named: HashSet<u32> = sites.iter().filter_map(|site| site.class).collect();
        let mut fields: Vec<(Field, &[Option<Sum>])> = Vec::new();
        let mut falling: HashSet<u32> = HashSet::new();
        for (row, &field) in merged.fields.keys.iter().enumerate() {
            if !(is_one_build || merged.is_field_stable(field)) {
                continue;
            }
            match trend_of(Some(field.class), merged.fields.series(row)) {
                Trend::Rises => fields.push((field, merged.fields.series(row))),
                Trend::Falls => _ = falling.insert(field.class),
                Trend::Neither => {}
            }
        }
        fields.retain(|(Field { class, .. }, _)| {
            !falling.contains(class) && !is_named.contains(class)
        });
        is_named.extend(fields.iter().map(|(field, _)| field.class));
        let fields = fields.into_iter();
        sites.extend(
            fields.map(|(field, series)| thing(What::Field(field), Some(field.class), series)),
        );
        for (row, &class) in merged.classes.keys.iter().enumerate() {
            let series = merged.classes.series(row);
            let is_comparable = is_one_build || merged.is_class_stable(class);
            let has_risen = trend_of(Some(class), series) == Trend::Rises;
            if is_comparable && has_risen && !is_named.contains(&class) {
                sites.push(thing(What::Class(class), Some(class), series));
            }
        }
        if trend_of(None, &merged.raw) == Trend::Rises {
            sites.push(thing(What::Raw, None, &merged.raw));
        }
        Ok(Self { merged, sites })
    }

    /// The name of the class of a site.
    fn class_name(&self, site: &GrowingThing<'_>) -> &str {
        site.class
            .map_or(RAW_BLOCKS, |class| self.merged.name(class))
    }

    /// What a site reads like, which its fingerprint is a hash of.
    fn text(&self, site: &GrowingThing<'_>) -> PathText {
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

    fn field_label(&self, field: Field) -> String {
        let [holder, label] = [field.holder, field.label].map(|name| self.merged.name(name));
        format!("{holder}{}", after_class(label))
    }

    fn label(&self, site: &GrowingThing<'_>) -> Option<String> {
        match site.what {
            What::Site(place) => self.merged.label(place).map(str::to_owned),
            What::Field(field) => Some(self.field_label(field)),
            What::Group(_) | What::Class(_) | What::Raw => None,
        }
    }

    /// What the sites of a page look like in an answer, and how many there are. Each group is a site and what
    /// is folded into it.
    fn shown(&self, groups: BTreeMap<usize, Vec<usize>>, page: Page) -> (u64, Vec<GrowingSite>) {
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
    fn weight(&self, site: usize, folded: &[usize]) -> f64 {
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

    fn site(&self, site: usize, mut folded: Vec<usize>) -> GrowingSite {
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

/// The last sum that counts.
fn last(counted: &[Option<Sum>]) -> Sum {
    counted
        .iter()
        .rev()
        .copied()
        .flatten()
        .next()
        .unwrap_or_default()
}

/// The mean growth over the intervals between dumps that count.
fn rate(counted: &[Option<Sum>]) -> Rate {
    let mut sums = counted.iter().copied().flatten();
    let first = sums.next().unwrap_or_default();
    let intervals = sums.count() as f64;
    let last = last(counted);
    let mean = |first: u64, last: u64| {
        let mean = (last as f64 - first as f64) / intervals.max(1.0);
        (mean * 1000.0).round() / 1000.0
    };
    Rate {
        count: mean(first.count, last.count),
        bytes: mean(first.bytes, last.bytes),
    }
}

//! Rules for a gate: what may grow, and how large a heap may be.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::{Check, CheckedRule, GrowingPlace};
use super::fold::{Explanations, fold};
use super::growing::{Growing, GrowthRules};
use super::growing_thing::last;
use super::series::Merged;
use super::tables::{FEW_DUMPS, check_sums, checked_warmup, is_partial};
use crate::QuestionError;
use crate::answer::{Answer, AnswerBody};
use crate::glob::{self, Glob};
use crate::parts::page::Page;
use crate::parts::path_text;
use crate::place_table::PlaceTable;
use crate::warning::QuestionWarning;
use crate::warnings::WarningText;
use base::control::Control;
use base::error::{Error, Result};

/// The rules of a check.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-command" = { "about": "a gate for CI: exit code 2 if anything grows from dump to dump, or a budget is exceeded", "modules": "many" }))]
pub struct CheckOptions {
    /// The number of dumps to ignore at the start, while caches fill: a whole number ≥ 0 (default: 0).
    #[serde(default)]
    #[schemars(extend(
        "x-cli" = "--warmup <n>: leave out the first n dumps (default: 0)"
    ))]
    pub warmup: u64,
    /// Whether a place also counts as growing if it never falls, and rises in every two intervals, as with a leak of one
    /// object every second round (default: false). This causes more false alarms.
    #[serde(default)]
    #[schemars(extend(
        "x-cli" = "--slow: also report places that grow only in every second interval"
    ))]
    pub slow: bool,
    /// Whether places that may have stopped growing count as growing (default: false). See `UndecidedPlace`.
    #[serde(default)]
    #[schemars(extend("x-cli" = "--strict: fail for places that may have stopped growing in the last dumps, too"))]
    pub strict: bool,
    /// The number of dumps after the warm-up that the default rule (no place grows) needs: a whole number ≥ 2 (default:
    /// 8).
    #[serde(default = "default_min_dumps")]
    #[schemars(
        range(min = 2),
        extend("x-cli" = "--min-dumps <n>: how many dumps are needed to check that nothing grows (default: 8)")
    )]
    pub min_dumps: u64,
    /// Whether to leave out the default rule (default: false).
    #[serde(default)]
    #[schemars(extend("x-cli" = "--no-default: leave out the rule that nothing grows: check only the budgets"))]
    pub no_default: bool,
    /// The largest growth of the live bytes from the first dump to the last: bytes, or a percentage as in `"5%"`.
    #[serde(default)]
    #[schemars(extend(
        "x-cli" = "--max-growth <bytes|%>: the largest growth of the live size: 64KiB or 5%",
        "x-ts" = "number | `${number}%`"
    ))]
    pub max_growth: Option<MaxGrowth>,
    /// The largest number of live bytes of each dump.
    #[serde(default)]
    #[schemars(extend("x-cli" = "--max-live <bytes>: the largest live size: 1048576 or 1MiB"))]
    pub max_live: Option<u64>,
    /// The largest number of live objects of each dump, by class name with `*` and `?`.
    #[serde(default)]
    #[schemars(extend(
        "x-cli" = "--max <class=count>: the largest number of objects of a class",
        "x-ts" = "Record<string, number>"
    ))]
    pub max: Vec<MaxObjects>,
    /// Classes, with `*` and `?`, of which the last dump may not have more live objects than the first.
    #[serde(default)]
    #[schemars(extend("x-cli" = "--no-growth <class>: a class that may not grow"))]
    pub no_growth: Vec<String>,
    /// Places that may grow. Nothing is folded into them.
    #[serde(default)]
    pub accepted: Vec<Accepted>,
}

/// By how much the live bytes may grow.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MaxGrowth {
    /// By a number of bytes.
    Bytes(u64),
    /// By a part of the live bytes of the first dump.
    Percent(f64),
}

/// How many live objects of some classes a dump may have.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaxObjects {
    /// The classes, with `*` and `?`.
    pub class: String,
    /// How many, together.
    pub count: u64,
}

/// A place that may grow: its path or its fingerprint. A place without a path has only a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AcceptedPlace")]
pub struct Accepted {
    /// Its path as text.
    #[serde(default)]
    pub path: Option<String>,
    /// Its fingerprint, for a place that has no path; with a path it does not matter.
    #[serde(default)]
    pub fingerprint: Option<String>,
    /// The largest number of objects in the last dump (default: any number).
    #[serde(default)]
    pub limit: Option<u64>,
}

impl Accepted {
    fn fingerprint(&self) -> String {
        let of_path = self.path.as_deref().map(path_text::fingerprint);
        of_path
            .or_else(|| self.fingerprint.clone())
            .unwrap_or_default()
    }
}

const fn default_min_dumps() -> u64 {
    FEW_DUMPS as u64
}

impl CheckOptions {
    fn has_budget(&self) -> bool {
        self.max_growth.is_some()
            || self.max_live.is_some()
            || !self.max.is_empty()
            || !self.no_growth.is_empty()
    }
}

/// Checks the rules on the tables of several dumps, in their order.
///
/// # Errors
/// [`QuestionError::TooFewDumps`] if there are too few for the default rule and there is no other,
/// [`QuestionError::UnknownClass`] for a class that no dump has, [`QuestionError::InvalidOption`] for less than two tables
/// after the warm-up or a check without rules, [`QuestionError::JoinedTable`], [`Error::OutOfMemory`], [`Error::Aborted`].
pub fn check(tables: &[&PlaceTable], options: &CheckOptions, control: &Control) -> Result<Answer> {
    check_sums(tables)?;
    let left = (tables.len() as u64).saturating_sub(options.warmup);
    let has_default = !options.no_default && left >= options.min_dumps;
    if !has_default && !options.has_budget() {
        return Err(if options.no_default {
            Error::from(QuestionError::InvalidOption {
                name: "noDefault",
                found: "no budget beside it".to_owned(),
                expected: "a rule: the default one, or a budget",
            })
        } else {
            Error::from(QuestionError::TooFewDumps {
                found: left,
                needed: options.min_dumps,
            })
        });
    }
    let warmup = checked_warmup(tables, options.warmup)?;
    let merged = Merged::new(tables, warmup, control)?;
    let search = GrowthRules {
        warmup,
        slow: options.slow,
        strict: options.strict,
    };
    let growing = Growing::find(&merged, tables, search, control)?;
    let mut baseline = Baseline::new(&growing, &options.accepted);
    let groups = baseline.without_covered(fold(&merged, &growing.things)?);
    let everything = Page {
        offset: 0,
        limit: u64::MAX,
    };
    let (_, places) = growing.shown(groups, everything);
    let rules = Rules {
        tables,
        counted: &tables[warmup..],
        places: &places,
        control,
    };
    let mut checked = Vec::new();
    if has_default {
        checked.push(rules.default());
    }
    if let Some(most) = options.max_growth {
        checked.push(rules.max_growth(most)?);
    }
    if let Some(most) = options.max_live {
        checked.push(rules.max_live(most));
    }
    for most in &options.max {
        checked.push(rules.max_objects(most)?);
    }
    for class in &options.no_growth {
        checked.push(rules.no_growth(class)?);
    }
    let body = AnswerBody::Check(Check {
        passed: checked.iter().all(|rule| rule.passed),
        rules: checked,
        per_interval: growing.live_growth(&tables[warmup..], &baseline.is_accepted),
        accepted: baseline.accepted,
        gone: baseline.gone,
        places,
        undecided: growing.undecided()?,
    });
    let mut warnings = growing.warnings(tables);
    if !has_default && !options.no_default {
        warnings.push(WarningText::from(
            &QuestionWarning::GrowthNotChecked {
                found: left,
                needed: options.min_dumps,
            }
            .into(),
        ));
    }
    Ok(Answer::new(body, is_partial(tables), warnings))
}

/// What is accepted of what grows.
struct Baseline {
    /// By growing thing: whether it is accepted, or grows with what is.
    is_accepted: Vec<bool>,
    /// Fingerprints of accepted things that grow.
    accepted: Vec<String>,
    /// Fingerprints of those that do not.
    gone: Vec<String>,
}

impl Baseline {
    fn new(growing: &Growing<'_>, accepted: &[Accepted]) -> Self {
        let mut baseline = Self {
            is_accepted: vec![false; growing.things.len()],
            accepted: Vec::new(),
            gone: Vec::new(),
        };
        if accepted.is_empty() {
            return baseline;
        }
        let mut by_path: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut by_fingerprint: HashMap<&str, Vec<usize>> = HashMap::new();
        for (nth, one) in accepted.iter().enumerate() {
            match (&one.path, &one.fingerprint) {
                (Some(path), _) => by_path.entry(path).or_default().push(nth),
                (None, Some(fingerprint)) => {
                    by_fingerprint.entry(fingerprint).or_default().push(nth);
                }
                (None, None) => {}
            }
        }
        let mut is_found = vec![false; accepted.len()];
        for (nth_thing, thing) in growing.things.iter().enumerate() {
            let text = growing.text(thing);
            let of_path = match thing.what.place() {
                Some(_) => by_path.get(text.text.as_str()),
                None => None,
            };
            let of_fingerprint = if by_fingerprint.is_empty() {
                None
            } else {
                by_fingerprint.get(text.fingerprint().as_str())
            };
            for &nth in of_path.into_iter().chain(of_fingerprint).flatten() {
                is_found[nth] = true;
                let count = last(thing.counted).count;
                baseline.is_accepted[nth_thing] |=
                    accepted[nth].limit.is_none_or(|limit| count <= limit);
            }
        }
        for (one, is_found) in accepted.iter().zip(is_found) {
            let list = if is_found {
                &mut baseline.accepted
            } else {
                &mut baseline.gone
            };
            list.push(one.fingerprint());
        }
        baseline
    }

    /// What is not accepted. An accepted thing covers what is folded into it.
    fn without_covered(&mut self, mut groups: Explanations) -> Explanations {
        groups.retain(|&root, folded| {
            if self.is_accepted[root] {
                for &nth in &*folded {
                    self.is_accepted[nth] = true;
                }
                return false;
            }
            folded.retain(|&nth| !self.is_accepted[nth]);
            true
        });
        groups
    }
}

/// What rules look at.
struct Rules<'c> {
    tables: &'c [&'c PlaceTable],
    /// Without the warm-up: two or more.
    counted: &'c [&'c PlaceTable],
    places: &'c [GrowingPlace],
    control: &'c Control,
}

impl Rules<'_> {
    fn rule(
        &self,
        rule: String,
        limit: u64,
        actual: i64,
        is_about: impl Fn(&str) -> bool,
    ) -> CheckedRule {
        let limit = signed(limit);
        let places = self
            .places
            .iter()
            .filter(|place| is_about(&place.class_name));
        CheckedRule {
            rule,
            limit,
            actual,
            passed: actual <= limit,
            places: places.map(|place| place.fingerprint.clone()).collect(),
        }
    }

    fn default(&self) -> CheckedRule {
        self.rule("default".to_owned(), 0, self.places.len() as i64, |_| true)
    }

    fn first_and_last(&self) -> [&PlaceTable; 2] {
        [self.counted[0], self.counted[self.counted.len() - 1]]
    }

    fn max_growth(&self, most: MaxGrowth) -> Result<CheckedRule> {
        let [first, last] = self.first_and_last().map(|table| table.total_live_size);
        let limit = match most {
            MaxGrowth::Bytes(bytes) => bytes,
            MaxGrowth::Percent(percent) if percent.is_finite() && percent >= 0.0 => {
                (first as f64 * percent / 100.0) as u64
            }
            MaxGrowth::Percent(percent) => {
                return Err(QuestionError::InvalidOption {
                    name: "maxGrowth",
                    found: format!("{percent} %"),
                    expected: "bytes, or a percentage of at least 0",
                }
                .into());
            }
        };
        let actual = signed(last) - signed(first);
        Ok(self.rule("max-growth".to_owned(), limit, actual, |_| true))
    }

    fn max_live(&self, most: u64) -> CheckedRule {
        let sizes = self.counted.iter().map(|table| table.total_live_size);
        let largest = signed(sizes.max().unwrap_or_default());
        self.rule("max-live".to_owned(), most, largest, |_| true)
    }

    fn max_objects(&self, most: &MaxObjects) -> Result<CheckedRule> {
        let classes = self.classes(&most.class)?;
        let counts = self.counted.iter().map(|table| objects_of(table, &classes));
        let largest = signed(counts.max().unwrap_or_default());
        Ok(self.rule(
            format!("max {}", most.class),
            most.count,
            largest,
            |class| classes.matches(class),
        ))
    }

    fn no_growth(&self, class: &str) -> Result<CheckedRule> {
        let classes = self.classes(class)?;
        let [first, last] = self
            .first_and_last()
            .map(|table| signed(objects_of(table, &classes)));
        Ok(
            self.rule(format!("no-growth {class}"), 0, last - first, |name| {
                classes.matches(name)
            }),
        )
    }

    /// Reads a pattern. Refuses a class that no dump has: a misspelt one would never break a rule.
    fn classes<'p>(&'p self, pattern: &'p str) -> Result<Glob<'p>> {
        self.control.check()?;
        let tables = self.tables.iter();
        let names = || tables.clone().flat_map(|table| class_names(table));
        let glob = Glob::new(pattern)?;
        if names().any(|name| glob.matches(name)) {
            return Ok(glob);
        }
        if let Some(only) = glob::only_short(pattern, names(), self.control)? {
            return Glob::new(only);
        }
        Err(QuestionError::UnknownClass {
            pattern: pattern.to_owned(),
            nearest: expression::nearest(pattern, names(), self.control)?,
        }
        .into())
    }
}

/// A number of an answer. Any number of a real heap fits.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn class_names(table: &PlaceTable) -> impl Iterator<Item = &str> {
    let classes = table.classes.iter();
    classes.map(|row| table.names[row.class as usize].as_str())
}

/// How many live objects a dump has of the classes whose name is of this form.
fn objects_of(table: &PlaceTable, classes: &Glob<'_>) -> u64 {
    let rows = table.classes.iter().zip(class_names(table));
    let wanted = rows.filter(|(_, name)| classes.matches(name));
    wanted.fold(0, |sum, (row, _)| row.sum.count.saturating_add(sum))
}

//! The tables that stay small: the dump, its classes, paths, suspects and waste.

use questions::{ask, group_text, origin_root};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use serde::Serialize;

use super::options::{DumpFacts, Unreadable};
use super::table_export::{SCHEMA_VERSION, TableExport, begin};
use super::writer::{ColumnValue, TableWriter};
use crate::exports::path_sums::{PathSum, PathSums};
use base::control::Phase;
use base::error::Result;
use heap::views::ConstructorView;
use heap::{GroupStart, Name, PathGroup, PathGroups, RootKind, RootOrigin};
use questions::{
    AccountingJson, AnswerBody, Cut, LEFT_OUT, PathText, Question, SuspectOptions, WasteGroup,
    WasteKindName, WasteOptions, after_class, root_kind_name,
};

/// Paths that a table keeps: the largest. The others are summed up in one row.
const MOST_PATHS: usize = 100_000;
/// Suspects of a dump.
const SUSPECTS: u64 = 20;
/// Groups of each kind of waste. The others are summed up in one row for each kind.
const WASTE_GROUPS: u64 = 100;

const DUMP: &str = "
    optional binary module_id (STRING);
    required int64 captured_at (TIMESTAMP(MILLIS,true));
    required group labels (MAP) { repeated group key_value {
        required binary key (STRING); required binary value (STRING); } }
    required binary source (STRING);
    required int64 dump_size (INTEGER(64,false));
    required int32 schema_version (INTEGER(32,false));
    required binary tool_version (STRING);
    optional binary error_code (STRING);
    optional binary error_message (STRING);
    optional boolean partial;
    optional int64 heap_size (INTEGER(64,false));
    optional int64 live_size (INTEGER(64,false));
    optional int64 live_global_size (INTEGER(64,false));
    optional int64 live_stack_size (INTEGER(64,false));
    optional int64 live_pinned_size (INTEGER(64,false));
    optional int64 garbage_size (INTEGER(64,false));
    optional int64 raw_size (INTEGER(64,false));
    optional int64 free_size (INTEGER(64,false));
    optional int64 free_blocks (INTEGER(64,false));
    optional int64 largest_free_size (INTEGER(64,false));
    optional int64 overhead_size (INTEGER(64,false));
    optional int64 gaps_size (INTEGER(64,false));
    optional int64 unread_size (INTEGER(64,false));
    optional binary collector (STRING);
    optional int64 live_objects (INTEGER(64,false));
    optional int64 garbage_objects (INTEGER(64,false));
    optional int64 static_objects (INTEGER(64,false));
    optional int64 classes (INTEGER(64,false));
    optional int64 global_roots (INTEGER(64,false));
    optional int64 stack_roots (INTEGER(64,false));
    optional int64 pinned_roots (INTEGER(64,false));
    required int32 warning_count (INTEGER(32,false));
    required group warning_codes (LIST) { repeated group list {
        required binary element (STRING); } }
    required group warning_messages (LIST) { repeated group list {
        required binary element (STRING); } }";

const CLASS: &str = "
    required binary class (STRING);
    required boolean stable;
    required int64 count (INTEGER(64,false));
    required int64 shallow_size (INTEGER(64,false));
    required int64 retained_set_size (INTEGER(64,false));";

const PATH: &str = "
    optional binary fingerprint (STRING);
    required boolean stable;
    optional binary root_kind (STRING);
    optional binary root_name (STRING);
    required group path (LIST) { repeated group list { required binary element (STRING); } }
    optional binary class (STRING);
    required int64 count (INTEGER(64,false));
    required int64 shallow_size (INTEGER(64,false));";

const SUSPECT: &str = "
    required int32 rank (INTEGER(32,false));
    required binary kind (STRING);
    required binary class (STRING);
    required int64 count (INTEGER(64,false));
    required int64 retained_size (INTEGER(64,false));
    required double share;
    optional binary owner (STRING);
    required group accumulated (LIST) { repeated group list { required group element {
        required binary class (STRING);
        required int64 count (INTEGER(64,false));
        required int64 retained_size (INTEGER(64,false)); } } }
    optional binary fingerprint (STRING);
    optional boolean stable;
    required group path (LIST) { repeated group list { required binary element (STRING); } }
    optional binary cut (STRING);
    optional int64 freed_by_cutting (INTEGER(64,false));";

const WASTE: &str = "
    required binary kind (STRING);
    optional binary class (STRING);
    optional binary contents (STRING);
    required boolean rest;
    required int64 count (INTEGER(64,false));
    required int64 savings (INTEGER(64,false));
    required group holders (LIST) { repeated group list { required group element {
        required binary holder (STRING);
        required int64 count (INTEGER(64,false));
        required int64 savings (INTEGER(64,false)); } } }";

/// The columns of `dump` that do not depend on the heap.
fn add_facts(table: &mut TableWriter<'_>, facts: &DumpFacts) {
    table.add(ColumnValue::from(facts.dump_id.as_str()));
    let module_id = facts.module_id.as_deref();
    table.add(module_id.map(ColumnValue::from));
    table.add(ColumnValue::from(facts.captured_at));
    table.add_list(
        facts
            .labels
            .keys()
            .map(|key| ColumnValue::from(key.as_str())),
    );
    table.add_list(
        facts
            .labels
            .values()
            .map(|value| ColumnValue::from(value.as_str())),
    );
    table.add(ColumnValue::from(facts.source.as_str()));
    table.add(ColumnValue::from(facts.dump_size));
    table.add(ColumnValue::from(SCHEMA_VERSION));
    table.add(ColumnValue::from(env!("CARGO_PKG_VERSION")));
}

/// Columns of the heap in the table `dump`, without the warnings.
const HEAP_COLUMNS: usize = 22;

pub(super) fn write_unreadable(unreadable: &Unreadable, out: &mut dyn Write) -> Result<()> {
    let mut table = begin(out, "dump", DUMP, &[])?;
    add_facts(&mut table, &unreadable.dump);
    table.add(ColumnValue::from(unreadable.code.as_str()));
    table.add((!unreadable.hash_names).then(|| ColumnValue::from(unreadable.message.as_str())));
    for _ in 0..HEAP_COLUMNS {
        table.add(None);
    }
    table.add(ColumnValue::from(0u32));
    for _ in ["codes", "messages"] {
        table.add_list([None::<ColumnValue>; 0]);
    }
    table.end_row()?;
    table.finish()
}

impl TableExport<'_> {
    pub(super) fn dump(&self, out: &mut dyn Write) -> Result<()> {
        let answer = ask(self.heap, &Question::Summary {}, None, self.control)?;
        let mut table = begin(out, "dump", DUMP, &[])?;
        if let AnswerBody::Summary(summary) = &answer.body {
            add_facts(&mut table, &self.options.dump);
            // No error, and no message.
            table.add(None);
            table.add(None);
            table.add(ColumnValue::from(answer.partial));
            let accounting = summary.accounting.as_ref();
            // Kinds of roots that the heap does not tell apart have no numbers.
            let heap = self.heap.heap();
            let roots = |kind, number: u64| heap.has_root_kind(kind).then_some(number);
            let of = |number: fn(&AccountingJson) -> u64| accounting.map(number);
            for number in [
                summary.total_heap_size,
                Some(summary.total_live_size),
                of(|accounting| accounting.live.global),
                of(|accounting| accounting.live.stack),
                of(|accounting| accounting.live.pinned),
                of(|accounting| accounting.garbage),
                of(|accounting| accounting.raw),
                of(|accounting| accounting.free.bytes),
                of(|accounting| accounting.free.blocks),
                of(|accounting| accounting.free.largest),
                of(|accounting| accounting.overhead),
                of(|accounting| accounting.gaps),
                of(|accounting| accounting.unread),
            ] {
                table.add(number.map(ColumnValue::from));
            }
            let collector = accounting.and_then(|accounting| accounting.collector);
            table.add(collector.map(ColumnValue::from));
            for number in [
                Some(summary.objects.live),
                summary.objects.garbage,
                summary.objects.statics,
                Some(summary.classes),
                Some(summary.roots.global),
                roots(RootKind::Stack, summary.roots.stack),
                roots(RootKind::Pinned, summary.roots.pinned),
            ] {
                table.add(number.map(ColumnValue::from));
            }
            let warnings = &answer.warnings;
            table.add(ColumnValue::from(warnings.len() as u32));
            table.add_list(
                warnings
                    .iter()
                    .map(|warning| ColumnValue::from(&*warning.code)),
            );
            // A sentence can contain names.
            let messages = warnings.iter().filter(|_| !self.options.hash_names);
            table.add_list(messages.map(|warning| ColumnValue::from(warning.message.as_str())));
            table.end_row()?;
        }
        table.finish()
    }

    pub(super) fn classes(&self, out: &mut dyn Write) -> Result<()> {
        let heap = Arc::clone(self.heap.heap());
        let view = ConstructorView::without_origins(heap, self.control)?;
        let mut table = begin(out, "class", CLASS, &[])?;
        for row in view.rows() {
            table.add(self.id());
            table.add(self.named(&row.class_name));
            let is_stable = self.heap.source().is_stable(Name::Class(&row.class_name));
            table.add(ColumnValue::from(is_stable));
            table.add(ColumnValue::from(row.count));
            table.add(ColumnValue::from(row.total_shallow_size));
            table.add(ColumnValue::from(row.retained_set_size.unwrap_or_default()));
            table.end_row()?;
        }
        table.finish()
    }

    pub(super) fn paths(&self, out: &mut dyn Write) -> Result<()> {
        let (rows, rest) = self.path_rows()?;
        let step = self.control.begin(Phase::Export, rows.len() as u64);
        let mut table = begin(out, "path", PATH, &[])?;
        for row in rows {
            let root = row.origin.map(|origin| origin_root(self.heap, origin));
            table.add(self.id());
            table.add(ColumnValue::from(row.path.fingerprint().as_str()));
            table.add(ColumnValue::from(row.path.is_stable));
            table.add(
                root.as_ref()
                    .map(|root| ColumnValue::from(root_kind_name(root.kind))),
            );
            let name = root.as_ref().and_then(|root| root.name.as_deref());
            table.add(name.map(|name| self.named(name)));
            table.add_list(self.steps(&row.path.text));
            table.add(self.named(self.heap.slot_name(row.class_slot)));
            table.add(ColumnValue::from(row.sum.count));
            table.add(ColumnValue::from(row.sum.size));
            table.end_row()?;
            step.advance(1)?;
        }
        if rest.count > 0 {
            table.add(self.id());
            table.add(None);
            table.add(ColumnValue::from(false));
            table.add(None);
            table.add(None);
            table.add_list([ColumnValue::from(LEFT_OUT)]);
            table.add(None);
            table.add(ColumnValue::from(rest.count));
            table.add(ColumnValue::from(rest.size));
            table.end_row()?;
        }
        table.finish()
    }

    /// The paths with the most bytes, and the sum of the others: size ↓, count ↓, text ↑.
    fn path_rows(&self) -> Result<(Vec<PathRow>, PathSum)> {
        let PathSums { groups: sums, rest } = PathSums::of(self.heap, self.control)?;
        let groups = self.heap.path_tree(self.control)?.groups();
        let mut order: Vec<u32> = (0..sums.len() as u32)
            .filter(|&group| sums[group as usize].count > 0)
            .collect();
        order.sort_unstable_by_key(|&group| {
            let sum = sums[group as usize];
            (Reverse((sum.size, sum.count)), group)
        });
        let left_out = order.split_off(order.len().min(MOST_PATHS));
        let others = left_out.iter().map(|&group| sums[group as usize]);
        let rest = others
            .chain(rest)
            .fold(PathSum::default(), |all, sum| PathSum {
                count: all.count + sum.count,
                size: all.size + sum.size,
            });
        let mut rows: Vec<PathRow> = Vec::new();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for number in order {
            self.control.check()?;
            let group = PathGroup(number);
            let sum = sums[number as usize];
            let path = group_text(self.heap, group, self.control)?;
            // Globals of different scopes can have the same name.
            let row = *numbers.entry(path.text.clone()).or_insert(rows.len());
            if let Some(known) = rows.get_mut(row) {
                known.sum.count += sum.count;
                known.sum.size += sum.size;
                continue;
            }
            rows.push(PathRow {
                path,
                origin: origin(groups, group),
                class_slot: groups.info(group).class_slot,
                sum,
            });
        }
        rows.sort_unstable_by(|left, right| {
            let size = |row: &PathRow| Reverse((row.sum.size, row.sum.count));
            let by_size = size(left).cmp(&size(right));
            by_size.then_with(|| left.path.text.cmp(&right.path.text))
        });
        Ok((rows, rest))
    }

    pub(super) fn suspects(&self, out: &mut dyn Write) -> Result<()> {
        let question = Question::Suspects(SuspectOptions {
            threshold: None,
            limit: SUSPECTS,
        });
        let answer = ask(self.heap, &question, None, self.control)?;
        let mut table = begin(out, "suspect", SUSPECT, &[])?;
        let AnswerBody::Suspects(answer) = &answer.body else {
            return table.finish();
        };
        for (rank, suspect) in (1u32..).zip(&answer.suspects) {
            let accumulation = suspect.accumulation.as_ref();
            let accumulated = accumulation.map_or(&[][..], |place| &place.children);
            let path = suspect.path.as_ref();
            table.add(self.id());
            table.add(ColumnValue::from(rank));
            table.add(ColumnValue::from(word(&suspect.kind).as_str()));
            table.add(self.named(&suspect.class_name));
            table.add(ColumnValue::from(suspect.count));
            table.add(ColumnValue::from(suspect.retained_size));
            table.add(ColumnValue::from(suspect.share));
            let owner = accumulation.and_then(|place| place.owner.as_deref());
            table.add(owner.map(|owner| self.named(owner)));
            table.add_list(accumulated.iter().map(|of| self.named(&of.class_name)));
            table.add_list(accumulated.iter().map(|of| ColumnValue::from(of.count)));
            table.add_list(
                accumulated
                    .iter()
                    .map(|of| ColumnValue::from(of.retained_size)),
            );
            table.add(path.map(|path| ColumnValue::from(path.fingerprint.as_str())));
            table.add(path.map(|path| ColumnValue::from(path.stable)));
            table.add_list(path.into_iter().flat_map(|path| self.steps(&path.text)));
            let cut = suspect.cut.as_ref();
            let text = cut.and_then(|cut| self.cut_text(cut));
            table.add(text.map(|text| self.named(&text)));
            table.add(cut.map(|cut| ColumnValue::from(cut.freed)));
            table.end_row()?;
        }
        table.finish()
    }

    /// The reference to cut, as `Class.label` or as the name of a root, without index or key.
    fn cut_text(&self, cut: &Cut) -> Option<String> {
        if let Some(root) = &cut.root {
            let kind = root_kind_name(root.kind);
            return Some(match &root.name {
                Some(name) => format!("{kind} {name}"),
                None => kind.to_owned(),
            });
        }
        let label = self.heap.source().without_key(cut.label.as_deref()?);
        Some(format!(
            "{}{}",
            cut.class_name.as_deref()?,
            after_class(label)
        ))
    }

    /// Without rows, if the heap does not say what objects contain.
    pub(super) fn waste(&self, out: &mut dyn Write) -> Result<()> {
        let mut table = begin(out, "waste", WASTE, &[])?;
        if self.heap.source().facts().lacks.contents.is_some() {
            return table.finish();
        }
        let question = Question::Waste(WasteOptions {
            limit: WASTE_GROUPS,
            offset: 0,
        });
        let answer = ask(self.heap, &question, None, self.control)?;
        let AnswerBody::Waste(waste) = &answer.body else {
            return table.finish();
        };
        for kind in &waste.kinds {
            let name = word(&kind.kind);
            let is_of_copies = matches!(
                kind.kind,
                WasteKindName::DuplicateStrings | WasteKindName::DuplicateBuffers
            );
            for group in &kind.groups {
                table.add(self.id());
                table.add(ColumnValue::from(name.as_str()));
                table.add((!is_of_copies).then(|| self.named(&group.what)));
                let shows_contents = is_of_copies && self.options.strings;
                table.add(shows_contents.then(|| ColumnValue::from(group.what.as_str())));
                self.add_group(&mut table, false, group.count, group.savings, Some(group))?;
            }
            let shown =
                |number: fn(&WasteGroup) -> u64| kind.groups.iter().map(number).sum::<u64>();
            let (count, savings) = (shown(|group| group.count), shown(|group| group.savings));
            if kind.total > kind.groups.len() as u64 {
                table.add(self.id());
                table.add(ColumnValue::from(name.as_str()));
                table.add(None);
                table.add(None);
                let (count, savings) = (kind.count - count, kind.savings - savings);
                self.add_group(&mut table, true, count, savings, None)?;
            }
        }
        table.finish()
    }

    fn add_group(
        &self,
        table: &mut TableWriter<'_>,
        is_rest: bool,
        count: u64,
        savings: u64,
        group: Option<&WasteGroup>,
    ) -> Result<()> {
        let holders = group.map_or(&[][..], |group| &group.holders);
        table.add(ColumnValue::from(is_rest));
        table.add(ColumnValue::from(count));
        table.add(ColumnValue::from(savings));
        // The last entry sums up the others, and is no name.
        table.add_list(holders.iter().map(|of| {
            if is_number_between(&of.holder, "(", " more)") {
                ColumnValue::from(of.holder.as_str())
            } else {
                self.named(&of.holder)
            }
        }));
        table.add_list(holders.iter().map(|of| ColumnValue::from(of.count)));
        table.add_list(holders.iter().map(|of| ColumnValue::from(of.savings)));
        table.end_row()
    }
}

struct PathRow {
    path: PathText,
    origin: Option<RootOrigin>,
    class_slot: u32,
    sum: PathSum,
}

/// The root that a path begins with.
fn origin(groups: &PathGroups, mut group: PathGroup) -> Option<RootOrigin> {
    loop {
        match groups.info(group).start {
            GroupStart::Root(origin) => return Some(origin),
            GroupStart::Step(before, _) => group = before,
            GroupStart::Rest => return None,
        }
    }
}

fn is_number_between(text: &str, start: &str, end: &str) -> bool {
    text.strip_prefix(start)
        .and_then(|rest| rest.strip_suffix(end))
        .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The word that stands for a value in JSON.
fn word(value: &impl Serialize) -> String {
    let json = serde_json::to_value(value).unwrap_or_default();
    json.as_str().unwrap_or_default().to_owned()
}

//! Answers to questions as text: rows as a table, a path as a path.

use unicode_width::UnicodeWidthStr;

use super::accounting::accounting_lines_of;
use super::growth::{check_lines, growth_lines};
use super::table::TableOptions;
use super::text::{fit, format_count, format_size, pad_left, pad_right, printable, printable_name};
use super::unreachable::unreachable_lines;
use super::waste::waste_lines;
use base::units::AddressForm;
use questions::{
    Answer, AnswerBody, Branch, Cut, DominatorGroups, Dominators, Edge, FoundObjects, MergedPaths,
    More, ObjectAnswer, Path, PathAnswer, Referrers, Root, Summary, Suspects, root_kind_name,
};

/// An answer as JSON, indented by two spaces, with a newline at the end.
pub fn render_json(answer: &Answer) -> String {
    // Numbers, strings and lists of them always serialize.
    serde_json::to_string_pretty(answer).unwrap_or_default() + "\n"
}

/// An answer as text, without colours. Warnings are left out, because the caller shows them elsewhere.
pub fn render_text(answer: &Answer, options: TableOptions) -> String {
    let form = answer.address_form;
    let mut lines = match &answer.body {
        AnswerBody::Summary(summary) => summary_lines(summary),
        AnswerBody::Find(found) => found_lines(found, form),
        AnswerBody::Object(object) => object_lines(object, form),
        AnswerBody::Referrers(referrers) => referrer_lines(referrers, form),
        AnswerBody::Path(path) => path_answer_lines(path, form),
        AnswerBody::MergedPaths(paths) => merged_lines(paths),
        AnswerBody::Dominators(dominators) => dominator_lines(dominators, form),
        AnswerBody::DominatorGroups(groups) => group_lines(groups),
        AnswerBody::Suspects(suspects) => suspect_lines(suspects),
        AnswerBody::Waste(waste) => waste_lines(waste),
        AnswerBody::Unreachable(unreachable) => unreachable_lines(unreachable),
        AnswerBody::Growth(growth) => growth_lines(growth),
        AnswerBody::Check(check) => check_lines(check),
        AnswerBody::Report(_) => vec!["A report is shown as a page, not as text.".to_owned()],
    };
    if answer.partial {
        lines.insert(
            0,
            "PARTIAL: the heap is damaged, see the warning".to_owned(),
        );
    }
    let lines = lines
        .iter()
        .map(|line| fit(line.trim_end(), options.width) + "\n");
    lines.collect()
}

/// The alignment of a column.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Align {
    Left,
    Right,
}

pub(super) use Align::{Left, Right};

/// Columns with headings, two spaces apart.
pub(super) fn table<const N: usize>(
    heading: [(&str, Align); N],
    rows: &[[String; N]],
) -> Vec<String> {
    let mut widths = heading.map(|(title, _)| title.width());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.width().max(*width);
        }
    }
    let line = |cells: [&str; N]| {
        let cells = cells.iter().zip(heading).zip(widths);
        let cells = cells.map(|((cell, (_, align)), width)| match align {
            Left => pad_right(cell, width),
            Right => pad_left(cell, width),
        });
        cells.collect::<Vec<_>>().join("  ")
    };
    let rows = rows
        .iter()
        .map(|row| line(row.each_ref().map(String::as_str)));
    let title = line(heading.map(|(title, _)| title));
    let has_titles = heading.iter().any(|(title, _)| !title.is_empty());
    has_titles
        .then_some(title)
        .into_iter()
        .chain(rows)
        .collect()
}

/// A sentence about the listed part of a list.
fn part(total: u64, offset: u64, shown: usize, what: &str) -> String {
    let shown = shown as u64;
    let total_text = format_count(total);
    match (offset, shown) {
        (0, shown) if shown == total => format!("{total_text} {what}"),
        (_, 0) => format!(
            "{total_text} {what}, none of them from number {} on",
            offset + 1
        ),
        (offset, shown) => format!(
            "{total_text} {what}, of which {} to {}",
            format_count(offset + 1),
            format_count(offset + shown)
        ),
    }
}

/// An address of a dump.
pub(super) fn address(address: u32) -> String {
    AddressForm::Hexadecimal.of(address).to_string()
}

pub(super) fn size(bytes: impl Into<u64>) -> String {
    format_size(bytes.into())
}

fn preview(preview: Option<&String>) -> String {
    preview.map_or_else(String::new, |preview| printable_name(preview))
}

/// A class name without the modules of the standard library.
pub(super) fn class(name: &str) -> String {
    let mut text = String::new();
    let mut rest = name;
    while let Some(start) = rest.find("~lib/") {
        text.push_str(&rest[..start]);
        let path = &rest[start..];
        let end = path
            .find(|character: char| "<>,|()[]=".contains(character))
            .unwrap_or(path.len());
        let last = path[..end].rfind('/').map_or(0, |slash| slash + 1);
        text.push_str(&path[last..end]);
        rest = &path[end..];
    }
    text.push_str(rest);
    printable_name(&text)
}

fn root(root: &Root) -> String {
    let kind = root_kind_name(root.kind);
    match &root.name {
        Some(name) => format!("{kind} {}", printable_name(name)),
        None => kind.to_owned(),
    }
}

/// A label in the form that follows a class: `.next`, `[3]`, ` (buffer)`.
fn label(label: &str) -> String {
    let label = printable_name(label);
    let is_name = !label.starts_with(['[', '(', '+', '…', '{'])
        && !label.starts_with("->")
        && !label.contains(' ');
    match is_name {
        true => format!(".{label}"),
        false => label,
    }
}

fn class_and_label(class_name: Option<&String>, of: Option<&String>) -> String {
    let class = class_name.map_or_else(String::new, |name| class(name));
    let label = of.map_or_else(String::new, |of| label(of));
    match label.starts_with(['.', '[', '(', '+', '{']) || label.starts_with("->") {
        true => format!("{class}{label}"),
        false => format!("{class} {label}").trim().to_owned(),
    }
}

fn summary_lines(summary: &Summary) -> Vec<String> {
    let mut lines = match summary.total_heap_size {
        Some(total) => vec![format!("heap {}", size(total))],
        None => vec![format!("live {}", size(summary.total_live_size))],
    };
    lines.extend(summary.accounting.iter().flat_map(accounting_lines_of));
    let mut objects = format!("objects {} live", format_count(summary.objects.live));
    for (count, what) in [
        (summary.objects.garbage, "garbage"),
        (summary.objects.statics, "static"),
    ] {
        if let Some(count) = count {
            objects.push_str(&format!(", {} {what}", format_count(count)));
        }
    }
    lines.push(format!(
        "{objects}; {} classes",
        format_count(summary.classes)
    ));
    if let Some(system) = summary.roots.system {
        lines.push(format!(
            "roots {} global, {} system",
            format_count(summary.roots.global),
            format_count(system)
        ));
        return lines;
    }
    lines.push(format!(
        "roots {} global, {} stack, {} pinned",
        format_count(summary.roots.global),
        format_count(summary.roots.stack),
        format_count(summary.roots.pinned)
    ));
    lines
}

fn found_lines(found: &FoundObjects, form: AddressForm) -> Vec<String> {
    let mut lines = vec![part(
        found.total,
        found.offset,
        found.objects.len(),
        "objects",
    )];
    let rows: Vec<_> = found
        .objects
        .iter()
        .map(|object| {
            [
                form.of(object.address).to_string(),
                size(object.shallow_size),
                size(object.retained_size),
                class(&object.class_name),
                preview(object.preview.as_ref()),
            ]
        })
        .collect();
    let heading = [
        ("Address", Right),
        ("Shallow", Right),
        ("Retained", Right),
        ("Class", Left),
        ("Contents", Left),
    ];
    lines.extend(table(heading, &rows));
    lines
}

fn object_lines(object: &ObjectAnswer, form: AddressForm) -> Vec<String> {
    let name = object
        .class_name
        .as_ref()
        .map_or("block".to_owned(), |name| class(name));
    let mut lines = vec![
        format!("{name} at {}", form.of(object.address)),
        format!(
            "{}, {}, retains {}, referred to by {}",
            object.state.name(),
            size(object.shallow_size),
            size(object.retained_size),
            format_count(object.referrer_count)
        ),
    ];
    if let Some(dominator) = &object.dominator {
        lines.push(format!(
            "dominated by {} at {}",
            class(&dominator.class_name),
            form.of(dominator.address)
        ));
    }
    for of in &object.roots {
        lines.push(format!("root: {}", root(of)));
    }
    if object.preview.is_some() {
        lines.push(preview(object.preview.as_ref()));
    }
    let rows: Vec<_> = object
        .fields
        .iter()
        .map(|field| {
            [
                label(&field.name),
                class(&field.type_name),
                printable_name(&field.value.to_string()),
            ]
        })
        .collect();
    lines.extend(table([("", Left), ("", Left), ("", Left)], &rows));
    if let Some(path) = &object.path {
        lines.push(String::new());
        lines.extend(path_lines(path));
        lines.push(format!("fingerprint {}", path.fingerprint));
    }
    lines
}

fn edge_cells(edge: &Edge, form: AddressForm) -> [String; 3] {
    let holder = match &edge.root {
        Some(of) => root(of),
        None => class_and_label(edge.class_name.as_ref(), edge.label.as_ref()),
    };
    let independent = match (edge.independent, edge.weak) {
        (true, _) => "yes",
        (false, false) => "no",
        (false, true) => "weak",
    };
    [
        edge.address
            .map_or_else(String::new, |address| form.of(address).to_string()),
        independent.to_owned(),
        holder,
    ]
}

fn edge_table(edges: &[Edge], form: AddressForm) -> Vec<String> {
    let rows: Vec<_> = edges.iter().map(|edge| edge_cells(edge, form)).collect();
    let heading = [
        ("Address", Right),
        ("Independent", Left),
        ("Reference", Left),
    ];
    table(heading, &rows)
}

fn referrer_lines(referrers: &Referrers, form: AddressForm) -> Vec<String> {
    let Referrers {
        total,
        offset,
        referrers: shown,
        ..
    } = referrers;
    let noun = match total {
        1 => "reference",
        _ => "references",
    };
    let what = format!("{noun} to {}", form.of(referrers.address));
    let mut lines = vec![part(*total, *offset, shown.len(), &what)];
    lines.extend(edge_table(shown, form));
    lines
}

/// The root, then a line for each step.
pub(super) fn path_lines(path: &Path) -> Vec<String> {
    let rows: Vec<_> = path
        .steps
        .iter()
        .map(|step| {
            let of = step.label.as_ref().map_or_else(String::new, |of| label(of));
            let of = match step.repeat {
                1 => of,
                times => format!("{of} ×{}", format_count(times.into())),
            };
            let retained = match step.retained_size == step.shallow_size {
                true => String::new(),
                false => format!("retains {}", size(step.retained_size)),
            };
            [
                format!("  {of}"),
                class(&step.class_name),
                size(step.shallow_size),
                retained,
            ]
        })
        .collect();
    let heading = [("", Left), ("", Left), ("", Right), ("", Left)];
    let mut lines = vec![root(&path.root)];
    lines.extend(table(heading, &rows));
    lines
}

/// The reference to cut and the bytes that this frees, as a sentence.
pub(super) fn cut_sentence(cut: &Cut) -> String {
    let what = match &cut.root {
        Some(of) => root(of),
        None => class_and_label(cut.class_name.as_ref(), cut.label.as_ref()),
    };
    format!("Cutting {what} frees {}.", size(cut.freed))
}

fn path_answer_lines(answer: &PathAnswer, form: AddressForm) -> Vec<String> {
    let mut lines = Vec::new();
    let Some(path) = &answer.path else {
        let name = answer
            .class_name
            .as_ref()
            .map_or("block".to_owned(), |name| class(name));
        lines.push(format!(
            "{name} at {} is not alive: it is {}, and no root reaches it",
            form.of(answer.address),
            answer.state.name()
        ));
        return lines;
    };
    lines.extend(path_lines(path));
    let independent = &answer.independent_referrers;
    match (answer.freed_by_cutting, &answer.cut) {
        (Some(freed), _) => {
            let what = independent
                .edges
                .first()
                .map_or_else(String::new, |edge| edge_cells(edge, form)[2].clone());
            lines.push(format!(
                "Cutting {what} frees this object: {}.",
                size(freed)
            ));
        }
        (None, cut) => {
            lines.push(format!(
                "{} references each keep it alive: no single cut of them frees it, cutting all of them frees {}.",
                format_count(independent.total),
                size(answer.freed_by_cutting_all)
            ));
            lines.extend(edge_table(&independent.edges, form));
            lines.extend(cut.as_ref().map(cut_sentence));
        }
    }
    if let Some(freed) = answer.freed_after_return {
        lines.push(format!(
            "The stack holds it too. Once the running functions have returned, the same cut frees {}.",
            size(freed)
        ));
    }
    lines.push(format!("fingerprint {}", path.fingerprint));
    lines
}

fn merged_lines(paths: &MergedPaths) -> Vec<String> {
    let mut lines = vec![
        format!(
            "{} objects, {}, which retain at least {} together",
            format_count(paths.count),
            size(paths.shallow_size),
            size(paths.retained_set_size)
        ),
        match paths.held_by.system {
            Some(system) => format!(
                "removing all of them frees {}; held by globals {}, V8 {}",
                size(paths.freed_by_removing_all),
                size(paths.held_by.global),
                size(system)
            ),
            None => format!(
                "removing all of them frees {}; held by globals {}, the stack {}, pins {}",
                size(paths.freed_by_removing_all),
                size(paths.held_by.global),
                size(paths.held_by.stack),
                size(paths.held_by.pinned)
            ),
        },
    ];
    let mut rows = Vec::new();
    branch_rows(&paths.tree, paths.more.as_ref(), &mut rows);
    let heading = [("Objects", Right), ("Shallow", Right), ("Path", Left)];
    lines.extend(table(heading, &rows));
    lines
}

/// A row for each branch, in depth-first order. Trees may be deep.
fn branch_rows(tree: &[Branch], more: Option<&More>, rows: &mut Vec<[String; 3]>) {
    enum Row<'a> {
        Branch(&'a Branch),
        More(More),
    }
    fn push<'a>(
        pending: &mut Vec<(usize, Row<'a>)>,
        depth: usize,
        tree: &'a [Branch],
        more: Option<&More>,
    ) {
        pending.extend(more.map(|&more| (depth, Row::More(more))));
        pending.extend(tree.iter().rev().map(|branch| (depth, Row::Branch(branch))));
    }
    let mut pending = Vec::new();
    push(&mut pending, 0, tree, more);
    while let Some((depth, row)) = pending.pop() {
        let indent = "  ".repeat(depth);
        match row {
            Row::Branch(branch) => {
                let start = branch
                    .root
                    .as_ref()
                    .map_or_else(String::new, |of| root(of) + " ");
                let of = branch
                    .label
                    .as_ref()
                    .map_or_else(String::new, |of| label(of) + " ");
                rows.push([
                    format_count(branch.count),
                    size(branch.shallow_size),
                    format!("{indent}{start}{of}{}", class(&branch.class_name)),
                ]);
                push(
                    &mut pending,
                    depth + 1,
                    &branch.children,
                    branch.more.as_ref(),
                );
            }
            Row::More(more) => rows.push([
                format_count(more.count),
                size(more.shallow_size),
                format!("{indent}{} more", format_count(more.branches)),
            ]),
        }
    }
}

fn dominator_lines(dominators: &Dominators, form: AddressForm) -> Vec<String> {
    let Dominators {
        total,
        offset,
        children,
        ..
    } = dominators;
    let mut lines = vec![part(*total, *offset, children.len(), "objects")];
    let rows: Vec<_> = children
        .iter()
        .map(|child| {
            [
                form.of(child.address).to_string(),
                size(child.shallow_size),
                size(child.retained_size),
                class(&child.class_name),
            ]
        })
        .collect();
    let heading = [
        ("Address", Right),
        ("Shallow", Right),
        ("Retained", Right),
        ("Class", Left),
    ];
    lines.extend(table(heading, &rows));
    lines
}

fn group_lines(groups: &DominatorGroups) -> Vec<String> {
    let DominatorGroups {
        total,
        offset,
        groups: shown,
        ..
    } = groups;
    let mut lines = vec![part(*total, *offset, shown.len(), "classes")];
    let rows: Vec<_> = shown
        .iter()
        .map(|group| {
            [
                format_count(group.count),
                size(group.shallow_size),
                size(group.retained_size),
                class(&group.class_name),
            ]
        })
        .collect();
    let heading = [
        ("Count", Right),
        ("Shallow", Right),
        ("Retained", Right),
        ("Class", Left),
    ];
    lines.extend(table(heading, &rows));
    lines
}

fn suspect_lines(suspects: &Suspects) -> Vec<String> {
    if suspects.suspects.is_empty() {
        return vec![format!(
            "No suspect: nothing reaches {} of {} live bytes.",
            size(suspects.threshold),
            size(suspects.total_live_size)
        )];
    }
    let mut lines = Vec::new();
    for (nth, suspect) in suspects.suspects.iter().enumerate() {
        if nth > 0 {
            lines.push(String::new());
        }
        lines.push(format!("{}. {}", nth + 1, printable(&suspect.text)));
        if let Some(path) = &suspect.path {
            lines.extend(
                path_lines(path)
                    .into_iter()
                    .map(|line| format!("   {line}")),
            );
            lines.push(format!("   fingerprint {}", path.fingerprint));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_names_lose_the_modules_of_the_standard_library_only() {
        let short = [
            ("~lib/array/Array<assembly/a/B>", "Array<assembly/a/B>"),
            ("~lib/map/Map<~lib/string/String,i32>", "Map<String,i32>"),
            ("assembly/index/Node", "assembly/index/Node"),
            (
                "~lib/function/Function<(~lib/string/String|null)=>i32>",
                "Function<(String|null)=>i32>",
            ),
        ];
        for (name, expected) in short {
            assert_eq!(class(name), expected);
        }
    }
}

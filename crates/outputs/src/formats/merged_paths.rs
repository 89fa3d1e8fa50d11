//! Merged paths as text: a tree, a branch a row.

use super::names::{class, label, root, size, sizes};
use super::rows::{Left, Right, table};
use super::text::{counted, format_count};
use questions::{Branch, HeldBy, MergedPaths, More};

/// After a place to which the paths return.
const REPEATED: &str = " …";

pub(super) fn merged_lines(paths: &MergedPaths) -> Vec<String> {
    let mut lines = vec![
        format!(
            "{}, {}, which retain at least {} together",
            counted(paths.count, "object"),
            sizes(paths.shallow_size, paths.shallow_parts),
            sizes(paths.retained_set_size, paths.retained_set_parts)
        ),
        format!(
            "removing all of them frees {}; held by {}",
            sizes(paths.freed_by_removing_all, paths.freed_parts),
            holders(&paths.held_by)
        ),
    ];
    let mut rows = Vec::new();
    branch_rows(&paths.tree, paths.more.as_ref(), &mut rows);
    let heading = [("Objects", Right), ("Shallow", Right), ("Path", Left)];
    lines.extend(table(heading, &rows));
    lines
}

/// The kinds of roots that the heap can have, each with what it holds.
fn holders(held_by: &HeldBy) -> String {
    let global = size(held_by.global);
    if let Some(system) = held_by.system {
        let both = [(held_by.stack, "the stack"), (held_by.pinned, "pins")];
        let both = both.into_iter().filter(|&(bytes, _)| bytes > 0);
        let both: String = both
            .map(|(bytes, what)| format!(", {what} {}", size(bytes)))
            .collect();
        // V8 has no roots on the stack: a host that has is a JVM.
        let host = if held_by.stack > 0 { "the JVM" } else { "V8" };
        return format!("globals {global}, {host} {}{both}", size(system));
    }
    let stack = size(held_by.stack);
    match held_by.unreferenced {
        Some(unreferenced) => {
            let host = held_by.host.filter(|&host| host > 0);
            let host = host.map_or_else(String::new, |host| format!(", the host {}", size(host)));
            let unreferenced = size(unreferenced);
            format!("globals {global}, the stack {stack}{host}; unreferenced {unreferenced}")
        }
        None => format!(
            "globals {global}, the stack {stack}, pins {}",
            size(held_by.pinned)
        ),
    }
}

/// A row for each branch, in depth-first order. Trees may be deep.
fn branch_rows(tree: &[Branch], more: Option<&More>, rows: &mut Vec<[String; 3]>) {
    enum MergedRow<'a> {
        Branch(&'a Branch),
        More(More),
    }
    fn push<'a>(
        pending: &mut Vec<(usize, MergedRow<'a>)>,
        depth: usize,
        tree: &'a [Branch],
        more: Option<&More>,
    ) {
        pending.extend(more.map(|&more| (depth, MergedRow::More(more))));
        pending.extend(
            tree.iter()
                .rev()
                .map(|branch| (depth, MergedRow::Branch(branch))),
        );
    }
    let mut pending = Vec::new();
    push(&mut pending, 0, tree, more);
    while let Some((depth, row)) = pending.pop() {
        let indent = "  ".repeat(depth);
        match row {
            MergedRow::Branch(branch) => {
                let start = branch
                    .root
                    .as_ref()
                    .map_or_else(String::new, |of| root(of) + " ");
                let of = branch
                    .label
                    .as_ref()
                    .map_or_else(String::new, |of| label(of) + " ");
                let mark = if branch.folded { REPEATED } else { "" };
                rows.push([
                    format_count(branch.count),
                    size(branch.shallow_size),
                    format!("{indent}{start}{of}{}{mark}", class(&branch.class_name)),
                ]);
                push(
                    &mut pending,
                    depth + 1,
                    &branch.children,
                    branch.more.as_ref(),
                );
            }
            MergedRow::More(more) => rows.push([
                format_count(more.count),
                size(more.shallow_size),
                format!("{indent}{} more", format_count(more.branches)),
            ]),
        }
    }
}

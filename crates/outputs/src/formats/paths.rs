//! Paths and references as text.

use super::names::{
    class, class_and_label, from_line, label, root, size, sizes, with_evidence, with_function,
};
use super::rows::{Left, Right, part, table};
use super::text::format_count;
use base::units::AddressForm;
use questions::{Cut, Edge, Path, PathAnswer, Referrers};

fn edge_cells(edge: &Edge, form: AddressForm) -> [String; 3] {
    let holder = match &edge.root {
        Some(of) => root(of),
        None => {
            let label = class_and_label(edge.class_name.as_ref(), edge.label.as_ref());
            with_evidence(label, edge.evidence)
        }
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

pub(super) fn referrer_lines(referrers: &Referrers, form: AddressForm) -> Vec<String> {
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
            let of = with_evidence(of, step.evidence);
            let of = match step.repeat {
                1 => of,
                times => format!("{of} ×{}", format_count(times.into())),
            };
            let retained = if step.retained_size == step.shallow_size {
                String::new()
            } else {
                format!("retains {}", sizes(step.retained_size, step.retained_parts))
            };
            [
                format!("  {of}"),
                with_function(class(&step.class_name), step.function_name.as_ref())
                    + &from_line(step.allocated_at.as_ref()),
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
    format!(
        "Cutting {} frees {}.",
        cut_reference(cut),
        sizes(cut.freed, cut.freed_parts)
    )
}

/// What to cut. A slot of the engine stays as long as its object, so that goes.
fn cut_reference(cut: &Cut) -> String {
    match (&cut.root, cut.engine_slot_of()) {
        (_, Some(name)) => format!("what refers to the {}", class(name)),
        (Some(of), None) => root(of),
        (None, None) => class_and_label(cut.class_name.as_ref(), cut.label.as_ref()),
    }
}

pub(super) fn path_answer_lines(answer: &PathAnswer, form: AddressForm) -> Vec<String> {
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
            let slot = answer.cut.as_ref();
            let slot = slot.filter(|cut| cut.engine_slot_of().is_some());
            let edge = independent.edges.first();
            let what = match (slot, edge) {
                (Some(cut), _) => cut_reference(cut),
                (None, Some(edge)) => edge_cells(edge, form)[2].clone(),
                (None, None) => String::new(),
            };
            lines.push(format!(
                "Cutting {what} frees this object: {}.",
                sizes(freed, answer.retained_parts)
            ));
        }
        (None, cut) => {
            lines.push(format!(
                "{} references each keep it alive: no single cut of them frees it, cutting all of them frees {}.",
                format_count(independent.total),
                sizes(answer.freed_by_cutting_all, answer.retained_parts)
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

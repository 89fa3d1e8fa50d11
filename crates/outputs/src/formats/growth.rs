//! The answers to `growth` and `check` as text: every growing place with its path, its numbers dump by dump,
//! and what grows with it.

use super::names::{class, size};
use super::next_command::NextCommand;
use super::rows::{Left, Right, table};
use super::text::{format_count, printable_name};
use questions::{
    Check, CheckedRule, FoldedPlace, GrowingPlace, Growth, LiveGrowth, Rate, UndecidedPlace,
};

/// Dumps that all have a bar; of more, the first and the last.
const DUMPS: usize = 20;
/// Dumps that are shown at each end.
const END: usize = 8;
/// Folded places that are shown of a place.
const FOLDED: usize = 5;
/// Undecided places that are shown.
const UNDECIDED: usize = 5;
/// Paths longer than this are cut in the middle.
const STEPS: usize = 40;

pub(super) fn growth_lines(growth: &Growth, next: Option<&NextCommand>) -> Vec<String> {
    let counted = growth.dumps.len() as u64 - growth.warmup;
    let mut dumps = format!("{} dumps", format_count(counted));
    if growth.warmup > 0 {
        dumps += &format!(" after a warm-up of {}", format_count(growth.warmup));
    }
    let shown = growth.places.len() as u64;
    let mut lines = vec![match growth.total {
        0 => format!("nothing grows from dump to dump, over {dumps}"),
        1 => format!("1 place grows from dump to dump, over {dumps}"),
        total => format!(
            "{} places grow from dump to dump, over {dumps}",
            format_count(total)
        ),
    }];
    if shown < growth.total {
        lines[0] += &match shown {
            0 => format!(", none of them from number {} on", growth.offset + 1),
            _ => format!(
                ", of which {} to {} are listed",
                format_count(growth.offset + 1),
                format_count(growth.offset + shown)
            ),
        };
    }
    let live: Vec<Option<u64>> = growth
        .dumps
        .iter()
        .map(|dump| Some(dump.total_live_size))
        .collect();
    lines.push(format!("live bytes {}", sparkline(&live, size)));
    lines.extend(explained_line(growth.per_interval, growth.total));
    lines.extend(growing_lines(&growth.places, growth.offset, next));
    lines.extend(undecided_lines(&growth.undecided));
    lines
}

pub(super) fn check_lines(check: &Check, next: Option<&NextCommand>) -> Vec<String> {
    let broken = check.rules.iter().filter(|rule| !rule.passed).count();
    let mut lines = vec![match broken {
        0 => "passed: no rule is broken".to_owned(),
        1 => "FAILED: 1 rule is broken".to_owned(),
        broken => format!("FAILED: {broken} rules are broken"),
    }];
    let rows: Vec<_> = check.rules.iter().map(rule_row).collect();
    lines.extend(table([("", Left), ("", Left), ("", Left)], &rows));
    for (what, fingerprints) in [
        ("accepted, and still growing", &check.accepted),
        ("accepted, but not growing any more", &check.gone),
    ] {
        if !fingerprints.is_empty() {
            let fingerprints: Vec<_> = fingerprints.iter().map(|one| printable_name(one)).collect();
            lines.push(format!("{what}: {}", fingerprints.join(", ")));
        }
    }
    lines.extend(explained_line(
        check.per_interval,
        check.places.len() as u64,
    ));
    lines.extend(growing_lines(&check.places, 0, next));
    lines.extend(undecided_lines(&check.undecided));
    lines
}

fn rule_row(rule: &CheckedRule) -> [String; 3] {
    let is_of_bytes = matches!(rule.rule.as_str(), "max-growth" | "max-live");
    let amount = |amount: i64| {
        let text = if is_of_bytes {
            size(amount.unsigned_abs())
        } else {
            format_count(amount.unsigned_abs())
        };
        if amount < 0 { format!("-{text}") } else { text }
    };
    let found = match rule.rule.as_str() {
        "default" => match rule.actual {
            1 => "1 place grows, none may".to_owned(),
            actual => format!("{} places grow, none may", amount(actual)),
        },
        _ => format!("{}, at most {}", amount(rule.actual), amount(rule.limit)),
    };
    let state = if rule.passed { "kept" } else { "BROKEN" };
    [
        format!("  {}", printable_name(&rule.rule)),
        state.to_owned(),
        found,
    ]
}

/// How much of the growth of live bytes the growing places explain; nothing if none grows or live bytes do not.
fn explained_line(LiveGrowth { live, explained }: LiveGrowth, places: u64) -> Option<String> {
    if places == 0 || live <= 0.0 {
        return None;
    }
    let percent = explained.max(0.0) / live * 100.0;
    let who = match places {
        1 => "the place explains",
        _ => "all places together explain",
    };
    let mut line = format!("live bytes grow by {} per interval", bytes(live));
    // Where other memory shrinks, the part would be more than the whole.
    if percent <= 100.0 {
        line += &format!(", of which {who} {} %", percent.floor());
    }
    Some(line)
}

fn growing_lines(places: &[GrowingPlace], offset: u64, next: Option<&NextCommand>) -> Vec<String> {
    let mut lines = Vec::new();
    for (nth, place) in (offset + 1..).zip(places) {
        lines.push(String::new());
        if place.is_stack() {
            lines.extend(stack_lines(nth, place));
            continue;
        }
        lines.push(format!(
            "{nth}. {} per interval: {}",
            rate(place.per_interval),
            class(&place.class_name)
        ));
        lines.extend(
            place
                .hint
                .as_ref()
                .map(|hint| format!("  {}", printable_name(hint))),
        );
        lines.extend(path_lines(place));
        if let Some(source) = &place.source {
            let file = class(&source.file);
            // The first code of a class may be that of a field.
            let is_function = place.class_name.starts_with("function ");
            let what = if is_function { "function" } else { "class" };
            lines.push(format!("  {what} at {file}:{}", source.line));
        }
        let rows = [
            [
                "  objects".to_owned(),
                sparkline(&place.counts, format_count),
            ],
            ["  contents".to_owned(), sparkline(&place.bytes, size)],
            ["  retained".to_owned(), sparkline(&place.retained, size)],
        ];
        lines.extend(table([("", Left), ("", Left)], &rows));
        lines.extend(folded_lines(&place.folded));
        lines.push(format!("  fingerprint {}", place.fingerprint));
        let next = next.and_then(|next| next.place_line(place));
        lines.extend(next.map(|line| format!("  {line}")));
    }
    lines
}

/// The stack that is not given back.
fn stack_lines(nth: u64, stack: &GrowingPlace) -> [String; 3] {
    let grown = decimal(stack.per_interval.retained);
    [
        format!(
            "{nth}. the stack grows by {grown} B per interval: a caller takes stack and does not give it back"
        ),
        format!("  in use  {}", sparkline(&stack.bytes, size)),
        format!("  fingerprint {}", stack.fingerprint),
    ]
}

/// What may have stopped growing.
fn undecided_lines(places: &[UndecidedPlace]) -> Vec<String> {
    if places.is_empty() {
        return Vec::new();
    }
    let what = match places.len() {
        1 => "1 place grew at first, and may have stopped".to_owned(),
        count => format!(
            "{} places grew at first, and may have stopped",
            format_count(count as u64)
        ),
    };
    let mut lines = vec![String::new(), format!("undecided: {what}")];
    for place in places.iter().take(UNDECIDED) {
        let how = match place.stopped_after {
            Some(dump) => format!("stopped growing after dump {}", format_count(dump)),
            None => "grows less and less".to_owned(),
        };
        let at = match (&place.path, &place.label) {
            (Some(path), _) => path.split(" > ").map(class).collect::<Vec<_>>().join(" > "),
            (None, Some(label)) => format!("{} > {}", class(label), class(&place.class_name)),
            (None, None) => class(&place.class_name),
        };
        lines.push(format!("  {how}: {at}"));
        lines.push(format!("    {}", sparkline(&place.counts, format_count)));
    }
    let rest = places.len().saturating_sub(UNDECIDED);
    if rest > 0 {
        lines.push(format!("  and {rest} more"));
    }
    lines
}

/// Where the objects are: the path, a step a line.
fn path_lines(place: &GrowingPlace) -> Vec<String> {
    let Some(path) = &place.path else {
        return vec![match &place.label {
            Some(label) => format!("  at {}, on changing paths", class(label)),
            None => "  in no one place".to_owned(),
        }];
    };
    let mut steps: Vec<&str> = path.split(" > ").collect();
    let left_out = steps.len().saturating_sub(STEPS);
    if left_out > 0 {
        steps.drain(STEPS / 2..STEPS / 2 + left_out);
    }
    let mut lines = Vec::new();
    for (nth, step) in steps.into_iter().enumerate() {
        if left_out > 0 && nth == STEPS / 2 {
            lines.push(format!("    … {left_out} more steps"));
        }
        let indent = if nth == 0 { "  " } else { "    " };
        lines.push(format!("{indent}{}", class(step)));
    }
    lines
}

fn folded_lines(folded: &[FoldedPlace]) -> Vec<String> {
    if folded.is_empty() {
        return Vec::new();
    }
    let mut lines = vec!["  with it grow, in the last dump:".to_owned()];
    let rows: Vec<_> = folded
        .iter()
        .take(FOLDED)
        .map(|place| {
            [
                format!("    {}", format_count(place.count)),
                class(&place.class_name),
                place.fingerprint.clone(),
                short_place(place),
            ]
        })
        .collect();
    let heading = [("", Right), ("", Left), ("", Left), ("", Left)];
    lines.extend(table(heading, &rows));
    let rest = folded.len().saturating_sub(FOLDED);
    if rest > 0 {
        lines.push(format!("    and {rest} more"));
    }
    lines
}

/// The last reference that leads to what is folded.
fn short_place(place: &FoldedPlace) -> String {
    let step = match &place.path {
        Some(path) => path.rsplit(" > ").nth(1).unwrap_or_default(),
        None => place.label.as_deref().unwrap_or_default(),
    };
    match step {
        "" => String::new(),
        step => format!("at {}", class(step)),
    }
}

/// `+5 objects, +1.2 KiB retained`. Objects whose number stays grow by what they retain, or only by their contents.
fn rate(rate: Rate) -> String {
    let retained = signed(rate.retained, bytes);
    if rate.count == 0.0 {
        return if rate.retained > 0.0 {
            format!("{retained} retained by as many objects as before")
        } else {
            format!(
                "{} of contents in as many objects as before",
                signed(rate.bytes, bytes)
            )
        };
    }
    let objects = match rate.count {
        1.0 => "+1 object".to_owned(),
        count => format!("{} objects", signed(count, decimal)),
    };
    format!("{objects}, {retained} retained")
}

/// Bytes with one decimal, below 1 KiB too.
fn bytes(bytes: f64) -> String {
    if bytes < 1024.0 {
        format!("{} B", decimal(bytes))
    } else {
        size(bytes as u64)
    }
}

fn signed(number: f64, format: impl Fn(f64) -> String) -> String {
    let sign = if number < 0.0 { "-" } else { "+" };
    format!("{sign}{}", format(number.abs()))
}

/// A number with one decimal, if it has any.
fn decimal(number: f64) -> String {
    if number.fract() == 0.0 {
        format_count(number as u64)
    } else {
        format!("{number:.1}")
    }
}

/// The numbers of all dumps as bars, with the first and the last of them. Of many dumps, only the first and the last have
/// bars.
fn sparkline(numbers: &[Option<u64>], format: impl Fn(u64) -> String) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let known = numbers.iter().copied().flatten();
    let most = known.clone().max().unwrap_or_default();
    let least = known.clone().min().unwrap_or_default();
    let bar = |number: Option<u64>| {
        let Some(number) = number else { return ' ' };
        // Wide enough for any numbers.
        let part = u128::from(number - least) * (BARS.len() as u128 - 1);
        BARS[part
            .checked_div(u128::from(most - least))
            .unwrap_or_default() as usize]
    };
    let count = numbers.len();
    let mut bars = String::new();
    for (nth, &number) in numbers.iter().enumerate() {
        if count <= DUMPS || nth < END || nth >= count - END {
            bars.push(bar(number));
        } else if nth == END {
            bars.push('…');
        }
    }
    let ends = known
        .clone()
        .next()
        .zip(known.last())
        .map(|(first, last)| format!(" {} → {}", format(first), format(last)));
    bars + &ends.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use questions::{LiveGrowth, Rate};

    #[test]
    fn places_that_grow_by_more_than_the_live_bytes_explain_no_part_of_them() {
        let line = |live, explained| super::explained_line(LiveGrowth { live, explained }, 1);
        let whole = "live bytes grow by 100 B per interval, of which the place explains 100 %";
        assert_eq!(line(100.0, 100.0).as_deref(), Some(whole));
        let only = "live bytes grow by 100 B per interval";
        assert_eq!(line(100.0, 101.0).as_deref(), Some(only));
        assert_eq!(line(0.0, 1.0), None);
    }

    #[test]
    fn a_rate_says_what_grows() {
        let rate = |count, bytes, retained| {
            super::rate(Rate {
                count,
                bytes,
                retained,
            })
        };
        assert_eq!(
            rate(400.0, 16000.0, 25600.0),
            "+400 objects, +25.0 KiB retained"
        );
        assert_eq!(rate(1.0, 8.0, -24.0), "+1 object, -24 B retained");
        assert_eq!(
            rate(0.0, 8.0, 24.0),
            "+24 B retained by as many objects as before"
        );
        for retained in [0.0, -24.0] {
            assert_eq!(
                rate(0.0, 8.0, retained),
                "+8 B of contents in as many objects as before"
            );
        }
    }
}

/** Human-readable tables of results: of one run, and of one run compared with another. */
import { describe } from "./machine.js";
import type { Results, StageRow, TargetRow } from "./results.js";

export function report(results: Results): string {
  const { machine, optimised } = results;
  return [
    describe(machine),
    ...(optimised ? [] : ["The engine is not optimised: the numbers are for trying out only."]),
    ...(machine.busyCores < 0.1
      ? []
      : [
          `Other processes kept ${figure(machine.busyCores)} cores busy when it began: trust the fastest runs.`,
        ]),
    "",
    `Nanoseconds per object (objects alive or not), medians of ${results.repetitions}; memory is the peak with the`,
    "mapped dump. To compare with: reading the dump once (one thread), following one pointer per object,",
    "getting as much fresh memory as the dump is large.",
    "",
    table(
      stageHeadings(results),
      results.stages.map((row) => stageCells(row, stageNames(results))),
    ),
    "",
    table(
      ["promised", "", "measured", "met", "from"],
      results.targets.map((row) => [
        row.work,
        `${row.better === "less" ? "≤" : "≥"} ${row.limit} ${row.unit}`,
        `${figure(row.measured)} ${row.unit}`,
        row.met === null ? "not judged" : row.met ? "yes" : "NO",
        row.detail,
      ]),
    ),
    "",
  ].join("\n");
}

/** This run's numbers divided by those of an earlier one, row by row. */
export function comparison(now: Results, earlier: Results): string {
  const names = stageNames(now);
  const stages = now.stages.flatMap((row) => {
    const same = (other: StageRow) => other.shape === row.shape && other.size === row.size;
    const before = earlier.stages.find(same);
    if (before === undefined) return [];
    return [
      [
        row.shape,
        row.size,
        ...names.map((name) => ratio(row.stages[name], before.stages[name])),
        ratio(row.total.median, before.total.median),
        ratio(row.total.min, before.total.min),
        ratio(row.peakBytes, before.peakBytes),
        ratio(row.json.bytesPerSecond, before.json.bytesPerSecond),
        ratio(row.yardsticks.read, before.yardsticks.read),
        ratio(row.yardsticks.chase, before.yardsticks.chase),
        ratio(row.yardsticks.fresh, before.yardsticks.fresh),
      ],
    ];
  });
  const targets = now.targets.flatMap((row) => {
    const before = earlier.targets.find(({ work }: TargetRow) => work === row.work);
    if (before === undefined) return [];
    const unit = row.unit;
    return [
      [
        row.work,
        `${figure(before.measured)} ${unit}`,
        `${figure(row.measured)} ${unit}`,
        ratio(row.measured, before.measured),
      ],
    ];
  });
  const headings = [
    "shape",
    "size",
    ...names,
    "total",
    "min",
    "peak",
    "JSON MB/s",
    "read",
    "chase",
    "fresh",
  ];
  return [
    `This run divided by that of ${earlier.date}, commit ${earlier.machine.commit}: 0.50 is half of what it was.`,
    ...(describe(now.machine).split("; commit")[0] ===
    describe(earlier.machine).split("; commit")[0]
      ? []
      : [`That ran on another machine: ${describe(earlier.machine)}`]),
    "",
    table(headings, stages),
    "",
    ...(targets.length > 0 ? [table(["promised", "earlier", "now", "ratio"], targets), ""] : []),
  ].join("\n");
}

function stageNames(results: Results): string[] {
  return [...new Set(results.stages.flatMap((row) => Object.keys(row.stages)))];
}

function stageHeadings(results: Results): string[] {
  const memory = ["B/object", "B/dump B", "JSON MB/s"];
  return [
    "shape",
    "size",
    "objects",
    "MiB",
    ...stageNames(results),
    "total",
    "min",
    ...memory,
    "read",
    "chase",
    "fresh",
  ];
}

function stageCells(row: StageRow, names: string[]): string[] {
  return [
    row.shape,
    row.size,
    row.objects.toLocaleString("en"),
    (row.dumpBytes / 2 ** 20).toFixed(0),
    ...names.map((name) => figure(row.stages[name] ?? 0)),
    figure(row.total.median),
    figure(row.total.min),
    row.peakBytes === null ? "" : figure(row.peakBytes / row.objects),
    row.peakBytes === null ? "" : (row.peakBytes / row.dumpBytes).toFixed(2),
    figure(row.json.bytesPerSecond / 1e6),
    figure(row.yardsticks.read),
    figure(row.yardsticks.chase),
    figure(row.yardsticks.fresh),
  ];
}

/** Three digits that count. */
function figure(number: number): string {
  const digits = Math.abs(number) >= 100 ? 0 : Math.abs(number) >= 10 ? 1 : 2;
  return number.toFixed(digits);
}

function ratio(now: number | null | undefined, before: number | null | undefined): string {
  return now && before ? (now / before).toFixed(2) : "";
}

/** Text to the left, numbers to the right. */
function table(headings: string[], rows: string[][]): string {
  const widths = headings.map((heading, at) =>
    Math.max(heading.length, ...rows.map((row) => (row[at] ?? "").length)),
  );
  const isNumeric = headings.map((_, at) => rows.every((row) => /^[\d.,]*$/.test(row[at] ?? "")));
  const line = (cells: string[]) =>
    cells
      .map((cell, at) =>
        isNumeric[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return [line(headings), ...rows.map(line)].join("\n");
}

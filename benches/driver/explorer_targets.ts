/** The promises about the explorer's page, measured in Chromium. */
import type { ExplorerAction, ExplorerTimes } from "./explorer.js";
import { runNode } from "./processes.js";
import type { Promised } from "./results.js";
import type { ShopHeaps } from "./stages.js";

const MIB = 2 ** 20;

/** A promise, what was measured, and from what. */
export type Measured = [promised: Promised, measured: number, detail: string];

/** Opens both dumps of the shop in the explorer, and acts as a reader does. */
export function measureExplorer(
  title: string,
  { before, after }: ShopHeaps,
  repetitions: number,
): Measured[] {
  const script = require.resolve("./explorer.js");
  const args = [script, after.dump, after.wasm, before.dump];
  const runs = Array.from(
    { length: repetitions },
    () => JSON.parse(runNode(args).stdout) as ExplorerTimes,
  );
  const signs = worst(runs, ({ actions }) => slowest(actions, "sign"));
  const passes = worst(runs, ({ actions }) =>
    slowest(
      actions.filter(({ isPass }) => isPass),
      "whole",
    ),
  );
  const scrolls = worst(runs, ({ scroll }) => ({ value: scroll.blank, what: scroll }));
  const memories = worst(runs, (run) => ({ value: run.memory, what: run }));
  const { rows, frames, whole } = scrolls.what;
  const work = (what: string) => `explorer, ${title}: ${what}`;
  return [
    [
      { work: work("slowest first sign of an action"), unit: "ms", limit: 100, better: "less" },
      signs.value * 1000,
      `${signs.what.action}, until the first change is drawn`,
    ],
    [
      { work: work("slowest pass over the heap"), unit: "s", limit: 2, better: "less" },
      passes.value,
      `${passes.what.action}, until its objects are drawn`,
    ],
    [
      { work: work("blank frames of scrolling"), unit: "frames", limit: 0, better: "less" },
      scrolls.value,
      `of ${frames}, through ${rows.toLocaleString("en")} rows in ${whole.toFixed(1)} s`,
    ],
    [
      { work: work("memory of the page"), unit: "MiB", limit: 200, better: "less" },
      memories.value / MIB,
      `of its process alone; ${(memories.what.heap / MIB).toFixed(0)} MiB are JavaScript's`,
    ],
  ];
}

/** A measured value, and what it is of. */
interface Worst<T> {
  value: number;
  what: T;
}

function slowest(actions: ExplorerAction[], time: "sign" | "whole"): Worst<ExplorerAction> {
  return actions
    .map((action) => ({ value: action[time], what: action }))
    .reduce((one, other) => (other.value > one.value ? other : one));
}

/** The worst of each run, of the run in which it was best: what else the machine does only adds time. */
function worst<T>(runs: ExplorerTimes[], find: (run: ExplorerTimes) => Worst<T>): Worst<T> {
  return runs.map(find).reduce((one, other) => (other.value < one.value ? other : one));
}

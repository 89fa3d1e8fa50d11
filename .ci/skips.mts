/** A reporter that counts tests, and says which were skipped and why. A skip that no row here explains fails the run in CI. */
import { relative } from "node:path";
import type { Reporter, TestCase, TestModule } from "vitest/node";

/** Why tests are skipped where their tools are missing: what they need, and the part that runs them with it. */
interface Reason {
  files: RegExp;
  why: string;
  /** The part of `npm run test:full` that installs or asks for it; undefined if it is a matter of the system. */
  part?: string;
}

const REASONS: Reason[] = [
  { files: /capture_hosts|cli_hosts/, why: "the system has no small disk or no other user for it" },
  { files: /\/(cli|command_names)\.test/, why: "there is no terminal (script of util-linux)" },
  { files: /browser\/app\.test/, why: "dist/app.html is not built", part: "app" },
  { files: /bench\.test/, why: "takes long", part: "bench" },
  { files: /parquet_recipes|snapshot_leaks/, why: "DuckDB is not here", part: "fleet" },
  { files: /other_hosts/, why: "the host is not here", part: "other-hosts" },
  {
    files: /attach|border_|bridge_recall|handles|snapshot_hosts|watch|devtools\/snapshots/,
    why: "the host is not here",
    part: "hosts",
  },
  { files: /\/(profile|pprof)\.test/, why: "Go is not here", part: "compilers" },
  {
    files: /native|leak_sanitizer|leaky_parser|profile_unnamed/,
    why: "takes long",
    part: "native",
  },
];

export default class Skips implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const rows = new Map<string, number>();
    const unexplained = new Set<string>();
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId);
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state !== "pending") counts[state]++;
        if (state !== "skipped") continue;
        const reason = reasonOf(file, test);
        if (reason === undefined) unexplained.add(`${file}: ${test.fullName}`);
        else rows.set(`${file}: ${reason}`, (rows.get(`${file}: ${reason}`) ?? 0) + 1);
      }
    }
    if (rows.size > 0) console.log("\nskipped");
    for (const [row, count] of [...rows].sort())
      console.log(`${String(count).padStart(7)}  ${row}`);
    // Without CI, a filter of names may have left them out.
    if (process.env.CI) {
      for (const test of unexplained) console.log(`error: skipped without a reason: ${test}`);
      if (unexplained.size > 0) process.exitCode = 1;
    }
    const { passed, failed, skipped } = counts;
    console.log(`\nvitest: ${passed} passed, ${failed} failed, ${skipped} skipped`);
  }
}

function reasonOf(file: string, test: TestCase): string | undefined {
  const result = test.result();
  const note = result.state === "skipped" ? result.note : undefined;
  if (note !== undefined) return note;
  if (process.platform !== "linux") return `not on ${process.platform}`;
  const reason = REASONS.find(({ files }) => files.test(file));
  if (reason === undefined) return undefined;
  if (reason.part === undefined) return reason.why;
  // The part has installed what the test needs.
  if (reason.part === process.env.TEST_PART) return undefined;
  return `${reason.why} (npm run test:full -- ${reason.part})`;
}

/** Runs commands one after another, and says how long each took and how many tests passed. */
import { execFileSync, spawn } from "node:child_process";

/**
 * A command with its name, and the lines in which it says how many tests passed, failed and were skipped.
 * @typedef {{ name: string, command: string, env?: Record<string, string>, counted?: RegExp }} Step
 */

/** The lines of `cargo test`, of the package's tests (`skips.mts`), and the last line of `runAll`. */
export const CARGO = /^test result: .*? (\d+) passed; (\d+) failed; (\d+) ignored/;
export const VITEST = /^vitest: (\d+) passed, (\d+) failed, (\d+) skipped$/;
export const CLOSING = /^(\d+) passed, (\d+) failed, (\d+) skipped$/;

/** The option that makes cargo share what it compiles with `napi build`, which always names its target. */
export function hostTarget() {
  const version = execFileSync("rustc", ["-vV"], { encoding: "utf8" });
  return `--target ${/^host: (.*)$/m.exec(version)[1]}`;
}

/** Runs one command. Passes on what it prints, and returns how it ended. */
function run({ command, env = {}, counted }) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const child = spawn(command, {
    shell: true,
    stdio: ["inherit", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  let rest = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text) => {
    process.stdout.write(text);
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const found = counted?.exec(line);
      if (!found) continue;
      counts.passed += Number(found[1]);
      counts.failed += Number(found[2]);
      counts.skipped += Number(found[3]);
    }
  });
  return new Promise((resolve) => {
    child.on("close", (status) => resolve({ status: status ?? 1, counts }));
  });
}

/** Seconds as people read them. */
function duration(seconds) {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/**
 * Runs the steps, prints their durations and the tests, and fails if one failed.
 * @param {Step[]} steps
 * @param {{ toTheEnd?: boolean }} options `toTheEnd`: also after a step that failed.
 */
export async function runAll(steps, { toTheEnd = false } = {}) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  const rows = [];
  let status = 0;
  for (const step of steps) {
    console.log(`\n=== ${step.name}: ${step.command}`);
    const begin = performance.now();
    const result = await run(step);
    for (const key of Object.keys(total)) total[key] += result.counts[key];
    status ||= result.status;
    const end = result.status === 0 ? "" : `  FAILED (exit code ${result.status})`;
    rows.push([duration((performance.now() - begin) / 1000), `${step.name}${end}`]);
    if (status !== 0 && !toTheEnd) break;
  }
  const left = steps.slice(rows.length).map(({ name }) => ["-", `${name}  not run`]);
  console.log("\nminutes");
  for (const [time, name] of [...rows, ...left]) console.log(`${time.padStart(7)}  ${name}`);
  console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  process.exitCode = status;
}

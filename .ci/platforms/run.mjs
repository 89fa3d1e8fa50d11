/**
 * Runs the suite of `__test__/platforms` with the binaries in `artifacts` and prints a table: which are there, load, and
 * pass. With names, only these platforms. It takes the JavaScript in `dist`, and for other systems `qemu-user-static`,
 * `libc6-arm64-cross`, `libstdc++6-arm64-cross` and `wine64` of Debian. What cannot run says why, and does not fail.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeKit, useBinary } from "./kit.mjs";
import { binaryOf, chosenPlatforms, PLATFORMS, printTable } from "./list.mjs";
import { runnersOf } from "./runners.mjs";

process.chdir(resolve(import.meta.dirname, "../.."));
const platforms = chosenPlatforms(process.argv.slice(2));
const kit = resolve("build/platforms/kit");
makeKit(kit);
expectAnswersOfThisMachine();

const rows = platforms.flatMap(rowsOf);
console.log();
printTable([["platform", "size", "Node", "loaded", "suite"], ...rows]);
if (rows.some((row) => row.at(-1).includes("FAILED"))) process.exitCode = 1;

/** The answers of the binary that `npm run build` made, which all other tests judge. */
function expectAnswersOfThisMachine() {
  const [host] = PLATFORMS;
  useBinary(kit, host, `dist/warpo-heap-analyzer.${host.name}.node`);
  const [runner] = runnersOf(host, kit);
  const { text, passed } = run({ ...runner, command: [process.execPath] }, "host", ["--write"]);
  if (passed) return;
  console.error(text);
  process.exit(1);
}

function rowsOf(platform) {
  const file = binaryOf(platform);
  if (!existsSync(file)) return [[platform.name, "-", "-", "-", "not built"]];
  const size = `${(statSync(file).size / 1e6).toFixed(1)} MB`;
  useBinary(kit, platform);
  return runnersOf(platform, kit).map((runner) => {
    if (runner.reason !== undefined) {
      return [platform.name, size, runner.node, "-", `not run: ${runner.reason}`];
    }
    console.log(`\n=== ${platform.name}, Node ${runner.node}`);
    const { text, passed } = run(runner, `${platform.name}-${runner.node}`);
    console.log(text);
    const count = (kind) => Number(new RegExp(`^# ${kind} (\\d+)`, "m").exec(text)?.[1] ?? 0);
    const loaded = /^ok 1 - the binary/m.test(text) ? "yes" : "no";
    const end = passed ? "passed" : "FAILED";
    return [platform.name, size, runner.node, loaded, `${count("pass")} of ${count("tests")} ${end}`];
  });
}

/** Runs the suite. Its output goes to a file, because a program in Wine cannot write to a pipe of Linux. */
function run({ command, inner = command, folder = kit, env = {} }, name, options = []) {
  mkdirSync("build/platforms/logs", { recursive: true });
  const log = `build/platforms/logs/${name}.tap`;
  const output = openSync(log, "w");
  const [program, ...before] = command;
  const suite = ["--test-reporter=tap", join(folder, "suite.mjs"), ...options];
  const started = inner.length > 1 ? { NODE_COMMAND: JSON.stringify(inner) } : {};
  const { status } = spawnSync(program, [...before, ...suite], {
    stdio: ["ignore", output, output],
    env: { ...process.env, ...started, ...env },
  });
  return { text: readFileSync(log, "utf8"), passed: status === 0 };
}

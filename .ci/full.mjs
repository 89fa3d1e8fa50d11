/**
 * `npm run test:full`: the tests that take long or need what is not among the tools. With names, only these parts:
 * `npm run test:full -- browsers compilers`. `--list` prints all names.
 */
import { CARGO, hostTarget, runAll, VITEST } from "./steps.mjs";

/** Files of one part of `__test__/parts.mts`, after its tools are installed. */
function part(name, { tools = [], projects, env = {} }) {
  const install = tools.length === 0 ? "" : `.ci/tools.sh ${tools.join(" ")} && `;
  const chosen = projects.map((project) => `--project ${project}`).join(" ");
  const command = `${install}npx vitest run ${chosen}`;
  return { name, command, env: { TEST_PART: name, ...env }, counted: VITEST };
}

/** Tests of one project with packages that are installed for it only. */
function installed(name, folder) {
  const install = `npm ci --prefix ${folder} --ignore-scripts --no-audit --no-fund`;
  return { name, command: `${install} && npx vitest run --project ${name}`, counted: VITEST };
}

/** Files with a variable that asks for more of their tests. */
function more(name, variables, files, projects = ["package"]) {
  const chosen = projects.map((project) => `--project ${project}`).join(" ");
  return { name, command: `npx vitest run ${chosen} ${files}`, env: variables, counted: VITEST };
}

/** Run together, and every night. */
const FULL = [
  { name: "docs", command: "npm run --silent docs" },
  part("browsers", { tools: ["browsers"], projects: ["browser"] }),
  {
    name: "app",
    command:
      "npm run --silent build:js && npm run --silent build:app && npx vitest run --project browser __test__/browser/app.test.ts",
    env: { TEST_PART: "browsers" },
    counted: VITEST,
  },
  part("compilers", { tools: ["compilers"], projects: ["package"] }),
  part("documents", { projects: ["package", "install"] }),
  part("inspectors", { projects: ["package"] }),
  part("installed", { projects: ["install"] }),
  part("jvm", { tools: ["jdk"], projects: ["package"] }),
  part("signals", { projects: ["package"] }),
  part("slow", { tools: ["browsers", "compilers"], projects: ["package", "browser", "install"] }),
  installed("memlab", "__test__/memlab"),
  more("bench", { TEST_BENCH: "1" }, "__test__/bench.test.ts"),
  {
    // Every byte, where a change makes a part of the changes.
    name: "changed-bytes",
    command: `cargo test --package heap-analyzer-engine --test it ${hostTarget()} -- debug_changes header_changes`,
    env: { DEBUG_CHANGES: "1", HEADER_CHANGES: "1" },
    counted: CARGO,
  },
  more("liars", { TEST_LIARS: "2000" }, "__test__/inspector_liars.test.ts"),
];

const HOSTS = [
  "devtools/snapshots",
  "snapshot_hosts",
  "attach.test",
  "attach_moment",
  "attach_edges",
  "attach_pair",
  "capture_pair",
  "bridge_recall",
  "border_",
  "handles",
  "watch.test",
].map((name) => `__test__/${name}`);

const NATIVE = ["native", "leaky_parser", "leak_sanitizer.test.ts", "random_native.test.ts"].map(
  (name) => `__test__/${name}`,
);

/** Files of which each change tests a part (`__test__/support/nightly.ts`). */
const VARIANTS = [
  "asc_transform",
  "builds",
  "devtools/devtools",
  "growth",
  "judge",
  "own_visits",
  "programs",
  "pprof",
  "profile",
  "profile_behaviour",
  "random",
  "starts",
  "steady",
  "tasks",
];

/** Run only by name, because they install more than 100 MB or take more than ten minutes. Each is a job of every night. */
const BY_NAME = [
  {
    name: "asan",
    command: "cargo test --lib --tests --target x86_64-unknown-linux-gnu --target-dir target/asan",
    env: { RUSTC_BOOTSTRAP: "1", RUSTFLAGS: "-Zsanitizer=address" },
  },
  {
    name: "fleet",
    command:
      "npx vitest run --project fleet && npx vitest run --project package --project browser __test__/snapshot_leaks __test__/browser/snapshot_leaks __test__/parquet_recipes",
    env: { TEST_FLEET: "1" },
    counted: VITEST,
  },
  {
    name: "hosts",
    command: `npm ci --prefix __test__/node_versions --ignore-scripts --no-audit --no-fund && npx vitest run --project devtools --project package ${HOSTS.join(" ")}`,
    env: { TEST_HOSTS: "1" },
    counted: VITEST,
  },
  more("large", { TEST_LARGE: "1" }, "", ["large"]),
  {
    name: "native",
    command: `.ci/tools.sh compilers emscripten && npx vitest run --project package ${NATIVE.join(" ")}`,
    env: { TEST_NATIVE: "1" },
    counted: VITEST,
  },
  installed("asc-packages", "__test__/asc_packages"),
  installed("npm-modules", "__test__/npm_modules"),
  { name: "other-hosts", command: "__test__/hosts/run.sh" },
  {
    name: "platforms",
    command: ".ci/tools.sh emulators && node .ci/platforms/build.mjs && node .ci/platforms/run.mjs",
  },
  {
    name: "release",
    command:
      "npm ci --prefix __test__/registry --ignore-scripts --no-audit --no-fund && npx vitest run --project install",
    env: { TEST_RELEASE: "1" },
    counted: VITEST,
  },
  more(
    "variants",
    { TEST_ALL: "1" },
    VARIANTS.map((name) => `__test__/${name}.test.ts`).join(" "),
    ["package", "devtools"],
  ),
  more(
    "runners",
    { TEST_RUNNERS: process.env.TEST_RUNNERS ?? "200" },
    "__test__/runners __test__/install/host_runners",
    ["runners", "install"],
  ),
  {
    name: "vscode",
    command:
      ".ci/tools.sh browsers && npm run --silent package:vscode && node __test__/vscode/install.mjs && npx vitest run --project vscode",
    counted: VITEST,
  },
];

const names = process.argv.slice(2);
const all = [...FULL, ...BY_NAME];
const unknown = names.filter((name) => name !== "--list" && all.every((one) => one.name !== name));
if (names.includes("--list")) {
  for (const { name, command } of all) console.log(`${name.padEnd(16)}${command}`);
} else if (unknown.length > 0) {
  console.error(
    `error: unknown part ${unknown[0]}; expected ${all.map(({ name }) => name).join(", ")}`,
  );
  process.exitCode = 2;
} else {
  const chosen = names.length === 0 ? FULL : all.filter(({ name }) => names.includes(name));
  const build = { name: "addon and JavaScript", command: "npm run --silent build:quick" };
  // A test that is skipped although its part has installed what it needs fails the part.
  const named = chosen.map((one) => ({ ...one, env: { CI: "true", ...one.env } }));
  await runAll([build, ...named], { toTheEnd: true });
}

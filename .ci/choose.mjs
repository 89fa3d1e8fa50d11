/** `npm run bench` and `npm run judge`: starts the program that the first argument names, or the usual one. */
import { spawnSync } from "node:child_process";

const PROGRAMS = {
  bench: {
    usual: "build/bench/bench.js",
    aborts: "build/bench/aborts.js",
    fleet: "build/bench/fleet.js",
    native: "build/bench/native.js",
    watch: "build/bench/watch_cost.js",
  },
  judge: { usual: "build/random_judge/judge.mjs", native: "build/random_judge/native_judge.mjs" },
};

const [script, ...options] = process.argv.slice(2);
const { usual, ...named } = PROGRAMS[script];
const program = Object.hasOwn(named, options[0]) ? named[options.shift()] : usual;
const { status } = spawnSync(process.execPath, [program, ...options], { stdio: "inherit" });
process.exit(status ?? 1);

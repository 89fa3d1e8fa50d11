/** 200 dumps of the example server, of two services, three releases and four machines, and what they contain. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { applyPatch } from "diff";
import type { Branch } from "../../answers.js";
import { captureDump, exposeGlobals } from "../../dist/capture.js";
import { openHeapFile } from "../../dist/index.js";

const ROOT = resolve(import.meta.dirname, "../..");
const EXAMPLE = join(ROOT, "examples/leaky-server");

/** A line of the list that the job reads. */
export interface Listed {
  dump: string;
  wasm: string;
  capturedAt: string;
  labels: { service: string; release: string; machine: string };
}

/** What the analyzer's API says about a dump that can be read. */
export interface Known extends Listed {
  id: string;
  paths: Map<string, { path: string; size: number }>;
  classes: { name: string; count: number; shallow: number; retained: number }[];
  waste: { kind: string; count: number; savings: number }[];
  warnings: string[];
}

export interface Fleet {
  list: Listed[];
  /** One for each different dump that can be read. */
  known: Known[];
  /** By the dump: the code of its error. */
  unreadable: { dump: Listed; code: string }[];
}

/** The source of each release: 1.0 has no leak, 2.0 has that of the example, 3.0 has one more. */
function sources(): Record<string, string> {
  const leaky = readFileSync(join(EXAMPLE, "assembly/server.ts"), "utf8");
  const fixed = applyPatch(leaky, readFileSync(join(EXAMPLE, "fix.diff"), "utf8"));
  if (fixed === false) throw new Error("the fix does not fit the example");
  const twice = leaky
    .replace("let clock: i32 = 0;", "let clock: i32 = 0;\nconst audit: Request[] = [];")
    .replace("session.lastSeen = clock;", "session.lastSeen = clock;\n  audit.push(request);");
  return { "1.0": fixed, "2.0": leaky, "3.0": twice };
}

function compile(release: string, source: string, folder: string): string {
  const build = join(folder, `build-${release}`);
  mkdirSync(join(build, "assembly"), { recursive: true });
  writeFileSync(join(build, "assembly/server.ts"), source);
  const wasm = join(folder, `${release}.wasm`);
  const asc = join(ROOT, "node_modules/assemblyscript/bin/asc.js");
  const transform = join(ROOT, "dist/asc_transform.mjs");
  const flags = ["--debug", "--exportRuntime", "--transform", transform];
  execFileSync(process.execPath, [asc, "assembly/server.ts", "-o", wasm, ...flags], { cwd: build });
  return wasm;
}

async function started(wasm: Uint8Array<ArrayBuffer>) {
  const env = {
    abort() {
      throw new Error("the server aborted");
    },
  };
  const { instance } = await WebAssembly.instantiate(wasm, { env });
  return instance.exports as WebAssembly.Exports & { serve(n: number): void; __collect(): void };
}

const RUNS = [
  { service: "shop", release: "1.0", dumps: 8, day: "2026-11-01" },
  { service: "shop", release: "2.0", dumps: 8, day: "2026-11-11" },
  { service: "shop", release: "3.0", dumps: 8, day: "2026-11-21" },
  { service: "mall", release: "1.0", dumps: 12, day: "2026-11-01" },
  { service: "mall", release: "2.0", dumps: 12, day: "2026-11-15" },
];

/** Writes the dumps, and asks the API about each. */
export async function makeFleet(folder: string): Promise<Fleet> {
  mkdirSync(folder, { recursive: true });
  const modules = new Map<string, string>();
  for (const [release, source] of Object.entries(sources())) {
    modules.set(release, compile(release, source, folder));
  }
  const fleet: Fleet = { list: [], known: [], unreadable: [] };
  const add = (dump: string, bytes: Uint8Array | undefined, described: Omit<Listed, "dump">) => {
    const listed = { dump: join(folder, dump), ...described };
    if (bytes !== undefined) writeFileSync(listed.dump, bytes);
    fleet.list.push(listed);
    return listed;
  };
  const know = (listed: Listed) => fleet.known.push({ ...listed, ...facts(listed) });
  let last: { described: Omit<Listed, "dump">; bytes: Uint8Array; listed: Listed } | undefined;
  for (const { service, release, dumps, day } of RUNS) {
    const wasm = modules.get(release) as string;
    const exposed = exposeGlobals(readFileSync(wasm));
    for (const machine of [1, 2, 3, 4]) {
      const server = await started(exposed);
      // No two dumps are equal: each has another number of requests.
      server.serve(machine * 11 + (service === "shop" ? 0 : 5));
      for (let nth = 0; nth < dumps; nth++) {
        server.serve(200);
        server.__collect();
        const time = Date.parse(`${day}T0${machine}:00:00Z`) + nth * 86_400_000;
        const labels = { service, release, machine: `m${machine}` };
        const described = { wasm, capturedAt: new Date(time).toISOString(), labels };
        const bytes = captureDump(server);
        const listed = add(`${service}-${release}-m${machine}-${nth}.dump`, bytes, described);
        know(listed);
        last = { described, bytes, listed };
      }
    }
  }
  if (last === undefined) throw new Error("there is no run");

  const { described, bytes, listed } = last;
  // Two dumps that are there already, under other names and at later times.
  for (const copy of ["copy-1.dump", "copy-2.dump"]) {
    copyFileSync(listed.dump, join(folder, copy));
    add(copy, undefined, { ...described, capturedAt: "2026-12-24T00:00:00.000Z" });
  }
  const half = bytes.slice(0, 5000);
  const magic = bytes.map((byte, at) => (at < 4 ? 0 : byte));
  const version = bytes.map((byte, at) => (at === 4 ? 9 : byte));
  const spoilt: [string, Uint8Array, string][] = [
    ["half.dump", half, "ERR_DUMP_BOUNDARY"],
    ["magic.dump", magic, "ERR_DUMP_MAGIC"],
    ["version.dump", version, "ERR_DUMP_VERSION"],
  ];
  for (const [name, spoiltBytes, code] of spoilt) {
    fleet.unreadable.push({ dump: add(name, spoiltBytes, described), code });
  }
  const other = await started(exposeGlobals(readFileSync(modules.get("2.0") as string)));
  other.serve(50);
  const wrong = { ...described, wasm: modules.get("1.0") as string };
  const mismatch = add("mismatch.dump", captureDump(other), wrong);
  fleet.unreadable.push({ dump: mismatch, code: "ERR_MODULE_MISMATCH" });
  // Of a module that was not prepared: there are no values of globals.
  const unprepared = await started(new Uint8Array(readFileSync(described.wasm)));
  for (const name of ["warned-1.dump", "warned-2.dump"]) {
    unprepared.serve(60);
    know(add(name, captureDump(unprepared, { allowMissingGlobals: true }), described));
  }
  writeFileSync(
    join(folder, "list.jsonl"),
    fleet.list.map((line) => JSON.stringify(line)).join("\n"),
  );
  return fleet;
}

function facts({ dump, wasm }: Listed): Omit<Known, keyof Listed> {
  using heap = openHeapFile(dump, wasm);
  const { tree } = heap.paths({ class: "*" }, { limit: 1_000_000 });
  const paths: Known["paths"] = new Map();
  const walk = (branches: Branch[]) => {
    for (const { count, shallowSize, fingerprint, className, children } of branches) {
      const sum = (of: "count" | "shallowSize") =>
        children.reduce((all, child) => all + child[of], 0);
      if (count > sum("count")) {
        const size = shallowSize - sum("shallowSize");
        paths.set(fingerprint, {
          path: className,
          size: size + (paths.get(fingerprint)?.size ?? 0),
        });
      }
      walk(children);
    }
  };
  walk(tree);
  const { constructors } = heap.constructors();
  return {
    id: createHash("sha256").update(readFileSync(dump)).digest("hex"),
    paths,
    classes: constructors.map((row) => ({
      name: row.className,
      count: row.count,
      shallow: row.totalShallowSize,
      retained: row.retainedSetSize ?? -1,
    })),
    waste: heap
      .waste({ limit: 1 })
      .kinds.map(({ kind, count, savings }) => ({ kind, count, savings })),
    warnings: heap.warnings.map(({ code }) => code),
  };
}

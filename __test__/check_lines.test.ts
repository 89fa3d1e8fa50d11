// Where a check says that the class of what leaks is: at its constructor, if there is a source map beside the module.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log } from "sarif";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../dist/capture.js";
import { runIn } from "./support/command_line.ts";
import { runCompiler } from "./support/compile.ts";

const SOURCE = `class Page {
  title: string = "page";
}

class Visit {
  user: string;

  constructor(user: string) {
    this.user = user;
  }
}

class Bare {
  count: i32;
}

const kept: Object[] = [];

export function serve(): void {
  kept.push(new Page());
  kept.push(new Visit("user"));
  kept.push(new Bare());
}
`;

/** By class: the line of its first code. A class without fields that have values has no code. */
const LINES = { "server/Page": 2, "server/Visit": 9, "server/Bare": undefined };

let folder: string;
let dumps: string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "heap-analyzer-lines-"));
  const sources = { "server.ts": SOURCE };
  const { wasm, sourceMap } = await runCompiler(["server.ts", "--debug", "--sourceMap"], {
    sources,
  });
  writeFileSync(join(folder, "server.ts"), SOURCE);
  writeFileSync(join(folder, "out.wasm"), wasm);
  writeFileSync(join(folder, "out.wasm.map"), sourceMap as string);
  const imports = { env: { abort() {} } };
  const module = await WebAssembly.compile(exposeGlobals(wasm));
  const { exports } = await WebAssembly.instantiate(module, imports);
  dumps = Array.from({ length: 8 }, (_, nth) => `${nth}.dump`);
  for (const dump of dumps) {
    (exports.serve as () => void)();
    writeFileSync(join(folder, dump), captureDump(exports));
  }
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the check in the folder of the project; `more` are further options. */
function checked(cwd: string, ...more: string[]) {
  const files = dumps.map((dump) => join(folder, dump));
  const sarif = join(folder, "heap.sarif");
  const module = ["--wasm", join(folder, "out.wasm")];
  const args = ["check", ...files, ...module, "--report", `sarif=${sarif}`, ...more];
  const { status, stdout } = runIn(cwd, args);
  expect(status).toBe(2);
  const log = JSON.parse(readFileSync(sarif, "utf8")) as Log;
  const places = (log.runs[0]?.results ?? []).flatMap(({ locations }) =>
    (locations ?? []).map(({ physicalLocation, logicalLocations }) => ({
      name: logicalLocations?.[0]?.fullyQualifiedName,
      file: physicalLocation?.artifactLocation?.uri,
      line: physicalLocation?.region?.startLine,
    })),
  );
  return { stdout, places };
}

describe("a check of a program with a source map", () => {
  test.each(Object.entries(LINES))("has the line of %s in SARIF and text", (name, line) => {
    const { stdout, places } = checked(folder);
    const found = places.find((place) => place.name === name);
    if (line === undefined) {
      expect(found?.file).toMatch(/out\.wasm$/);
    } else {
      expect(found).toEqual({ name, file: "server.ts", line });
      expect(stdout).toContain(`class at server.ts:${line}\n`);
    }
  });

  test("names the module if the file is not where the check runs", () => {
    const { places } = checked(tmpdir());
    expect(places.length).toBeGreaterThan(2);
    for (const { file } of places) expect(file).toMatch(/out\.wasm$/);
  });

  test("names the module if the source map is not readable", () => {
    const map = join(folder, "out.wasm.map");
    const text = readFileSync(map);
    writeFileSync(map, "no JSON");
    const { places } = checked(folder);
    writeFileSync(map, text);
    for (const { file } of places) expect(file).toMatch(/out\.wasm$/);
  });
});

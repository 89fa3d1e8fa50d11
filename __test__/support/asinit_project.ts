/**
 * A project as `asinit` writes it, with the default bindings (`esm`), and a program that keeps
 * objects. It finds the package as an installed one.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const COMPILER = join(ROOT, "node_modules/assemblyscript");

/** The program of a new project: `add` keeps objects of the class {@link NODE}. */
export const PROGRAM = `
  class Node { next: Node | null = null; }
  let head: Node | null = null;
  export function add(count: i32): void {
    for (let i = 0; i < count; i++) {
      const node = new Node();
      node.next = head;
      head = node;
    }
  }
`;

/** The class whose objects `add` keeps. */
export const NODE = "assembly/index/Node";

export interface AsinitProject {
  folder: string;
  /** Runs `asc` as `npm run asbuild:debug` does, with more options. */
  build(...options: string[]): void;
  /** Runs `asc` without the project's configuration. */
  compile(...options: string[]): void;
}

/** Creates the project. Its owner removes the folder. */
export function createAsinitProject(source = PROGRAM): AsinitProject {
  const folder = mkdtempSync(join(tmpdir(), "heap-analyzer-asinit-"));
  const run = (script: string, ...args: string[]) =>
    execFileSync(process.execPath, [join(COMPILER, "bin", script), ...args], {
      cwd: folder,
      stdio: "pipe",
    });
  run("asinit.js", ".", "--yes");
  writeFileSync(join(folder, "assembly/index.ts"), source);
  mkdirSync(join(folder, "node_modules/@warpo"), { recursive: true });
  symlinkSync(ROOT, join(folder, "node_modules/@warpo/heap-analyzer"), "junction");
  symlinkSync(COMPILER, join(folder, "node_modules/assemblyscript"), "junction");
  symlinkSync(
    join(ROOT, "node_modules/@assemblyscript"),
    join(folder, "node_modules/@assemblyscript"),
    "junction",
  );
  return {
    folder,
    build: (...options) => {
      run("asc.js", "assembly/index.ts", "--target", "debug", ...options);
    },
    compile: (...options) => {
      run("asc.js", "assembly/index.ts", "--config", "none.json", ...options);
    },
  };
}

/** The programs that write heap snapshots, as far as they are installed. */
import { execFileSync } from "node:child_process";
import { closeSync, existsSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { CDPSession } from "playwright-core";
import { findChromium, startChromium } from "../browser/chromium.ts";

const PROGRAM = join(import.meta.dirname, "program.cjs");
const VERSIONS = join(import.meta.dirname, "../node_versions/node_modules");
export const NODE_26 = join(VERSIONS, "node-26/bin/node");
/** A program that is loaded before another one, after which Node 26 counts bytes outside of the heap. */
export const BYTES_OUTSIDE = join(import.meta.dirname, "bytes_outside.cjs");

export interface Host {
  title: string;
  /** Why it is left out. */
  missing?: string;
  /** Runs a program that writes a snapshot, changes, and writes another. */
  write(before: string, after: string): Promise<void> | void;
}

function node(title: string, path: string, ...options: string[]): Host {
  const missing = existsSync(path) ? {} : { missing: "npm run test:full -- hosts installs it" };
  const write = (...files: string[]) => void execFileSync(path, [...options, PROGRAM, ...files]);
  return { title, ...missing, write };
}

/** In a page: elements in the document and outside of it, sessions, closures. Each call adds some. */
const PAGE = `
  class Session { constructor(user) { this.user = user; this.log = ["login of " + user]; } }
  const app = { sessions: new Map(), detached: [], weak: new WeakMap(), refs: [] };
  window.app = app;
  window.work = (round) => {
    for (let nth = 0; nth < 100; nth++) {
      const session = new Session("user " + round + " " + nth);
      app.sessions.set(session.user, session);
      const row = document.createElement("div");
      row.id = "row-" + round + "-" + nth;
      row.append("text of row " + nth, document.createElement("input"));
      row.addEventListener("click", () => session.log.push("click"));
      if (nth % 2 === 0) document.body.append(row);
      else app.detached.push(row);
      app.weak.set(session, { row, nth });
      app.refs.push(new WeakRef(row));
    }
    app.bytes = new Uint8Array(100000 * round);
    app.text = "left ".repeat(20) + round + " right".repeat(20);
  };`;

/** Writes the snapshot of a page to a file. */
export async function writeFromPage(
  session: CDPSession,
  path: string,
  options: { captureNumericValue?: boolean } = {},
): Promise<void> {
  const file = openSync(path, "w");
  const write = ({ chunk }: { chunk: string }) => writeSync(file, chunk);
  session.on("HeapProfiler.addHeapSnapshotChunk", write);
  await session.send("HeapProfiler.takeHeapSnapshot", { reportProgress: false, ...options });
  session.off("HeapProfiler.addHeapSnapshotChunk", write);
  closeSync(file);
}

async function writeInChromium(before: string, after: string): Promise<void> {
  const browser = await startChromium();
  try {
    const page = await browser.newPage();
    await page.setContent(`<!DOCTYPE html><title>app</title><script>${PAGE}</script>`);
    const session = await page.context().newCDPSession(page);
    for (const [nth, path] of [before, after].entries()) {
      await page.evaluate(`work(${nth + 1})`);
      await writeFromPage(session, path);
    }
  } finally {
    await browser.close();
  }
}

export const HOSTS: Host[] = [
  node(`Node ${process.versions.node}`, process.execPath),
  node("Node 22", join(VERSIONS, "node-22/bin/node")),
  node("Node 24", join(VERSIONS, "node-24/bin/node")),
  node("Node 26", NODE_26),
  node("Node 26 with bytes outside of the heap", NODE_26, "--require", BYTES_OUTSIDE),
  node("Deno", join(VERSIONS, "deno/deno"), "run", "-A"),
  node("Bun", join(VERSIONS, "bun/bin/bun")),
  {
    title: "Chromium",
    ...(findChromium() === undefined ? { missing: "there is no Chromium" } : {}),
    write: writeInChromium,
  },
];

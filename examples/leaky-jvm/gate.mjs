/**
 * Runs the server, takes ten heap dumps with the same work between them, and asks whether anything grows. It ends with the
 * status of the check: 0, or 2 if something grows. `--mended` runs the mended server.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const DUMPS = 10;
const USERS = 25;
const here = import.meta.dirname;
const folder = mkdtempSync(join(tmpdir(), "leaky-jvm-"));
const analyzer = process.env.ANALYZER ?? join(here, "../../dist/heap_analyzer/cli.js");

execFileSync("javac", ["-d", folder, join(here, "Server.java")], { stdio: "inherit" });
const mended = process.argv.includes("--mended") ? ["-Dmended=true"] : [];
const server = spawn("java", ["-Xmx64m", ...mended, "-cp", folder, "Server"], {
  stdio: ["ignore", "pipe", "inherit"],
});

try {
  const line = await firstLine(server.stdout);
  const [pid, port] = line.split(" ");
  const dumps = [];
  for (let round = 0; round < DUMPS; round++) {
    for (let user = 0; user < USERS; user++) {
      for (const action of ["login", "logout"]) {
        const answer = await fetch(`http://127.0.0.1:${port}/${action}?user-${round}-${user}`);
        await answer.text();
      }
    }
    const dump = join(folder, `server-${round}.hprof`);
    // A full collection comes first: what is in the dump is alive.
    execFileSync("jcmd", [pid, "GC.heap_dump", dump], { stdio: "ignore" });
    dumps.push(dump);
  }
  const check = ["check", ...dumps, "--warmup", "2"];
  const { status } = spawnSync(process.execPath, [analyzer, ...check], { stdio: "inherit" });
  process.exitCode = status ?? 1;
} finally {
  server.kill();
  rmSync(folder, { recursive: true, force: true });
}

/** The first line of a stream. */
async function firstLine(stream) {
  for await (const line of createInterface(stream)) return line;
  throw new Error("the server ended");
}

/** Writes the demo's heaps in the formats of other tools, and says how to open each file. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

/**
 * Writes one export of each kind.
 *
 * @param folder where the demo's dumps and its module are.
 * @param here the same folder as it is shown.
 */
export function showExports(cli: string, folder: string, here: string): void {
  const write = (dumps: string[], format: string, name: string) => {
    const paths = dumps.map((dump) => join(folder, dump));
    const files = ["--wasm", join(folder, "server.wasm"), "--output", join(folder, name)];
    const args = [cli, "export", ...paths, "--to", format, ...files];
    execFileSync(process.execPath, args, { stdio: "inherit" });
  };
  write(["after.dump"], "heapsnapshot", "after.heapsnapshot");
  write(["after.dump"], "pprof", "after.pb.gz");
  write(["before.dump", "after.dump"], "heap-diff", "growth.ndjson");
  console.log(
    `\nThe same heap for other tools (docs/exports):
  ${here}/after.heapsnapshot  Chrome: F12, Memory, Load profile
  ${here}/after.pb.gz         npx speedscope, or go tool pprof -http :8080
  ${here}/growth.ndjson       what grew since before.dump, one JSON object a line`,
  );
}

/**
 * The registry verdaccio on this machine, as {@link Registry}: for the rehearsal of a release. It knows what was published to
 * it, and asks no other registry. `npm ci --prefix __test__/registry` installs it.
 */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ROOT } from "./packages.ts";
import type { Entry, Registry } from "./registry.ts";

const PROGRAM = join(ROOT, "__test__/registry/node_modules/verdaccio/bin/verdaccio");
const USER = { name: "publisher", password: "a password of this test" };

/** Starts verdaccio with an empty storage in `folder`. */
export async function serveVerdaccio(folder: string): Promise<Registry> {
  const port = await freePort();
  const storage = join(folder, "storage");
  const config = join(folder, "verdaccio.yaml");
  writeFileSync(config, configuration(storage, join(folder, "users")));
  const child = spawn(process.execPath, [PROGRAM, "--config", config, "--listen", `${port}`], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const url = `http://127.0.0.1:${port}/`;
  const token = await signUp(url, () => child.exitCode !== null);
  return {
    url,
    token,
    get published() {
      return entries(storage);
    },
    close: () => child.kill(),
  };
}

function configuration(storage: string, users: string): string {
  // JSON is YAML.
  return JSON.stringify({
    storage,
    auth: { htpasswd: { file: users } },
    uplinks: {},
    packages: { "**": { access: "$all", publish: "$authenticated" } },
    max_body_size: "200mb",
    log: { type: "stderr", format: "pretty", level: "warn" },
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

/** The token of a new user, once the registry answers. */
async function signUp(url: string, hasEnded: () => boolean): Promise<string> {
  for (let attempts = 0; ; attempts += 1) {
    try {
      const response = await fetch(`${url}-/user/org.couchdb.user:${USER.name}`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(USER),
      });
      return ((await response.json()) as { token: string }).token;
    } catch (error) {
      if (attempts > 300 || hasEnded()) throw error;
      await sleep(200);
    }
  }
}

/** What was published, in the order of publication. */
function entries(storage: string): Entry[] {
  const { list } = JSON.parse(readFileSync(join(storage, ".verdaccio-db.json"), "utf8")) as {
    list: string[];
  };
  return list.map((name) => {
    const { versions } = JSON.parse(readFileSync(join(storage, name, "package.json"), "utf8")) as {
      versions: Record<string, Record<string, unknown>>;
    };
    const [version, manifest] = Object.entries(versions).at(-1) as [string, Entry["manifest"]];
    const file = `${name.split("/").at(-1)}-${version}.tgz`;
    return { name, version, manifest, tarball: join(storage, name, file) };
  });
}

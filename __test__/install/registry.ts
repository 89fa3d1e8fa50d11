/**
 * The npm registry of a machine without a network: it knows the packages that were packed here, and
 * nothing else. Forty lines instead of verdaccio and its hundreds of packages.
 */
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { basename } from "node:path";
import type { Packed } from "./packages.ts";

export interface Registry {
  url: string;
  close(): void;
}

export async function serveRegistry(packages: Packed[]): Promise<Registry> {
  const server: Server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
    const tarball = packages.find(({ filename }) => path === `/tarballs/${basename(filename)}`);
    const named = packages.find(({ name }) => path === `/${name}`);
    if (tarball !== undefined) {
      response.end(readFileSync(tarball.filename));
    } else if (named !== undefined) {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(describe(named, `http://${request.headers.host}`)));
    } else {
      response.statusCode = 404;
      response.end("{}");
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => server.close(),
  };
}

/** A package of one version, as the registry's protocol has it. */
function describe(
  { name, version, filename, shasum, integrity, manifest }: Packed,
  origin: string,
) {
  const dist = { tarball: `${origin}/tarballs/${basename(filename)}`, shasum, integrity };
  return {
    name,
    "dist-tags": { latest: version },
    versions: { [version]: { ...manifest, dist } },
    // Package managers may distrust what is a few days old.
    time: { [version]: "2020-01-01T00:00:00.000Z" },
  };
}

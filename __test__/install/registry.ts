/**
 * An npm registry on this machine, of what was published to it and nothing else. One page instead of
 * verdaccio and its hundreds of packages.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";

export interface Registry {
  url: string;
  /** With which npm publishes. */
  token: string;
  /** In the order in which it came. */
  readonly published: Entry[];
  close(): void;
}

/** A version of a package. */
export interface Entry {
  name: string;
  version: string;
  tarball: string;
  manifest: Record<string, unknown>;
}

/** The request of `npm publish`. */
interface Publication {
  name: string;
  versions: Record<string, Record<string, unknown>>;
  _attachments: Record<string, { data: string }>;
}

/** Serves a registry that keeps its tarballs in `folder`. */
export async function serveRegistry(folder: string): Promise<Registry> {
  const published: Entry[] = [];
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
    const origin = `http://${request.headers.host}`;
    if (request.method === "PUT") {
      published.push(await keep(request, folder));
      response.statusCode = 201;
      response.end("{}");
      return;
    }
    const named = published.find(({ name }) => path === `/${name}`);
    const wanted = published.find((entry) => path === `/${tarballPath(entry)}`);
    if (wanted !== undefined) {
      response.end(readFileSync(wanted.tarball));
    } else if (named !== undefined) {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(describe(named, origin)));
    } else {
      response.statusCode = 404;
      response.end("{}");
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  return { url, token: "anybody", published, close: () => server.close() };
}

async function keep(request: IncomingMessage, folder: string): Promise<Entry> {
  const { name, versions, _attachments } = (await json(request)) as Publication;
  const [[version, manifest]] = Object.entries(versions) as [[string, Record<string, unknown>]];
  const [attachment] = Object.values(_attachments) as [{ data: string }];
  const tarball = join(folder, `${name.replace("/", "-")}-${version}.tgz`);
  writeFileSync(tarball, Buffer.from(attachment.data, "base64"));
  return { name, version, tarball, manifest };
}

function tarballPath({ name, version }: Entry): string {
  return `tarballs/${name}/${version}.tgz`;
}

/** A package of one version, as the registry's protocol has it. */
function describe(entry: Entry, origin: string) {
  const { name, version, manifest } = entry;
  const dist = { ...(manifest.dist as object), tarball: `${origin}/${tarballPath(entry)}` };
  return {
    name,
    "dist-tags": { latest: version },
    versions: { [version]: { ...manifest, dist } },
    // Package managers may refuse packages that are only a few days old.
    time: { [version]: "2020-01-01T00:00:00.000Z" },
  };
}

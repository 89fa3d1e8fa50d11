/** A real Chromium, and a server for its pages. */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const CANDIDATES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"];

/** So that it runs as root, and asks nothing of the network. */
export const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** The program, if it is installed. The environment variable `CHROMIUM` may name another one. */
export function findChromium(): string | undefined {
  return CANDIDATES.find((path) => path !== undefined && existsSync(path));
}

export function startChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium() as string, args: FLAGS });
}

const TYPES: Record<string, string> = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

/** Serves the files of a folder. */
export async function serve(folder: string): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    const path = join(folder, new URL(request.url ?? "/", "http://localhost").pathname);
    if (!existsSync(path) || !statSync(path).isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" });
    response.end(readFileSync(realpathSync(path)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

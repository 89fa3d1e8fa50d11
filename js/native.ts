/**
 * The native addon. If it cannot be loaded, the error says on which platform, why, and what to do next.
 * The loader that napi-rs generates (`loader.js`) only advises to install again.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { HeapAnalyzerError } from "./errors.js";

interface Manifest {
  name: string;
  /** One package per platform that has a prebuilt binary. A source tree has none: releases add them. */
  optionalDependencies?: Record<string, string>;
}

try {
  require("./loader.js");
} catch (error) {
  throw new HeapAnalyzerError("ERR_NO_BINARY", explain(reasons(error)), { cause: error });
}

// After the attempt, and compiled in this order: nothing can fail here.
export * from "./loader.js";

/** The failure of each attempt of the loader. It also tries WebAssembly, for which there is no build. */
function reasons(error: unknown): string[] {
  const messages: string[] = [];
  for (let cause = (error as Error).cause; cause instanceof Error; cause = cause.cause) {
    messages.unshift(cause.message.split("\n", 1)[0] as string);
  }
  return messages.filter((message) => !/wasm32-wasi|\.wasi\.cjs/.test(message));
}

function explain(messages: string[]): string {
  const { name, optionalDependencies } = require("../package.json") as Manifest;
  const prebuilt = Object.keys(optionalDependencies ?? {});
  const missing = messages.map((message) => /^Cannot find module '([^']*)'/.exec(message)?.[1]);
  const wanted = missing.find((module) => module?.startsWith(`${name}-`));
  const failure = messages.find(
    (message, i) => missing[i] === undefined && !message.startsWith("Unsupported"),
  );
  // NAPI_RS_NATIVE_LIBRARY_PATH is not mentioned: every addon made with napi-rs obeys it, not only this one.
  const fromSource =
    "To build it, clone the repository on this machine and, with Rust 1.89 or newer, run " +
    "`npm ci && npm run build` there; then run `npm install <the clone>` here.";

  if (messages.some((message) => message.includes("addons is disabled"))) {
    return `${name} is a native addon, and this process may not load addons: start Node without --no-addons`;
  }
  if (failure !== undefined) {
    return `the binary of ${name} does not load on ${platform()}: ${failure}. ${fromSource}`;
  }
  if (prebuilt.length === 0) {
    const isSourceTree = existsSync(join(__dirname, "..", "Cargo.toml"));
    return isSourceTree
      ? `the binary of ${name} for ${platform()} is not built yet: run \`npm run build\` in the source tree`
      : `this copy of ${name} has no binary: it was packed from a source tree that was not built. ${fromSource}`;
  }
  if (wanted !== undefined && prebuilt.includes(wanted)) {
    return (
      `the binary of ${name} for ${platform()} is not installed: the package ${wanted} is missing. ` +
      "Install again without --omit=optional; if node_modules or the lock file come from another " +
      `platform, remove them first. ${fromSource}`
    );
  }
  const offered = prebuilt.map((module) => module.slice(name.length + 1)).join(", ");
  return `${name} has no prebuilt binary for ${platform()}, only for ${offered}. ${fromSource}`;
}

/** For example `linux-x64 (glibc 2.36, Node v20.20.0)`. */
function platform(): string {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  const glibc = report.header?.glibcVersionRuntime;
  const libc = glibc === undefined ? "" : `glibc ${glibc}, `;
  return `${process.platform}-${process.arch} (${libc}Node ${process.version})`;
}

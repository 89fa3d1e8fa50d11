// Packs the extension for one platform: `npm run package -- linux-x64 [folder]`. Without a platform, for this machine.
// The binary is taken from dist/, or from the folder of the platform in npm/, where a release puts it.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createVSIX } from "@vscode/vsce";

const HERE = import.meta.dirname;
const ROOT = join(HERE, "../..");
const ANALYZER = join(HERE, "analyzer");

/** Targets of VS Code, and the packages of the platforms whose binaries they have. */
const TARGETS = {
  "linux-x64": "linux-x64-gnu",
  "linux-arm64": "linux-arm64-gnu",
  "alpine-x64": "linux-x64-musl",
  "alpine-arm64": "linux-arm64-musl",
  "darwin-x64": "darwin-x64",
  "darwin-arm64": "darwin-arm64",
  "win32-x64": "win32-x64-msvc",
  "win32-arm64": "win32-arm64-msvc",
};

const [target = `${process.platform}-${process.arch}`, folder = HERE] = process.argv.slice(2);
const platform = TARGETS[target];
if (platform === undefined) {
  const expected = Object.keys(TARGETS).join(", ");
  throw new Error(`there is no package for ${target}: expected one of ${expected}`);
}

const { version, dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const own = JSON.parse(readFileSync(join(HERE, "package.json"), "utf8"));
if (own.version !== version) {
  throw new Error(`the extension has version ${own.version}, and the analyzer ${version}`);
}

const name = `warpo-heap-analyzer.${platform}.node`;
const binary = [join(ROOT, "npm", platform, name), join(ROOT, "dist", name)].find(existsSync);
if (binary === undefined) throw new Error(`there is no ${name}: run npm run build`);

// The analyzer as npm would install it, as far as its command line needs it.
rmSync(ANALYZER, { recursive: true, force: true });
cpSync(join(ROOT, "dist"), join(ANALYZER, "dist"), {
  recursive: true,
  filter: (path) => !/\.(?:node|d\.ts|d\.mts|mjs)$/.test(path),
});
cpSync(binary, join(ANALYZER, "dist", name));
cpSync(join(ROOT, "package.json"), join(ANALYZER, "package.json"));
for (const dependency of Object.keys(dependencies)) {
  const path = join("node_modules", dependency);
  cpSync(join(ROOT, path), join(ANALYZER, path), { recursive: true });
}
for (const file of ["LICENSE", "LICENSE.third-party"]) cpSync(join(ROOT, file), join(HERE, file));

mkdirSync(folder, { recursive: true });
await createVSIX({
  cwd: HERE,
  target,
  packagePath: join(folder, `warpo-heap-analyzer-${version}-${target}.vsix`),
  dependencies: false,
});
console.log(
  readdirSync(folder)
    .filter((file) => file.endsWith(".vsix"))
    .join("\n"),
);

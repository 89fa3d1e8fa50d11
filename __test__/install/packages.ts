/**
 * The packages as a release makes them: the same two commands of napi-rs and the same `npm pack`, run
 * on a copy of the files that a release starts from.
 *
 * Only this platform's binary exists here. The other platforms get a text file instead, so that every
 * package can be packed, listed and offered; no test installs one of those.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, delimiter, join, resolve } from "node:path";

export const ROOT = resolve(__dirname, "../..");

/** As `npm pack --json` describes a package that it wrote. */
export interface Packed {
  name: string;
  version: string;
  /** The tarball. */
  filename: string;
  shasum: string;
  integrity: string;
  /** Bytes of the tarball, and of what it holds. */
  size: number;
  unpackedSize: number;
  files: { path: string; size: number; mode: number }[];
  /** The package's own package.json. */
  manifest: Record<string, unknown>;
}

/** Packs the root package, those of all platforms, and the one dependency, into `folder`. */
export function packAll(folder: string): Packed[] {
  const tree = join(folder, "tree");
  for (const entry of [
    "package.json",
    "README.md",
    "LICENSE",
    "LICENSE.third-party",
    "index.d.ts",
    "dist",
    "npm",
  ]) {
    const binary = (file: string) => file.endsWith(".node");
    cpSync(join(ROOT, entry), join(tree, entry), {
      recursive: true,
      filter: (source) => !binary(source) && !/npm.*LICENSE/.test(source.slice(ROOT.length)),
    });
  }
  const artifacts = join(tree, "artifacts");
  mkdirSync(artifacts);
  const platforms = readdirSync(join(tree, "npm"));
  for (const platform of platforms) {
    const file = `warpo-heap-analyzer.${platform}.node`;
    writeFileSync(join(artifacts, file), "not built on this machine\n");
  }
  for (const file of readdirSync(join(ROOT, "dist")).filter((name) => name.endsWith(".node"))) {
    cpSync(join(ROOT, "dist", file), join(artifacts, file));
  }

  npm(["run", "assemble"], tree);
  // As the release does, but for the publication itself.
  const dry = ["--tag-style", "npm", "--no-gh-release", "--skip-optional-publish"];
  const napi = join(ROOT, "node_modules/@napi-rs/cli/dist/cli.js");
  execFileSync(process.execPath, [napi, "pre-publish", ...dry], { cwd: tree, stdio: "pipe" });
  const packages = [
    tree,
    ...platforms.map((platform) => join(tree, "npm", platform)),
    join(ROOT, "node_modules/commander"),
  ];
  const output = npm(["pack", "--json", "--pack-destination", folder, ...packages], tree);
  return (JSON.parse(output) as Packed[]).map((packed, i) => ({
    ...packed,
    filename: join(folder, basename(packed.filename)),
    manifest: JSON.parse(readFileSync(join(packages[i] as string, "package.json"), "utf8")),
  }));
}

/** npm of this repository: with its tools on the PATH, unlike the npm of the machines under test. */
function npm(args: string[], cwd: string): string {
  const tools = join(ROOT, "node_modules/.bin");
  return execFileSync(process.execPath, [npmCli(), "--loglevel=error", ...args], {
    cwd,
    env: { ...process.env, PATH: `${tools}${delimiter}${process.env.PATH}` },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** The script of the npm that started the tests. */
export function npmCli(): string {
  const script = process.env.npm_execpath;
  if (script === undefined) throw new Error("start these tests with npm: npm run test:install");
  return script;
}

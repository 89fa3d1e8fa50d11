/**
 * Packs and publishes the packages as a release does: with the same commands, from a copy of the files that
 * a release starts from, to a registry on this machine.
 *
 * This platform's binary exists here, and others if `just build-all` has built them. The other platforms get a text file
 * instead, so that every package can be published and listed; no test installs one of those.
 */
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import type { Registry } from "./registry.ts";

export const ROOT = resolve(__dirname, "../..");

/** With verdaccio, and all binaries that were built: `npm run test:full -- release`. */
export const IS_REHEARSAL = process.env.TEST_RELEASE !== undefined;

/** All dependencies of the packages, direct or not, by folder. */
const DEPENDENCIES = [
  "commander",
  "@modelcontextprotocol/core",
  "@modelcontextprotocol/server",
  "vscode-jsonrpc",
  "ws",
  "zod",
  // What users install beside the package, and what that depends on.
  "assemblyscript",
  "assemblyscript/node_modules/binaryen",
  "long",
];

/** A package in the registry. */
export interface Published {
  name: string;
  version: string;
  /** The tarball. */
  tarball: string;
  /** Its files, as `npm pack --dry-run` lists them; empty for a package of others. */
  files: string[];
  /** Its package.json. */
  manifest: Record<string, unknown>;
}

/** Publishes everything to `registry`, and returns the published packages in order. */
export async function release(folder: string, registry: Registry): Promise<Published[]> {
  const tree = join(folder, "tree");
  const names = [
    "package.json",
    "README.md",
    "LICENSE",
    "LICENSE.third-party",
    "answers.d.ts",
    "codes.d.ts",
    "heap.d.ts",
    "index.d.ts",
    "options.d.ts",
  ];
  for (const name of names) cpSync(join(ROOT, name), join(tree, name));
  for (const name of ["package.json", "README.md", "dist"]) {
    const part = join("packages/mcp", name);
    cpSync(join(ROOT, part), join(tree, part), { recursive: true });
  }
  // A release does not start with the files of an earlier build or release.
  const clean = (path: string) => !/\.node$|npm.*LICENSE/.test(path.slice(ROOT.length));
  for (const name of ["dist", "npm"]) {
    cpSync(join(ROOT, name), join(tree, name), { recursive: true, filter: clean });
  }
  const artifacts = join(tree, "artifacts");
  mkdirSync(artifacts);
  const platforms = readdirSync(join(tree, "npm")).map((platform) => join("npm", platform));
  for (const platform of readdirSync(join(tree, "npm"))) {
    const file = `warpo-heap-analyzer.${platform}.node`;
    const built = builtElsewhere(file);
    if (built === undefined) writeFileSync(join(artifacts, file), "not built on this machine\n");
    else cpSync(built, join(artifacts, file));
  }
  for (const file of readdirSync(join(ROOT, "dist")).filter((name) => name.endsWith(".node"))) {
    cpSync(join(ROOT, "dist", file), join(artifacts, file));
  }

  const tools = { cwd: tree, env: environment(folder, registry) };
  const npm = async (...args: string[]) =>
    (await promisify(execFile)(process.execPath, [npmCli(), ...args], tools)).stdout;
  const napi = [join(ROOT, "node_modules/@napi-rs/cli/dist/cli.js"), "pre-publish"];

  // The steps of .github/workflows/release.yml.
  await npm("run", "assemble");
  await promisify(execFile)(
    process.execPath,
    [...napi, "--tag-style", "npm", "--no-gh-release"],
    tools,
  );
  await npm("publish");
  await npm("publish", "./packages/mcp");

  // The dependencies, as they are installed here.
  for (const name of DEPENDENCIES) {
    await npm("publish", "--ignore-scripts", "--tag", "latest", join(ROOT, "node_modules", name));
  }

  const folders = [".", "./packages/mcp", ...platforms.map((platform) => `./${platform}`)];
  const listed = JSON.parse(await npm("pack", "--dry-run", "--json", ...folders)) as {
    name: string;
    files: { path: string }[];
  }[];
  return registry.published.map((published) => {
    const files = listed.find(({ name }) => name === published.name)?.files ?? [];
    return { ...published, files: files.map(({ path }) => path).sort() };
  });
}

/** The binary of a platform that was built for a release, in a rehearsal of it. */
function builtElsewhere(file: string): string | undefined {
  const folder = join(ROOT, "artifacts");
  if (!IS_REHEARSAL || !existsSync(folder)) return undefined;
  return readdirSync(folder)
    .map((target) => join(folder, target, file))
    .find(existsSync);
}

/** The environment in which npm publishes to the registry, with the tools of this repository on the PATH. */
function environment(folder: string, { url, token }: Registry): NodeJS.ProcessEnv {
  const settings = join(folder, "npmrc");
  writeFileSync(settings, `${url.replace("http:", "")}:_authToken=${token}\n`);
  return {
    ...process.env,
    PATH: `${join(ROOT, "node_modules/.bin")}${delimiter}${process.env.PATH}`,
    npm_config_registry: url,
    npm_config_userconfig: settings,
    npm_config_cache: join(folder, "cache"),
    npm_config_loglevel: "error",
  };
}

/** The script of the npm that started the tests. */
export function npmCli(): string {
  const script = process.env.npm_execpath;
  if (script === undefined)
    throw new Error("start these tests with npm: npx vitest run --project install");
  return script;
}

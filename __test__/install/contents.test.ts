// The contents of the packages, which must be up to date.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { ROOT } from "./packages.ts";

const packages = inject("packages").filter(({ name }) => name.startsWith("@warpo/"));
const platforms = packages.slice(0, -2);
const [root, mcp] = packages.slice(-2);

test("the root package has the files that users need and no binary", () => {
  expect(root?.files).toMatchInlineSnapshot(`
    [
      "LICENSE",
      "LICENSE.third-party",
      "README.md",
      "answers.d.ts",
      "codes.d.ts",
      "dist/advice.js",
      "dist/asc_transform.d.mts",
      "dist/asc_transform.mjs",
      "dist/asc_transform/compiler.d.mts",
      "dist/asc_transform/compiler.mjs",
      "dist/asc_transform/description.mjs",
      "dist/asc_transform/expose.d.mts",
      "dist/asc_transform/expose.mjs",
      "dist/asc_transform/source_map.mjs",
      "dist/attach.d.ts",
      "dist/attach.js",
      "dist/attach/attached.d.ts",
      "dist/attach/attached.js",
      "dist/attach/capture.js",
      "dist/attach/endpoint.js",
      "dist/attach/exchange.js",
      "dist/attach/frames.js",
      "dist/attach/host_snapshot.js",
      "dist/attach/instances.js",
      "dist/attach/known_modules.js",
      "dist/attach/moment.js",
      "dist/attach/numbers.js",
      "dist/attach/output.js",
      "dist/attach/pause.js",
      "dist/attach/paused_frame.d.ts",
      "dist/attach/paused_frame.js",
      "dist/attach/process.js",
      "dist/attach/remote_code.js",
      "dist/attach/threads.js",
      "dist/attach/unfinished.js",
      "dist/beneath.js",
      "dist/browser.d.mts",
      "dist/browser.mjs",
      "dist/bytes.js",
      "dist/capture.d.ts",
      "dist/capture.js",
      "dist/capture/at_rest.d.ts",
      "dist/capture/at_rest.js",
      "dist/capture/dump_bytes.d.ts",
      "dist/capture/dump_bytes.js",
      "dist/capture/dump_file.d.ts",
      "dist/capture/dump_file.js",
      "dist/capture/dump_files.d.ts",
      "dist/capture/dump_files.js",
      "dist/capture/dump_import.d.ts",
      "dist/capture/dump_import.js",
      "dist/capture/dump_module.d.ts",
      "dist/capture/dump_module.js",
      "dist/capture/find_exports.d.ts",
      "dist/capture/find_exports.js",
      "dist/capture/folder.d.ts",
      "dist/capture/folder.js",
      "dist/capture/guest_path.d.ts",
      "dist/capture/guest_path.js",
      "dist/capture/handles_file.d.ts",
      "dist/capture/handles_file.js",
      "dist/capture/interception.d.ts",
      "dist/capture/interception.js",
      "dist/capture/memory_dump.d.ts",
      "dist/capture/memory_dump.js",
      "dist/capture/moments.d.ts",
      "dist/capture/moments.js",
      "dist/capture/own_session.d.ts",
      "dist/capture/own_session.js",
      "dist/capture/pair.d.ts",
      "dist/capture/pair.js",
      "dist/capture/pin_log.d.ts",
      "dist/capture/pin_log.js",
      "dist/capture/prepared_source.d.ts",
      "dist/capture/prepared_source.js",
      "dist/capture/quote.d.ts",
      "dist/capture/quote.js",
      "dist/capture/registry.d.ts",
      "dist/capture/registry.js",
      "dist/capture/reserved_names.d.ts",
      "dist/capture/reserved_names.js",
      "dist/capture/signal.d.ts",
      "dist/capture/signal.js",
      "dist/capture/snapshot.d.ts",
      "dist/capture/snapshot.js",
      "dist/check/annotations.js",
      "dist/check/baseline.js",
      "dist/check/findings.js",
      "dist/check/inconclusive.js",
      "dist/check/junit.js",
      "dist/check/markdown.js",
      "dist/check/rules.js",
      "dist/check/sarif.js",
      "dist/check/source_place.js",
      "dist/descriptor.js",
      "dist/errors.d.ts",
      "dist/errors.js",
      "dist/explorer/answers.js",
      "dist/explorer/dumps.js",
      "dist/explorer/files.js",
      "dist/explorer/instances.js",
      "dist/explorer/methods.js",
      "dist/explorer/modules.js",
      "dist/explorer/server.js",
      "dist/explorer/taking.js",
      "dist/explorer/without_strings.js",
      "dist/exports.js",
      "dist/generated/find_fields.js",
      "dist/generated/options.js",
      "dist/growth.js",
      "dist/heap.js",
      "dist/heap_analyzer/addon.js",
      "dist/heap_analyzer/attaching.js",
      "dist/heap_analyzer/browser.js",
      "dist/heap_analyzer/cli.js",
      "dist/heap_analyzer/commands/analyze.js",
      "dist/heap_analyzer/commands/app.js",
      "dist/heap_analyzer/commands/attach.js",
      "dist/heap_analyzer/commands/check.js",
      "dist/heap_analyzer/commands/completion.js",
      "dist/heap_analyzer/commands/diff.js",
      "dist/heap_analyzer/commands/doctor.js",
      "dist/heap_analyzer/commands/export.js",
      "dist/heap_analyzer/commands/expose.js",
      "dist/heap_analyzer/commands/growth.js",
      "dist/heap_analyzer/commands/help.js",
      "dist/heap_analyzer/commands/memories.js",
      "dist/heap_analyzer/commands/open.js",
      "dist/heap_analyzer/commands/profile.js",
      "dist/heap_analyzer/commands/question.js",
      "dist/heap_analyzer/commands/report.js",
      "dist/heap_analyzer/commands/serve.js",
      "dist/heap_analyzer/commands/sites.js",
      "dist/heap_analyzer/commands/watch.js",
      "dist/heap_analyzer/dump_files.js",
      "dist/heap_analyzer/first_look.js",
      "dist/heap_analyzer/folder_arguments.js",
      "dist/heap_analyzer/found_dumps.js",
      "dist/heap_analyzer/host_options.js",
      "dist/heap_analyzer/inputs.js",
      "dist/heap_analyzer/interruption.js",
      "dist/heap_analyzer/kept_output.js",
      "dist/heap_analyzer/main.js",
      "dist/heap_analyzer/messages.js",
      "dist/heap_analyzer/next_command.js",
      "dist/heap_analyzer/options.js",
      "dist/heap_analyzer/output.js",
      "dist/heap_analyzer/pieces.js",
      "dist/heap_analyzer/place_tables.js",
      "dist/heap_analyzer/program.js",
      "dist/heap_analyzer/progress.js",
      "dist/heap_analyzer/quantities.js",
      "dist/heap_analyzer/question_command.js",
      "dist/heap_analyzer/started_as.js",
      "dist/heap_analyzer/tables.js",
      "dist/heap_analyzer/terminal.js",
      "dist/heap_analyzer/view_command.js",
      "dist/heap_analyzer/watch_display.js",
      "dist/host_numbers.js",
      "dist/index.js",
      "dist/inspector/answer.js",
      "dist/inspector/bounded_json.js",
      "dist/inspector/calls.js",
      "dist/inspector/connection.js",
      "dist/inspector/list.js",
      "dist/inspector/protocol.js",
      "dist/inspector/shape.js",
      "dist/inspector/transport.js",
      "dist/loader.js",
      "dist/memory.js",
      "dist/memory_dump.d.mts",
      "dist/memory_dump.mjs",
      "dist/module_file.js",
      "dist/native.js",
      "dist/native_errors.js",
      "dist/numbers/closures.js",
      "dist/numbers/containers.js",
      "dist/numbers/conversation.js",
      "dist/numbers/file.js",
      "dist/numbers/read.js",
      "dist/numbers/remote_code.js",
      "dist/numbers/types.d.ts",
      "dist/numbers/types.js",
      "dist/option_facts.js",
      "dist/options.js",
      "dist/outside/ask.js",
      "dist/outside/attached.js",
      "dist/outside/decision.js",
      "dist/paths.js",
      "dist/place_table.js",
      "dist/profile.d.ts",
      "dist/profile.js",
      "dist/profile/contexts.js",
      "dist/profile/cpu_profile.js",
      "dist/profile/handler.js",
      "dist/profile/heap_profile.js",
      "dist/profile/live_samples.js",
      "dist/profile/program.d.ts",
      "dist/profile/program.js",
      "dist/profile/random.js",
      "dist/profile/run_server.js",
      "dist/profile/sampler.js",
      "dist/profile/server_thread.js",
      "dist/profile/stack.js",
      "dist/profile/table_module.js",
      "dist/questions.js",
      "dist/register.d.ts",
      "dist/register.js",
      "dist/report_data.js",
      "dist/report_file.js",
      "dist/report_page.css",
      "dist/report_page.js",
      "dist/served/addresses.js",
      "dist/served/connections.js",
      "dist/served/errors.js",
      "dist/served/file_kind.js",
      "dist/served/file_start.js",
      "dist/served/glob.js",
      "dist/served/limits.js",
      "dist/served/local_http.js",
      "dist/served/questions/classes.js",
      "dist/served/questions/found.js",
      "dist/served/questions/objects.js",
      "dist/served/questions/parameters.js",
      "dist/served/questions/places.js",
      "dist/served/received.js",
      "dist/served/secret.js",
      "dist/served/shapes.js",
      "dist/served/unpacked_size.js",
      "dist/source_lines.js",
      "dist/testing.d.ts",
      "dist/testing.js",
      "dist/testing/host_heap.js",
      "dist/testing/time_limit.js",
      "dist/text.js",
      "dist/units.js",
      "dist/version.js",
      "dist/views.js",
      "dist/watch/captures.js",
      "dist/watch/inspector_lines.js",
      "dist/watch/kept_tables.js",
      "dist/watch/program.js",
      "dist/whole_file.js",
      "dist/work.js",
      "heap.d.ts",
      "index.d.ts",
      "options.d.ts",
      "package.json",
    ]
  `);
});

test("the package for agents is a program, of the version of the analyzer", () => {
  expect(mcp?.name).toBe("@warpo/heap-analyzer-mcp");
  expect(mcp?.version).toBe(root?.version);
  expect(mcp?.files).toEqual(["LICENSE", "README.md", "dist/cli.mjs", "package.json"]);
  const dependencies = mcp?.manifest.dependencies as Record<string, string>;
  expect(dependencies["@warpo/heap-analyzer"]).toBe(root?.version);
});

test.each(platforms)("$name has its binary and the licences", ({ name, files }) => {
  const platform = name.replace("@warpo/heap-analyzer-", "");
  expect(files).toEqual([
    "LICENSE",
    "LICENSE.third-party",
    "README.md",
    "package.json",
    `warpo-heap-analyzer.${platform}.node`,
  ]);
});

test("the packages of the platforms are published before the one that depends on them", () => {
  expect(root?.name).toBe("@warpo/heap-analyzer");
  expect(platforms.map(({ name }) => name.slice("@warpo/heap-analyzer-".length)).sort()).toEqual([
    "darwin-arm64",
    "darwin-x64",
    "linux-arm64-gnu",
    "linux-arm64-musl",
    "linux-x64-gnu",
    "linux-x64-musl",
    "win32-arm64-msvc",
    "win32-x64-msvc",
  ]);
});

test("the root package depends on the binary of every platform, with exactly its own version", () => {
  const { version, optionalDependencies } = root?.manifest ?? {};
  const expected = platforms.map(({ name }) => [name, version]);
  expect(optionalDependencies).toEqual(Object.fromEntries(expected));
});

test("no package has a script that npm runs, or warns of, when it is installed", () => {
  for (const { name, manifest } of packages) {
    const scripts = Object.keys((manifest.scripts ?? {}) as Record<string, string>);
    // npm 11 warns of `prepare` in a tarball too, although it does not run it there.
    const isOfInstall = /^(pre|post)?(install|prepare)$|^prepublish$/;
    expect(
      scripts.filter((script) => isOfInstall.test(script)),
      name,
    ).toEqual([]);
  }
});

test("the folders of the platforms are as napi-rs makes them from package.json", () => {
  const fresh = mkdtempSync(join(tmpdir(), "npm-folders-"));
  try {
    const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    writeFileSync(join(fresh, "package.json"), JSON.stringify(manifest));
    mkdirSync(join(fresh, "npm"));
    const napi = join(ROOT, "node_modules/@napi-rs/cli/dist/cli.js");
    execFileSync(process.execPath, [napi, "create-npm-dirs"], { cwd: fresh, stdio: "pipe" });
    const contents = (folder: string) =>
      readdirSync(join(folder, "npm")).map((platform) =>
        ["package.json", "README.md"].map((file) =>
          readFileSync(join(folder, "npm", platform, file), "utf8"),
        ),
      );
    // To renew them: npx napi create-npm-dirs
    expect(contents(ROOT)).toEqual(contents(fresh));
  } finally {
    rmSync(fresh, { recursive: true });
  }
});

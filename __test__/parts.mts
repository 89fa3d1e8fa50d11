/**
 * The tests that `npm test` leaves out, because they take long or need what is not among the tools: compilers, browsers,
 * other hosts. Each part runs alone with `npm run test:full -- <part>`, and all run every night.
 */

/** Files of tests by the part that runs them. A file in two parts runs in both. */
export const PARTS = {
  /** A real Chromium. */
  browsers: ["__test__/browser/**/*.test.ts"],
  /** Compilers of C, C++, Rust, Go and Zig. */
  compilers: [
    "__test__/leak_sanitizer.test.ts",
    "__test__/leaky_parser.test.ts",
    "__test__/native.test.ts",
    "__test__/native_allocators.test.ts",
    "__test__/native_capture.test.ts",
    "__test__/native_crates.test.ts",
    "__test__/native_emscripten.test.ts",
    "__test__/native_judged_types.test.ts",
    "__test__/native_line_judge.test.ts",
    "__test__/native_pages.test.ts",
    "__test__/native_sites.test.ts",
    "__test__/native_stores.test.ts",
    "__test__/native_types.test.ts",
    "__test__/native_waste.test.ts",
    "__test__/profile_languages.test.ts",
    "__test__/profile_served.test.ts",
    "__test__/profile_unnamed.test.ts",
    "__test__/random_native.test.ts",
  ],
  /** Pages of the documents, command by command. */
  documents: [
    "__test__/guide.test.ts",
    "__test__/guide_hosts.test.ts",
    "__test__/heap_gate.test.ts",
    "__test__/install/first_leak.test.ts",
    "__test__/tasks.test.ts",
  ],
  /** Package managers, runners and folders beside the usual ones. */
  installed: [
    "__test__/install/layouts.test.ts",
    "__test__/install/mcp.test.ts",
    "__test__/install/process.test.ts",
    "__test__/install/runners.test.ts",
    "__test__/install/source.test.ts",
    "__test__/install/warpo.test.ts",
  ],
  /** Programs that the JDK runs. */
  jvm: ["__test__/jvm_programs.test.ts"],
  /** Programs that an inspector stops. */
  inspectors: [
    "__test__/attach*.test.ts",
    "__test__/border_*.test.ts",
    "__test__/bridge_recall.test.ts",
    "__test__/capture_pair.test.ts",
    "__test__/explorer_attach.test.ts",
    "__test__/handles.test.ts",
    "__test__/mcp/attach.test.ts",
    "__test__/outside.test.ts",
    "__test__/watch*.test.ts",
  ],
  /** Aborts and SIGINT at random moments. */
  signals: ["__test__/aborts.test.ts"],
  /** Many programs, builds or messages. */
  slow: [
    "__test__/browser/explorer_joined.test.ts",
    "__test__/host_leaks.test.ts",
    "__test__/inlined_builds.test.ts",
    "__test__/install/host_runners.test.ts",
    "__test__/leak_names.test.ts",
    "__test__/many_sentences.test.ts",
    "__test__/mcp/evaluations.test.ts",
    "__test__/mcp/floods.test.ts",
    "__test__/mcp/limits.test.ts",
    "__test__/memory.test.ts",
    "__test__/profile_languages.test.ts",
    "__test__/random.test.ts",
    "__test__/stores.test.ts",
    "__test__/unprepared.test.ts",
  ],
} satisfies Record<string, string[]>;

export type Part = keyof typeof PARTS;

// Bundles the random judge, so that Node can run it and its worker threads without a test runner.

import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

// At the same depth in the package as the sources of the tests, so that relative paths are correct.
const output = fileURLToPath(new URL("../../build/random_judge", import.meta.url));
const entry = (name: string) => fileURLToPath(new URL(`./${name}.ts`, import.meta.url));

export default defineConfig({
  logLevel: "warn",
  build: {
    ssr: true,
    target: "es2022",
    outDir: output,
    emptyOutDir: true,
    rollupOptions: {
      input: {
        judge: entry("judge"),
        worker: entry("worker"),
        native_judge: entry("../random_native/command"),
      },
      // The package as its users load it.
      makeAbsoluteExternalsRelative: false,
      external: [/^@warpo\//, /\/dist\//],
      output: { entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" },
    },
  },
});

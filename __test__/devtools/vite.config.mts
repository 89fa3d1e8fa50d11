// Bundles `load.mts` with the code of DevTools, so that the benchmark can run it in a process of its own.

import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const CODE = here(
  "../../node_modules/chrome-devtools-frontend/front_end/entrypoints/heap_snapshot_worker",
);

export default defineConfig({
  logLevel: "error",
  resolve: {
    alias: [
      { find: /^devtools:(.*)$/, replacement: `${CODE}/$1.ts` },
      { find: /^.*\/core\/i18n\/locales\.js$|^\.\/locales\.js$/, replacement: here("locales.ts") },
    ],
  },
  ssr: { noExternal: true },
  build: {
    ssr: here("load.mts"),
    target: "es2024",
    outDir: here("../../build/devtools"),
    emptyOutDir: true,
    rollupOptions: { output: { entryFileNames: "load.mjs", chunkFileNames: "[name].mjs" } },
  },
});

// Bundles dist/extension.cjs. The editor brings `vscode`; the analyzer is beside it, in a process of its own.

import { defineConfig } from "vite";

export default defineConfig({
  logLevel: "warn",
  root: import.meta.dirname,
  build: {
    lib: { entry: "src/extension.mts", formats: ["cjs"], fileName: () => "extension.cjs" },
    rollupOptions: { external: [/^node:/, "vscode"] },
    target: "node20",
    outDir: "dist",
    minify: false,
  },
});

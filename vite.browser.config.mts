// Bundles dist/browser.mjs: browsers load it as one file, without CommonJS.

import { defineConfig } from "vite";

export default defineConfig({
  logLevel: "warn",
  build: {
    lib: { entry: "js/browser.mts", formats: ["es"], fileName: () => "browser.mjs" },
    target: "es2022",
    outDir: "dist",
    emptyOutDir: false,
    minify: false,
  },
});

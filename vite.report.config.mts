// Bundles the script and the style of the page that `report` writes: dist/report_page.js and .css.

import { defineConfig } from "vite";

export default defineConfig({
  logLevel: "warn",
  build: {
    lib: {
      entry: "js/report/page.ts",
      formats: ["iife"],
      name: "report",
      fileName: () => "report_page.js",
      cssFileName: "report_page",
    },
    target: "es2023",
    outDir: "dist",
    emptyOutDir: false,
    minify: true,
  },
});

/** How the tests under `__test__` run. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["__test__/**/*.test.ts"],
    // What is tested is the package as users load it, not a copy that the test runner made of its sources.
    server: { deps: { external: [/\/dist\//] } },
    testTimeout: 60_000,
  },
});

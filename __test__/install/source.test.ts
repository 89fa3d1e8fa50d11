// The way for machines without a prebuilt binary: building it.

import { expect, test } from "vitest";
import { node } from "./machine.ts";
import { npmCli, ROOT } from "./packages.ts";

test("without Rust, `npm run build` says what is missing and what to do", () => {
  const { status, stdout } = node([npmCli(), "run", "build"], { cwd: ROOT });
  expect(status).not.toBe(0);
  expect(stdout).toContain("error: there is no cargo on the PATH");
  expect(stdout).toContain("https://rustup.rs");
  expect(stdout).toContain("npm install @warpo/heap-analyzer");
});

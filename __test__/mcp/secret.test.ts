// How the token of the server over HTTP is compared.

import * as crypto from "node:crypto";
import { expect, test, vi } from "vitest";
import { isSame } from "../../js/served/secret.ts";

vi.mock("node:crypto", async (original) => {
  const real = await original<typeof crypto>();
  return { ...real, timingSafeEqual: vi.fn(real.timingSafeEqual) };
});

test.each([
  ["the same token", "abcdef", true],
  ["another first character", "Xbcdef", false],
  ["another last character", "abcdeX", false],
  ["a shorter text", "abcde", false],
  ["a longer text", "abcdefg", false],
  ["no text", "", false],
])("%s is compared in constant time", (_, given, isExpected) => {
  const compare = vi.mocked(crypto.timingSafeEqual).mockClear();
  expect(isSame(given, "abcdef")).toBe(isExpected);
  expect(compare).toHaveBeenCalledTimes(1);
  const [left, right] = compare.mock.calls[0] as [Buffer, Buffer];
  expect([left.length, right.length]).toEqual([32, 32]);
});

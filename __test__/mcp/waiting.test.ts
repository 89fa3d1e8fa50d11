// How requests of a client are counted.

import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { Waiting } from "../../packages/mcp/src/waiting.mts";
import { MOST_WAITING } from "./wires.ts";

function full(): Waiting {
  const waiting = new Waiting();
  for (let id = 0; id < MOST_WAITING; id++) expect(waiting.enter(id)).toBe("taken");
  expect(waiting.enter("more")).toBe("too many");
  return waiting;
}

test("an answered request makes room for one", () => {
  const waiting = full();
  waiting.answered(5);
  expect(waiting.enter(5)).toBe("taken");
  expect(waiting.enter(5)).toBe("in use");
  expect(waiting.enter("more")).toBe("too many");
});

test("a cancelled request counts until its work has ended", async () => {
  const waiting = full();
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const work = waiting.during(5, () => ended);
  expect(waiting.cancelled(5, false)).toBe(true);
  expect(waiting.cancelled(5, false)).toBe(false);
  await setImmediate();
  expect(waiting.enter("more")).toBe("too many");
  expect(waiting.enter(5)).toBe("in use");
  end();
  await work;
  expect(waiting.enter("more")).toBe("taken");
});

test("a cancelled request without work counts no more; if an answer follows, until then", async () => {
  const waiting = full();
  waiting.cancelled(5, false);
  waiting.cancelled(6, true);
  await setImmediate();
  expect(waiting.enter("more")).toBe("taken");
  expect(waiting.enter("one more")).toBe("too many");
  waiting.answered(6);
  expect(waiting.enter("one more")).toBe("taken");
});

test("work that fails makes room, too", async () => {
  const waiting = full();
  waiting.cancelled(5, false);
  await expect(waiting.during(5, () => Promise.reject(new Error("failed")))).rejects.toThrow();
  await setImmediate();
  expect(waiting.enter("more")).toBe("taken");
});

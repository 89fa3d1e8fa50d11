/** What several questions have: parameters, and numbers of answers. */
import { z } from "zod";
import { ADDRESS } from "../../../js/served/addresses.ts";
import {
  LONGEST_TEXT,
  MOST_ENTRIES,
  MOST_OFFSET,
} from "../../../js/served/questions/parameters.ts";

/** Numbers of answers. Not `int()`, whose bounds would be half of the schemas. */
export const count = z.number();
export const whole = z.number().int();
/** Bytes. */
export const size = count;

export const heap = z.string().max(100).describe("a handle from open_heaps");
export const before = z
  .string()
  .max(100)
  .optional()
  .describe("the handle of an earlier dump, to compare with");
export const category = z.enum(["detached-nodes", "event-handlers", "contexts", "console"]);
export const glob = z.string().min(1).max(LONGEST_TEXT);
export const address = z
  .union([z.number().int().min(0), z.string().regex(ADDRESS)])
  .describe("a number, or addressText (0x93a0, @1234)");
export const page = {
  limit: whole.min(1).max(MOST_ENTRIES).default(20).describe("entries to list"),
  offset: whole.min(0).max(MOST_OFFSET).default(0).describe("entries to leave out first"),
};

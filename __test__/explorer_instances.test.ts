import { expect, test } from "vitest";
import type { Heap } from "../index.js";
import { InstanceLists } from "../js/explorer/instances.js";

const columns = {
  addresses: Float64Array.of(0x7f00_0000_0010, 0x7f01_0000_0000, 0x7f01_0000_0008),
  shallowSizes: Uint32Array.of(8, 8, 8),
  retainedSizes: Float64Array.of(2 ** 33 + 1, 2 ** 32 + 2, 8),
};
const heap = {
  constructorsAsync: async () => ({
    constructors: [{ className: "A", instanceColumns: columns }],
  }),
} as unknown as Heap;

async function listed(sort: "address" | "retained") {
  const wanted = { className: "A", set: "live", sort, ascending: true } as const;
  return await new InstanceLists().page(heap, undefined, wanted, 0, 9);
}

test("addresses of 64 bits are in their order", async () => {
  expect((await listed("address")).addresses).toEqual([...columns.addresses]);
});

test("sizes above 4 GiB are told apart", async () => {
  const { retainedSizes } = await listed("retained");
  expect(retainedSizes).toEqual([8, 2 ** 32 + 2, 2 ** 33 + 1]);
});

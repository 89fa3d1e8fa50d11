// Hashes; its module has no allocator.
import xxhash from "xxhash-wasm";

export default async () => {
  const { h32 } = await xxhash();
  return () => h32("a text");
};

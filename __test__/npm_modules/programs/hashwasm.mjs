import { argon2id, blake3, sha256 } from "hash-wasm";

console.log(
  await sha256("a"),
  await blake3("b"),
  await argon2id({
    password: "p",
    salt: new Uint8Array(16),
    parallelism: 1,
    iterations: 2,
    memorySize: 64,
    hashLength: 32,
    outputType: "hex",
  }),
);

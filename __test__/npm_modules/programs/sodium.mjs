import sodium from "libsodium-wrappers";

await sodium.ready;
console.log(sodium.to_hex(sodium.crypto_generichash(32, "hello")));
console.log(
  sodium.to_hex(
    sodium.crypto_secretbox_easy("m".repeat(100), new Uint8Array(24), new Uint8Array(32)),
  ),
);

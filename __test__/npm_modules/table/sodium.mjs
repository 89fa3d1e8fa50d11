// States of hashes that are never finished.
import sodium from "libsodium-wrappers";

export default async () => {
  await sodium.ready;
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(sodium.crypto_generichash_init(null, 32));
  };
};

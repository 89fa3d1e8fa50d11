globalThis.fetch = undefined;
const { default: argon2 } = await import("argon2-browser");
const { hashHex } = await argon2.hash({
  pass: "p",
  salt: "somesalt",
  time: 1,
  mem: 1024,
  hashLen: 24,
  parallelism: 1,
  type: argon2.ArgonType.Argon2d,
});
console.log(hashHex);

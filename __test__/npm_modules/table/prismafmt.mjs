// A formatter of schemas of Rust, which keeps nothing.
import { createRequire } from "node:module";

export default () => {
  const { lint } = createRequire(import.meta.url)(
    "@prisma/prisma-fmt-wasm/src/prisma_fmt_build.js",
  );
  return () => lint("model A { id Int @id }");
};

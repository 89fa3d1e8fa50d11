// A compiler of styles, which keeps a block each time.
import init, { transform } from "lightningcss-wasm";

export default async () => {
  await init();
  const code = new TextEncoder().encode("a { color: red }");
  return () => {
    for (let nth = 0; nth < 100; nth++) transform({ filename: "a.css", code, minify: true });
  };
};

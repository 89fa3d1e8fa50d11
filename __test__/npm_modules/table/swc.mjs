// A compiler of Rust, which keeps some blocks each time.
import { transformSync } from "@swc/wasm";

export default () => () => {
  for (let nth = 0; nth < 20; nth++) transformSync("let a = () => 1", { jsc: { target: "es5" } });
};

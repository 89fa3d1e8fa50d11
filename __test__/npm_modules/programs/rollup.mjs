import { rollup } from "@rollup/wasm-node";

const b = await rollup({
  input: "a",
  plugins: [
    {
      resolveId: (i) => i,
      load: (i) =>
        i === "a" ? "import {x} from 'b'; console.log(x)" : "export const x=1; export const y=2",
    },
  ],
});
console.log((await b.generate({ format: "es" })).output[0].code);

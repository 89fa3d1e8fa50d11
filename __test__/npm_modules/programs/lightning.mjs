import init, { transform } from "lightningcss-wasm";

await init();
console.log(
  new TextDecoder().decode(
    transform({
      filename: "a.css",
      code: new TextEncoder().encode(".a{color:rgb(255,0,0);margin:0px}"),
      minify: true,
    }).code,
  ),
);

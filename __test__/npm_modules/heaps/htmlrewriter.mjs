// Rewriters of Rust, which JavaScript keeps.
import { HTMLRewriter } from "html-rewriter-wasm";

const kept = Array.from({ length: 30 }, () => {
  const rewriter = new HTMLRewriter(() => {});
  rewriter.on("p", { element: (element) => element.setAttribute("a", "b") });
  return rewriter;
});
await Promise.all(
  kept.slice(0, 3).map((rewriter) => rewriter.write(new TextEncoder().encode("<p>"))),
);
console.log(JSON.stringify({ rewriters: kept.length }));

// Rewriters that are never freed.
import { HTMLRewriter } from "html-rewriter-wasm";

export default () => {
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) {
      const rewriter = new HTMLRewriter(() => {});
      rewriter.on("p", { element: (element) => element.remove() });
      kept.push(rewriter);
    }
  };
};

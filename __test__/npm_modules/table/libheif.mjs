// Contexts of images that are never freed.
import libheif from "libheif-js/wasm-bundle.js";

export default () => {
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(libheif.heif_context_alloc());
  };
};

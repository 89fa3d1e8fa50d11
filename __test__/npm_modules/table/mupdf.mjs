// Documents that are never destroyed.
import * as mupdf from "mupdf";

export default () => {
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(new mupdf.PDFDocument());
  };
};

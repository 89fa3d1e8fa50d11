import * as m from "mupdf";

const d = new m.PDFDocument();
const p = d.addPage([0, 0, 100, 100], 0, d.addObject({}), "q Q");
d.insertPage(-1, p);
console.log(d.countPages(), d.saveToBuffer("compress").asUint8Array().length > 100);

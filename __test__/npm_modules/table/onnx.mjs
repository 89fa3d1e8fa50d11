// Sessions of a network of one node that are never released.
import * as onnx from "onnxruntime-web";

const field = (nth, ...bytes) => [nth * 8 + 2, bytes.length, ...bytes];
const text = (nth, name) => field(nth, ...Buffer.from(name));
const value = (nth, name) =>
  field(nth, ...text(1, name), ...field(2, ...field(1, 8, 1, ...field(2, ...field(1, 8, 1)))));
const node = field(1, ...text(1, "x"), ...text(2, "y"), ...text(4, "Relu"));
const graph = field(7, ...node, ...text(2, "g"), ...value(11, "x"), ...value(12, "y"));

export default () => {
  onnx.env.wasm.numThreads = 1;
  globalThis.kept = [];
  const model = Uint8Array.of(8, 8, ...field(8, 16, 13), ...graph);
  return async () => {
    for (let nth = 0; nth < 20; nth++) kept.push(await onnx.InferenceSession.create(model));
  };
};

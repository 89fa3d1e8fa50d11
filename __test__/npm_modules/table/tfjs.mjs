// Tensors that are never disposed.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
import * as tf from "@tensorflow/tfjs-core";

export default async () => {
  const folder = dirname(fileURLToPath(import.meta.resolve("@tensorflow/tfjs-backend-wasm")));
  setWasmPaths(`${folder}/`);
  await tf.setBackend("wasm");
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(tf.square(tf.tensor1d([nth, 2, 3])));
  };
};

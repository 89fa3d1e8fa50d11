// TensorFlow.js keeps its tensors and kernels in static data of its module, whose first segment begins at 1025.

import { fileURLToPath } from "node:url";
import { setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
import * as tf from "@tensorflow/tfjs-core";

const folder = new URL("../node_modules/@tensorflow/tfjs-backend-wasm/dist/", import.meta.url);
setWasmPaths(fileURLToPath(folder));
await tf.setBackend("wasm");
await tf.ready();
const kept = Array.from({ length: 50 }, (_, nth) => tf.square(tf.tensor1d([nth, 2, 3])));
console.log(JSON.stringify({ tensors: kept.length }));

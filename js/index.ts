/** The public API (`../index.d.ts`) on top of the native addon. */
import type * as api from "../index.js";
import { checked, path } from "./arguments.js";
import { bytes } from "./bytes.js";
import * as native from "./native.js";
import { comparisonView, constructorView } from "./views.js";
import { controlled } from "./work.js";

/*
 * Options are read before anything else, since to read them may run code of the caller: bytes that were
 * checked before could be gone.
 */

export const analyze: typeof api.analyze = (dump, wasm, options) => {
  const request = checked(options);
  return constructorView(native.analyze(bytes("dump", dump), bytes("wasm", wasm), request));
};

export const analyzeAsync: typeof api.analyzeAsync = async (dump, wasm, options) => {
  const request = checked(options);
  return constructorView(
    await controlled(options, (control) =>
      native.analyzeAsync(bytes("dump", dump), bytes("wasm", wasm), request, control),
    ),
  );
};

export const analyzeFile: typeof api.analyzeFile = (dump, wasm, options) => {
  const request = checked(options);
  return constructorView(native.analyzeFile(path("dump", dump), path("wasm", wasm), request));
};

export const analyzeFileAsync: typeof api.analyzeFileAsync = async (dump, wasm, options) => {
  const request = checked(options);
  return constructorView(
    await controlled(options, (control) =>
      native.analyzeFileAsync(path("dump", dump), path("wasm", wasm), request, control),
    ),
  );
};

export const diff: typeof api.diff = (before, after, wasm, options) => {
  const request = checked(options);
  return comparisonView(
    native.diff(bytes("before", before), bytes("after", after), bytes("wasm", wasm), request),
  );
};

export const diffAsync: typeof api.diffAsync = async (before, after, wasm, options) => {
  const request = checked(options);
  return comparisonView(
    await controlled(options, (control) =>
      native.diffAsync(
        bytes("before", before),
        bytes("after", after),
        bytes("wasm", wasm),
        request,
        control,
      ),
    ),
  );
};

export const diffFile: typeof api.diffFile = (before, after, wasm, options) => {
  const request = checked(options);
  return comparisonView(
    native.diffFile(path("before", before), path("after", after), path("wasm", wasm), request),
  );
};

export const diffFileAsync: typeof api.diffFileAsync = async (before, after, wasm, options) => {
  const request = checked(options);
  return comparisonView(
    await controlled(options, (control) =>
      native.diffFileAsync(
        path("before", before),
        path("after", after),
        path("wasm", wasm),
        request,
        control,
      ),
    ),
  );
};

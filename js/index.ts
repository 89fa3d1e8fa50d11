/** The public API (`../index.d.ts`) on top of the native addon. */
import type * as api from "../index.js";
import { openBeneath } from "./beneath.js";
import { bytes, moduleBytes } from "./bytes.js";
import { HeapAnalyzerError } from "./errors.js";
import { check, checkAsync, growth, growthAsync } from "./growth.js";
import { Heap, openHeap, openHeapAsync, openHeapFile, openHeapFileAsync } from "./heap.js";
import * as native from "./native.js";
import { callNative } from "./native_errors.js";
import { analyzeOptions, diffOptions } from "./options.js";
import { dumpFile, moduleFile } from "./paths.js";
import { PlaceTable } from "./place_table.js";
import { comparisonView, constructorView } from "./views.js";
import { controlled } from "./work.js";

export {
  check,
  checkAsync,
  growth,
  growthAsync,
  Heap,
  HeapAnalyzerError,
  openBeneath,
  openHeap,
  openHeapAsync,
  openHeapFile,
  openHeapFileAsync,
  PlaceTable,
};

/*
 * Options are read first, because reading them may run code of the caller, and that code could detach
 * bytes that were checked before.
 */

export const analyze: typeof api.analyze = (dump, wasm, options) => {
  const request = analyzeOptions(options, "sync");
  return constructorView(
    callNative(() => native.analyze(bytes("dump", dump), moduleBytes(wasm), request)),
  );
};

export const analyzeAsync: typeof api.analyzeAsync = async (dump, wasm, options) => {
  const request = analyzeOptions(options, "async");
  return constructorView(
    await controlled(options, (control) =>
      native.analyze(bytes("dump", dump), moduleBytes(wasm), request, control),
    ),
  );
};

export const analyzeFile: typeof api.analyzeFile = (dump, wasm, options) => {
  const request = analyzeOptions(options, "sync");
  return constructorView(
    callNative(() => native.analyze(dumpFile("dump", dump, request), moduleFile(wasm), request)),
  );
};

export const analyzeFileAsync: typeof api.analyzeFileAsync = async (dump, wasm, options) => {
  const request = analyzeOptions(options, "async");
  return constructorView(
    await controlled(options, (control) =>
      native.analyze(dumpFile("dump", dump, request), moduleFile(wasm), request, control),
    ),
  );
};

export const diff: typeof api.diff = (before, after, wasm, options) => {
  const request = diffOptions(options, "sync");
  return comparisonView(
    callNative(() =>
      native.diff(bytes("before", before), bytes("after", after), moduleBytes(wasm), request),
    ),
  );
};

export const diffAsync: typeof api.diffAsync = async (before, after, wasm, options) => {
  const request = diffOptions(options, "async");
  return comparisonView(
    await controlled(options, (control) =>
      native.diff(
        bytes("before", before),
        bytes("after", after),
        moduleBytes(wasm),
        request,
        control,
      ),
    ),
  );
};

export const diffFile: typeof api.diffFile = (before, after, wasm, options) => {
  const request = diffOptions(options, "sync");
  return comparisonView(
    callNative(() =>
      native.diff(
        dumpFile("before", before, request),
        dumpFile("after", after, request),
        moduleFile(wasm),
        request,
      ),
    ),
  );
};

export const diffFileAsync: typeof api.diffFileAsync = async (before, after, wasm, options) => {
  const request = diffOptions(options, "async");
  return comparisonView(
    await controlled(options, (control) =>
      native.diff(
        dumpFile("before", before, request),
        dumpFile("after", after, request),
        moduleFile(wasm),
        request,
        control,
      ),
    ),
  );
};

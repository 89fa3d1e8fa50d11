// Exposes the bytes or the response that a program passes to `WebAssembly`.

import { registry } from "./registry.js";

/** A source of a module: exposed, and as the program passed it. */
export interface PreparedSource {
  original: unknown;
  /** Undefined if the module cannot be exposed. */
  exposed: unknown;
  /** Why the module cannot be exposed. */
  refusal: string | undefined;
}

/** A source that is passed to the original functions unchanged. */
export function unprepared(original: unknown, refusal?: string): PreparedSource {
  return { original, exposed: undefined, refusal };
}

/** Reads bytes at once: the program may change them as soon as the call has returned. */
export function prepareBytes(source: unknown): PreparedSource {
  if (registry.expose === undefined) return unprepared(source);
  try {
    return { exposed: registry.expose(source), original: copyOf(source), refusal: undefined };
  } catch (error) {
    return unprepared(source, (error as Error).message);
  }
}

/** Waits for a response. Reads its body if a streaming function of `WebAssembly` would accept it. */
export async function prepareResponse(source: unknown): Promise<PreparedSource> {
  if (registry.expose === undefined) return unprepared(source);
  const response = await source;
  if (!isModuleResponse(response)) return unprepared(response);
  const bytes = await response.arrayBuffer();
  const { exposed, refusal } = prepareBytes(bytes);
  return {
    original: withBody(response, bytes),
    exposed: exposed && withBody(response, exposed as Uint8Array),
    refusal,
  };
}

function copyOf(source: unknown): Uint8Array {
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength).slice()
    : new Uint8Array(source as ArrayBuffer).slice();
}

/** Whether a value is a response with a module. The original function refuses any other value. */
function isModuleResponse(value: unknown): value is Response {
  return (
    value instanceof Response &&
    value.ok &&
    !value.bodyUsed &&
    value.body !== null &&
    value.headers.get("content-type")?.toLowerCase() === "application/wasm"
  );
}

/** The same response with another body. Its `url`, which appears in stack traces, cannot be passed to the constructor. */
function withBody(response: Response, body: ArrayBuffer | Uint8Array): Response {
  const { status, statusText, headers, url } = response;
  const replaced = new Response(body, { status, statusText, headers });
  return Object.defineProperty(replaced, "url", Object.assign(Object.create(null), { value: url }));
}

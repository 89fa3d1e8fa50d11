/** The worker of the page: it opens files with the engine, and answers as the explorer does. */
import { Answerer } from "../explorer/answers.js";
import { Dumps } from "../explorer/dumps.js";
import { errorText } from "../served/errors.js";
import { startEngine } from "./engine.ts";
import { hold } from "./files.ts";
import type { FromWorker, OpenFile, ToWorker } from "./messages.ts";

/** The phases of an analysis. */
const PHASES = 8;

const dumps = new Dumps({ force: false, partial: false });
const answerer = new Answerer(dumps, true);
const waiting: { id: number; method: string; params: unknown }[] = [];
let isAsking = false;

function send(message: FromWorker): void {
  postMessage(message);
}

function sendStatus(): void {
  send({ kind: "status", status: dumps.status() });
}

addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === "start") {
    start(data.module, data.files).catch((error: unknown) => {
      send({ kind: "broken", message: errorText(error) });
    });
  } else if (data.kind === "ask") {
    waiting.push(data);
    void answerAll();
  } else {
    const at = waiting.findIndex(({ id }) => id === data.id);
    if (at >= 0) waiting.splice(at, 1);
  }
});

async function start(module: Uint8Array<ArrayBuffer>, files: OpenFile[]): Promise<void> {
  await startEngine(module, (phase) => send({ kind: "progress", fraction: phase / PHASES }));
  const held = (file: File) => hold({ name: file.name, blob: file });
  const modules = new Map<File, string>();
  const handles = files.map(({ file, module: wasm }) => {
    if (wasm !== undefined && !modules.has(wasm)) modules.set(wasm, held(wasm));
    const path = wasm === undefined ? undefined : modules.get(wasm);
    return dumps.add({ path: held(file), name: file.name, wasm: path });
  });
  sendStatus();
  for (const handle of handles) {
    await dumps.read(handle);
    sendStatus();
  }
}

/** One question after the other. Between two of them, those that are not wanted any more are heard of. */
async function answerAll(): Promise<void> {
  if (isAsking) return;
  isAsking = true;
  for (let asked = waiting.shift(); asked !== undefined; asked = waiting.shift()) {
    const { id, method, params } = asked;
    try {
      const result = await answerer.answer(method, params, new AbortController().signal);
      send({ kind: "answer", id, result });
    } catch (error) {
      const { code = "ERR_INTERNAL" } = error as { code?: string };
      send({ kind: "failed", id, code, message: errorText(error) });
    }
    await new Promise((resolve) => setTimeout(resolve));
  }
  isAsking = false;
}

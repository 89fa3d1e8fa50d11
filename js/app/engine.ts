/** The engine in this worker: a module of WebAssembly, its memory, and calls as JSON. `crates/web` is the other side. */

interface EngineExports {
  memory: WebAssembly.Memory;
  reserve(bytes: number): number;
  address(number: number): number;
  release(number: number): void;
  call(number: number): number;
  answer_address(): number;
  answer_size(): number;
}

/** Bytes of a file that are in the memory of JavaScript at a time. */
const SLICE = 8 << 20;

let engine: EngineExports | undefined;

/** Starts the engine. `onPhase` is told the number of each phase of work that begins. */
export async function startEngine(
  module: BufferSource,
  onPhase: (phase: number) => void,
): Promise<void> {
  const { instance } = await WebAssembly.instantiate(module, { page: { phase: onPhase } });
  engine = instance.exports as unknown as EngineExports;
}

/** Copies a file into the memory of the engine, slice by slice. */
export function copyFile(file: Blob): number {
  const number = reserved(file.size);
  const reader = new FileReaderSync();
  try {
    for (let at = 0; at < file.size; at += SLICE) {
      const slice = reader.readAsArrayBuffer(file.slice(at, at + SLICE));
      memoryAt(started().address(number) + at, slice.byteLength).set(new Uint8Array(slice));
    }
  } catch (error) {
    started().release(number);
    throw coded("ERR_IO", `cannot read the file: ${(error as Error).message}`);
  }
  return number;
}

/** Asks for something whose answer is JSON. */
export function call(request: object): string {
  return new TextDecoder().decode(answerTo(request));
}

/** Asks for numbers. */
export function callForNumbers(request: object): Float64Array {
  return new Float64Array(answerTo(request).slice().buffer);
}

/** The answer, until the next call. */
function answerTo(request: object): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(JSON.stringify(request));
  const number = reserved(text.length);
  memoryAt(started().address(number), text.length).set(text);
  let isAnswer: number;
  try {
    isAnswer = started().call(number);
  } catch (error) {
    // Its state is that of the middle of some work.
    engine = undefined;
    throw coded("ERR_INTERNAL", `the engine stopped: ${(error as Error).message}`);
  }
  const answer = memoryAt(started().answer_address(), started().answer_size());
  if (isAnswer === 1) return answer;
  const { code, message } = JSON.parse(new TextDecoder().decode(answer)) as {
    code: string;
    message: string;
  };
  throw coded(code, message);
}

function reserved(bytes: number): number {
  const number = started().reserve(bytes);
  if (number !== 0) return number;
  throw coded("ERR_OUT_OF_MEMORY", `a page has no memory for ${bytes} more bytes`);
}

/** Numbers of the module are signed; its memory has up to 4 GiB. */
function memoryAt(address: number, size: number): Uint8Array<ArrayBuffer> {
  const { buffer } = started().memory;
  return new Uint8Array(buffer as ArrayBuffer, address >>> 0, size >>> 0);
}

function started(): EngineExports {
  if (engine !== undefined) return engine;
  throw coded("ERR_INTERNAL", "the engine has stopped: open the files again");
}

function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

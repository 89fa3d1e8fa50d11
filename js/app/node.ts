/** What the files of the package take from Node, as far as a worker gets there. The bundle has it in place of `node:…`. */

const isA = (name: string) => (value: unknown) =>
  Object.prototype.toString.call(value) === `[object ${name}]`;

export const types = {
  isPromise: isA("Promise"),
  isUint8Array: isA("Uint8Array"),
  isAnyArrayBuffer: (value: unknown) => isA("ArrayBuffer")(value),
  isSharedArrayBuffer: isA("SharedArrayBuffer"),
};

/** There are no files beside those of the page. */
export const existsSync = () => false;
export const freemem = () => 0;
export const getSystemErrorMap = () => new Map();

function absent(): never {
  throw new Error("a page has no files and no processes");
}

export const createHash = absent;
export const deflateRawSync = absent;
export const fileURLToPath = absent;
export const join = absent;
export const readFileSync = absent;
export class Readable {}

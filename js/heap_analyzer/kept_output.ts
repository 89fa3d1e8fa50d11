/** What the command line writes, kept as text for a caller in the same process instead of going to stdout and stderr. */
import { AsyncLocalStorage } from "node:async_hooks";

/** What one run wrote. */
export class KeptOutput {
  readonly #stdout: Uint8Array[] = [];
  #stderr = "";

  get stdout(): string {
    return Buffer.concat(this.#stdout).toString();
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Adds to the result. Whoever made the bytes may reuse their memory. */
  addResult(bytes: Uint8Array): void {
    this.#stdout.push(Uint8Array.from(bytes));
  }

  addMessage(text: string): void {
    this.#stderr += text;
  }
}

const runs = new AsyncLocalStorage<KeptOutput>();

/** Where the run that calls this keeps its output; undefined if it writes to the streams of the process. */
export function keptOutput(): KeptOutput | undefined {
  return runs.getStore();
}

/** Does work whose output is kept. */
export async function keeping(output: KeptOutput, work: () => Promise<void>): Promise<void> {
  await runs.run(output, work);
}

// Modules that were read before of the same process. To read one, V8's debugger has to be enabled, for which V8
// compiles all WebAssembly anew, twice. So `watch` reads the module once.

import type { Thread } from "./threads.js";

/** What is known of the main thread of a Node process. The id of a script means the same as long as the process lives. */
export class KnownModules {
  #process: string | undefined;
  /** The engine's names of modules, by the ids of their scripts. */
  readonly names = new Map<string, string>();
  /** Their bytes, by the same ids. */
  readonly bytes = new Map<string, Buffer>();

  /** Forgets everything if this is another process than before. */
  beginWith(process: string): void {
    if (process !== this.#process) {
      this.names.clear();
      this.bytes.clear();
    }
    this.#process = process;
  }

  /** Whether it is about this thread. A page gives ids anew when it is loaded again, and workers come and go. */
  isOf(thread: Thread): boolean {
    return thread.kind === "node";
  }
}

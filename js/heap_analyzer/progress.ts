/** The line on a terminal that shows the progress of long work. It is removed when the work is done. */
import type { WorkControl } from "../native.js";
import { interruptibly } from "./interruption.js";
import { terminalWidth } from "./terminal.js";

/** Milliseconds after which the progress is shown. */
const DELAY = 500;
/** Milliseconds between two updates. */
const INTERVAL = 100;

const PHASES: Record<string, string> = {
  module: "reading the module",
  blocks: "walking the blocks",
  objects: "reading the objects",
  references: "following references",
  search: "searching live objects",
  dominators: "finding dominators",
  sizes: "adding up sizes",
  view: "grouping by class",
};

export class ProgressLine {
  readonly #terminal = process.stderr.isTTY ? process.stderr : undefined;
  #nextUpdate = performance.now() + DELAY;
  #isShown = false;

  /**
   * Shows the progress of running work until it is done or the process ends.
   *
   * @param task the text to show for work without a progress.
   */
  async watch<T>(control: WorkControl, work: Promise<T>, task?: string): Promise<T> {
    const counted = () => {
      const { phase, fraction, bytes } = control.progress();
      return `${PHASES[phase]}: ${percent(fraction)} of ${mebibytes(bytes)}`;
    };
    return await this.showWhile(work, () => task ?? counted());
  }

  /** Shows a text until work is done or the process is ended. */
  async showWhile<T>(work: Promise<T>, text: () => string): Promise<T> {
    const timer = setInterval(() => this.show(text), INTERVAL);
    try {
      return await interruptibly(
        () => this.clear(),
        () => work,
      );
    } finally {
      clearInterval(timer);
      this.clear();
    }
  }

  /** Shows a text, unless the last one was shown only a moment ago. */
  show(text: () => string): void {
    if (this.#terminal === undefined || performance.now() < this.#nextUpdate) return;
    this.#nextUpdate = performance.now() + INTERVAL;
    this.#isShown = true;
    const line = text().slice(0, terminalWidth(this.#terminal) - 1);
    this.#terminal.write(`\r\x1b[K${line}`);
  }

  /** Removes the line. */
  clear(): void {
    if (this.#isShown) this.#terminal?.write("\r\x1b[K");
    this.#isShown = false;
  }
}

export function percent(fraction: number): string {
  return `${Math.floor(fraction * 100)} %`;
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

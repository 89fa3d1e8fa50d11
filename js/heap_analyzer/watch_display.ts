// What `watch` prints: on a terminal a table that is replaced, elsewhere a line for each dump and each growing place once.

import type { GrowingPlace, GrowthAnswer } from "../../index.js";
import { growth, isStack } from "../check/findings.js";
import type * as native from "../native.js";
import { formatCount, formatSize } from "../units.js";
import type { Capture } from "../watch/captures.js";
import type { KeptTables } from "../watch/kept_tables.js";
import { addon } from "./addon.js";
import { oneLine, writeNote, writeWarning } from "./messages.js";
import { write, writeText } from "./output.js";
import { textOptions } from "./question_command.js";

/** From how many dumps on a place is said to grow: with fewer, chance looks the same. */
export const FEW_DUMPS = 8;

/** How growth is judged and shown. */
export interface WatchDisplayOptions {
  warmup: number;
  slow?: boolean;
  limit: number;
  /** A file that always has the last text. */
  output?: string;
}

type Tables = KeptTables<native.PlaceTableHandle>;

/** What was printed of a program so far. */
export class WatchDisplay {
  readonly #options: WatchDisplayOptions;
  readonly #isTerminal = process.stdout.isTTY === true;
  /** Fingerprints of the places that were said to grow. */
  readonly #said = new Set<string>();
  readonly #warned = new Set<string>();
  /** The rows of the terminal that the table takes. */
  #rows = 0;

  constructor(options: WatchDisplayOptions) {
    this.#options = options;
  }

  /** Whether a place grew by the rules of `growth`. */
  get hasGrown(): boolean {
    return this.#said.size > 0;
  }

  /** Prints what is known after a dump. */
  async show(number: number, capture: Capture<unknown>, kept: Tables): Promise<void> {
    this.#clear();
    for (const warning of capture.warnings) {
      if (this.#warned.has(warning)) continue;
      this.#warned.add(warning);
      writeWarning(warning);
    }
    const answer = await this.#growth(kept);
    this.#warn(answer?.warnings.filter(({ code }) => code !== "WARN_FEW_DUMPS") ?? []);
    for (const place of this.#new(answer, kept)) {
      const { count, bytes } = place.perInterval;
      const what = isStack(place)
        ? growth(place)
        : `+${formatCount(count)} objects, +${formatSize(bytes)} per interval: ${place.path ?? place.className}`;
      writeNote(`${clock()} grows: ${what} (fingerprint ${place.fingerprint})`);
    }
    const live = answer?.dumps.at(-1)?.totalLiveSize;
    const line = [
      clock(),
      `dump ${number}`,
      `memory ${formatSize(capture.memorySize)}`,
      ...(live === undefined ? [] : [`live ${formatSize(live)}`]),
      `slowed for ${Math.ceil(capture.stopped)} ms`,
      ...(capture.dump === undefined ? [] : [capture.dump]),
    ].join("  ");
    if (this.#options.output === undefined && !this.#isTerminal) {
      writeText(oneLine(line));
      return;
    }
    const text = oneLine(line) + (await this.#text(kept));
    if (this.#options.output !== undefined) await write([Buffer.from(text)], this.#options.output);
    writeText(this.#isTerminal ? text : oneLine(line));
    if (this.#isTerminal) this.#rows = rowsOf(text, process.stdout.columns || 80);
  }

  /** Prints what grew, at the end. */
  async end(kept: Tables): Promise<void> {
    this.#clear();
    this.#warn((await this.#growth(kept))?.warnings ?? []);
    writeText(await this.#text(kept));
  }

  /** Writes the first warning of each code: a later one differs in the name of its dump only. */
  #warn(warnings: GrowthAnswer["warnings"]): void {
    for (const { code, message } of warnings) {
      if (this.#warned.has(code)) continue;
      this.#warned.add(code);
      writeWarning(message, code);
    }
  }

  /** Removes the table. */
  #clear(): void {
    if (this.#rows > 0) writeText(`\x1b[${this.#rows}A\x1b[J`);
    this.#rows = 0;
  }

  #new(answer: GrowthAnswer | undefined, kept: Tables): GrowingPlace[] {
    if (answer === undefined || kept.counted < FEW_DUMPS) return [];
    const places = answer.places.filter(({ fingerprint }) => !this.#said.has(fingerprint));
    for (const { fingerprint } of places) this.#said.add(fingerprint);
    return places;
  }

  async #growth(kept: Tables): Promise<GrowthAnswer | undefined> {
    const json = await this.#ask(kept, undefined);
    return json === undefined ? undefined : (JSON.parse(json) as GrowthAnswer);
  }

  async #text(kept: Tables): Promise<string> {
    const { output } = this.#options;
    const text = await this.#ask(kept, textOptions(output));
    return text ?? "What grows is known after two dumps beyond the warm-up.\n";
  }

  async #ask(kept: Tables, text: native.TableData | undefined): Promise<string | undefined> {
    if (kept.counted < 2) return undefined;
    const { warmup, slow = false, limit } = this.#options;
    const { growth, WorkControl } = addon();
    const request = JSON.stringify({ warmup, slow, limit, offset: 0 });
    return (await growth([...kept.tables], request, text, new WorkControl())).text;
  }
}

/** How many rows of a terminal a text takes: a line that is too long takes several. */
function rowsOf(text: string, columns: number): number {
  const lines = text.split("\n").slice(0, -1);
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil([...line].length / columns)), 0);
}

/** The time of day. */
function clock(): string {
  return new Date().toTimeString().slice(0, 8);
}

// The inspector of the own thread. It answers while it is asked, so everything that is asked in one turn of the event
// loop is of one moment.

import type { Session } from "node:inspector";
import { HeapAnalyzerError } from "../errors.js";
import { at } from "../inspector/answer.js";
import type { Conversation } from "../numbers/conversation.js";
import { shown } from "../text.js";

/** A connection to the inspector of this thread. */
export class OwnSession {
  readonly #session: Session;

  /** @throws {HeapAnalyzerError} `ERR_INSPECTOR` if this process may not use the inspector. */
  constructor() {
    try {
      // Loaded here, because a Node without an inspector does not have the module.
      const inspector = require("node:inspector") as typeof import("node:inspector");
      this.#session = new inspector.Session();
      this.#session.connect();
    } catch (error) {
      throw new HeapAnalyzerError(
        "ERR_INSPECTOR",
        `cannot open the inspector of this thread: ${(error as Error).message}`,
        { cause: error },
      );
    }
  }

  /** Calls a method and returns its answer. */
  call(method: string, parameters: object = {}): unknown {
    let answer: { error: Error | null; result: unknown } | undefined;
    this.#session.post(method, parameters, (error, result) => {
      answer = { error, result };
    });
    if (answer === undefined || answer.error !== null) {
      const reason = answer === undefined ? "did not answer at once" : "refused it";
      const details = answer === undefined ? "" : `: ${shown(answer.error?.message)}`;
      throw new HeapAnalyzerError(
        "ERR_INSPECTOR",
        `the inspector of this thread ${reason}: ${method}${details}`,
        { cause: answer?.error },
      );
    }
    return answer.result;
  }

  /** Asks everything that a conversation asks. */
  hold<T>(conversation: Conversation<T>): T {
    for (let step = conversation.next(); ; ) {
      if (step.done === true) return step.value;
      step = conversation.next(
        step.value.map(({ method, parameters }) => this.call(method, parameters)),
      );
    }
  }

  /** The ids of the global objects of this thread, its own first. */
  realms(): number[] {
    const realms: number[] = [];
    this.#session.on("Runtime.executionContextCreated", ({ params: { context } }) => {
      if (at(context.auxData, "isDefault") === true) realms.unshift(context.id);
      else realms.push(context.id);
    });
    this.call("Runtime.enable");
    return realms;
  }

  /** The addresses of all scripts, by their ids. WebAssembly is slower until {@link close}. */
  scripts(): Map<string, string> {
    const scripts = new Map<string, string>();
    this.#session.on("Debugger.scriptParsed", ({ params: { scriptId, url } }) => {
      scripts.set(scriptId, url);
    });
    this.call("Debugger.enable");
    this.call("Debugger.disable");
    return scripts;
  }

  /** Forgets every object that was looked at. */
  close(): void {
    this.#session.disconnect();
  }
}

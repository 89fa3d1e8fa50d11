/** Who answers the page. The page does not know whether it is a file or the analyzer. */
import type { Method, Methods, Status } from "../explorer/methods.js";
import { type Report, unpackReport } from "./data.ts";
import type { Editor } from "./editor.ts";

/** Asks the methods of `methods.ts`. */
export interface Questions {
  /** Whether any object can be asked about. A file has only a part. */
  readonly isComplete: boolean;
  /** Null if the page is not shown by an editor. */
  readonly editor: Editor | null;
  ask<M extends Method>(
    method: M,
    request: Methods[M]["request"],
    signal?: AbortSignal,
  ): Promise<Methods[M]["answer"]>;
  /** The data of the pages. */
  report(status: Status): Promise<Report>;
}

/** What the answerer does not have. */
export class NotHere extends Error {
  /** What gives it. */
  readonly command: string;

  constructor(message: string, command: string) {
    super(message);
    this.command = command;
  }
}

/** The analyzer in another process on this machine, which served this page. */
export class ServedQuestions implements Questions {
  readonly isComplete = true;
  readonly editor = null;
  readonly #token = new URLSearchParams(location.search).get("token") ?? "";

  async ask<M extends Method>(
    method: M,
    params: Methods[M]["request"],
    signal?: AbortSignal,
  ): Promise<Methods[M]["answer"]> {
    let response: Response;
    try {
      response = await fetch("/ask", {
        method: "POST",
        headers: { Authorization: `Bearer ${this.#token}` },
        body: JSON.stringify({ method, params }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Error("The analyzer does not answer. It may have ended: start it again.");
    }
    const { result, error } = (await response.json()) as {
      result?: Methods[M]["answer"];
      error?: { message: string };
    };
    if (error !== undefined) throw new Error(error.message);
    return result as Methods[M]["answer"];
  }

  async report({ heap, before }: Status): Promise<Report> {
    return unpackReport(await this.ask("report", { heap: heap ?? "", before }));
  }
}

/** The first thing that the page with the engine inside shows: where files are dropped or chosen. */
import { AppQuestions, type Engine } from "./app_questions.ts";
import { copyButton } from "./copy.ts";
import { element, fill } from "./dom.ts";
import * as format from "./format.ts";
import { sortedOut } from "./given_files.ts";
import type { Questions } from "./questions.ts";
import { themeButton } from "./theme.ts";

/** Waits for files, and has the engine read them. What is missing is asked for. */
export function chosenQuestions(engine: Engine): Promise<Questions> {
  return new Promise((resolve) => {
    const said = element("div", { class: "said", role: "status" });
    const input = element("input", { type: "file", id: "files" });
    input.multiple = true;
    const main = chooser(input, said);
    const files: File[] = [];
    const take = async (added: Iterable<File>) => {
      for (const file of added) files.push(file);
      if (files.length === 0) return;
      const given = await sortedOut(files);
      if (given.kind === "ready") {
        stop.abort();
        main.remove();
        resolve(await AppQuestions.start(engine, given.files));
        return;
      }
      // A file that is missing comes to those that are there.
      if (given.kind === "large") files.length = 0;
      const { message } = given;
      fill(said, element("p", { class: "failure" }, message));
      if (given.kind === "large") said.append(commandOf(given.command));
    };
    const stop = new AbortController();
    const { signal } = stop;
    input.addEventListener("change", () => void take(input.files ?? []), { signal });
    addEventListener("dragover", (event) => event.preventDefault(), { signal });
    const dropped = (event: DragEvent | ClipboardEvent, data: DataTransfer | null) => {
      event.preventDefault();
      void take(data?.files ?? []);
    };
    addEventListener("drop", (event) => dropped(event, event.dataTransfer), { signal });
    addEventListener("paste", (event) => dropped(event, event.clipboardData), { signal });
    document.title = "Heap analyzer";
    fill(document.body, main);
    input.focus();
  });
}

function chooser(input: HTMLInputElement, said: HTMLElement): HTMLElement {
  return element(
    "main",
    { class: "chooser" },
    themeButton(),
    element("h1", {}, "What keeps memory alive?"),
    element(
      "div",
      { class: "drop" },
      element("label", { for: "files" }, "Drop or choose files"),
      input,
      element(
        "ul",
        { class: "muted" },
        element("li", {}, "a heap dump or a coredump of a WebAssembly program, with its .wasm"),
        element("li", {}, "a heap snapshot of Chrome or Node: .heapsnapshot"),
        element(
          "li",
          {},
          "several, in the order of their numbers or times: what grows, and what is new",
        ),
        element("li", {}, "each as it is, or compressed: .gz, .zst"),
      ),
    ),
    said,
    element(
      "p",
      { class: "muted" },
      "Nothing leaves this page: its policy forbids every connection. It works without a network, too.",
    ),
  );
}

function commandOf(command: string): HTMLElement {
  return element(
    "p",
    { class: "command" },
    "This command reads it: ",
    element("code", {}, format.printable(command)),
    " ",
    copyButton(command),
  );
}

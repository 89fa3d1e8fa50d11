/** What is shown when its answer has come. */
import { copyButton } from "./copy.ts";
import { type Child, element, fill } from "./dom.ts";
import { NotHere } from "./questions.ts";

/** An element whose contents are asked for now. */
export function later(load: () => Promise<Child[]>, waiting = "Loading…"): HTMLElement {
  const box = element("div", { aria: { busy: "true" } });
  fill(box, element("p", { class: "muted waiting" }, waiting));
  load()
    .then(
      (children) => fill(box, ...children),
      (error: unknown) => fill(box, failure(error)),
    )
    .finally(() => box.removeAttribute("aria-busy"));
  return box;
}

/** A part that is asked for when it is opened for the first time. */
export function openable(
  title: Child[],
  load: () => Promise<Child[]>,
  isOpen = false,
): HTMLElement {
  const details = element("details", { class: "part" }, element("summary", {}, ...title));
  let isAsked = false;
  const ask = () => {
    if (isAsked || !details.open) return;
    isAsked = true;
    details.append(later(load));
  };
  details.addEventListener("toggle", ask);
  details.open = isOpen;
  ask();
  return details;
}

/** Why something is not shown, and the command that shows it. */
export function failure(error: unknown): HTMLElement {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof NotHere)) return element("p", { class: "failure" }, message);
  return element("div", { class: "empty" }, element("p", {}, message), commandLine(error.command));
}

/** A command with its button. */
export function commandLine(command: string): HTMLElement {
  return element(
    "p",
    { class: "command" },
    "The explorer shows it: ",
    element("code", {}, command),
    " ",
    copyButton(command),
  );
}

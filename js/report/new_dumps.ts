/** Says when a newer dump has appeared. What is shown does not change under the reader. */
import { element, fill } from "./dom.ts";
import * as format from "./format.ts";
import type { PageContext } from "./parts.ts";

/** Milliseconds between two looks. */
const PAUSE = 1500;

export function newDumpNotice({ questions, status }: PageContext): HTMLElement {
  const notice = element("div", { class: "notice", role: "status", hidden: true });
  if (!questions.isComplete) return notice;
  let newest = status.heap;
  const look = async () => {
    if (document.hidden) return;
    const now = await questions.ask("status", {}).catch(() => undefined);
    if (now === undefined || now.heap === newest || now.heap === null) return;
    newest = now.heap;
    const name = now.dumps.find(({ heap }) => heap === newest)?.name ?? "";
    const show = () => (questions.editor ?? location).reload();
    notice.hidden = false;
    fill(
      notice,
      `A new dump: ${format.printable(name)}. `,
      element("button", { type: "button", on: { click: show } }, "Show it"),
    );
  };
  setInterval(() => void look(), PAUSE);
  return notice;
}

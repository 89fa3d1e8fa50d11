/**
 * Says when a newer dump has appeared. What is shown does not change under the reader. If dumps of a running program may
 * be taken, there is a button for it.
 */
import { element, fill } from "./dom.ts";
import * as format from "./format.ts";
import type { PageContext } from "./parts.ts";

/** Milliseconds between two looks. */
const PAUSE = 1500;

export function newDumpNotice({ questions, status }: PageContext): HTMLElement {
  const notice = element("div", { class: "notice", role: "status", hidden: true });
  if (!questions.isComplete) return notice;
  if (status.canTake) {
    notice.hidden = false;
    fill(notice, ...takeParts(questions));
  }
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

/** A button that takes a dump, and what came of it. */
function takeParts(questions: PageContext["questions"]): HTMLElement[] {
  const result = element("span", {});
  const take = async () => {
    button.disabled = true;
    fill(result, " The program stands still while its memory is copied …");
    try {
      const { warnings } = await questions.ask("take", {});
      fill(result, ` ${warnings.map(format.printable).join("; ")}`);
    } catch (error) {
      fill(result, ` No dump: ${format.printable((error as Error).message)}`);
    }
    button.disabled = false;
  };
  const click = () => void take();
  const button = element("button", { type: "button", on: { click } }, "Take a dump");
  return [button, result];
}

/** Fields as a tree: a reference opens the fields of its object. */
import type { FieldValue } from "./data.ts";
import { type Child, element } from "./dom.ts";
import * as format from "./format.ts";
import { later } from "./later.ts";
import { linked, type PageContext, referenceLabel, sourceButton } from "./parts.ts";

/** The fields of an object of a class; null for what has none. */
export function fieldTree(
  context: PageContext,
  fields: FieldValue[],
  className: string | null,
): HTMLElement {
  const lines = fields.map((field) => fieldLine(context, field, className));
  return element("ul", { class: "tree" }, ...lines);
}

function fieldLine(context: PageContext, field: FieldValue, className: string | null): HTMLElement {
  const { name, type, value, functionName } = field;
  const line = element("li");
  const isOpenable = context.questions.isComplete && field.address !== null;
  line.append(
    ...present([
      isOpenable
        ? toggle(name, line, () => inside(context, String(field.address)))
        : element("span", { class: "toggle-room" }),
      element("span", { title: format.printable(type) }, referenceLabel(name)),
      element("span", { class: "preview" }, " ", ...linked(String(value))),
      functionName !== undefined && element("span", { class: "muted" }, ` ${functionName}`),
      className !== null && sourceButton(context, { className, field: name }),
    ]),
  );
  return line;
}

function present(children: Child[]): (Node | string)[] {
  return children.filter((child): child is Node | string => Boolean(child));
}

function toggle(name: string, line: HTMLElement, load: () => Promise<Child[]>): HTMLElement {
  let opened: HTMLElement | undefined;
  const button = element("button", {
    type: "button",
    class: "toggle",
    aria: { expanded: "false", label: `Open ${format.printable(name)}` },
  });
  button.addEventListener("click", () => {
    const isOpen = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isOpen));
    if (opened === undefined) {
      opened = later(load);
      line.append(opened);
    }
    opened.hidden = isOpen;
  });
  return button;
}

async function inside(context: PageContext, address: string): Promise<Child[]> {
  const { questions, status } = context;
  const found = await questions.ask("object", { heap: status.heap ?? "", address, limit: 1 });
  if (found.fields.length > 0) return [fieldTree(context, found.fields, found.className)];
  if (found.preview === null) return [element("p", { class: "muted" }, "It has no fields.")];
  return [element("p", { class: "preview" }, ...linked(found.preview))];
}

/** A button that copies a text. */
import { element } from "./dom.ts";

/** Milliseconds for which it says what it did. */
const SHOWN = 1500;

export function copyButton(text: string, label = "Copy"): HTMLElement {
  const button = element("button", { type: "button", class: "copy" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // A file may not use the clipboard in some browsers.
      copyBySelection(text);
    }
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = label;
    }, SHOWN);
  });
  return button;
}

function copyBySelection(text: string): void {
  const area = element("textarea", { class: "visually-hidden", aria: { hidden: "true" } });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

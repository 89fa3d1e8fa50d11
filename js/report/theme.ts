/** The button that changes between the light and the dark theme. */
import { element } from "./dom.ts";

export function themeButton(): HTMLElement {
  const toggle = element("button", { type: "button", class: "theme" });
  const root = document.documentElement;
  const isDark = () =>
    root.dataset.theme === undefined
      ? matchMedia("(prefers-color-scheme: dark)").matches
      : root.dataset.theme === "dark";
  const label = () => {
    toggle.textContent = isDark() ? "Light theme" : "Dark theme";
  };
  toggle.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    label();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  label();
  return toggle;
}

/** Elements. Texts become text nodes and never markup. */

export type Child = Node | string | null | undefined | false;

export interface Properties {
  class?: string;
  id?: string;
  title?: string;
  href?: string;
  type?: string;
  for?: string;
  value?: string;
  placeholder?: string;
  scope?: string;
  role?: string;
  tabindex?: string;
  colspan?: string;
  hidden?: boolean;
  /** By name without `aria-`. */
  aria?: Record<string, string>;
  /** By name without `data-`. */
  data?: Record<string, string>;
  /** Custom properties, by name without `--`. */
  variables?: Record<string, string>;
  on?: Record<string, (event: Event) => void>;
}

/** An element with these properties and children. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  const { aria, data, variables, on, hidden, ...attributes } = properties;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  for (const [key, value] of Object.entries(aria ?? {})) made.setAttribute(`aria-${key}`, value);
  for (const [key, value] of Object.entries(data ?? {})) made.dataset[key] = value;
  for (const [key, value] of Object.entries(variables ?? {})) {
    made.style.setProperty(`--${key}`, value);
  }
  for (const [key, listener] of Object.entries(on ?? {})) made.addEventListener(key, listener);
  if (hidden === true) made.hidden = true;
  made.append(...present(children));
  return made;
}

/** Replaces the children of an element. */
export function fill(parent: Element, ...children: Child[]): void {
  parent.replaceChildren(...present(children));
}

function present(children: Child[]): (Node | string)[] {
  return children.filter(
    (child): child is Node | string => child !== null && child !== undefined && child !== false,
  );
}

/** An element of SVG. */
export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Record<string, string | number> = {},
  ...children: Child[]
): SVGElementTagNameMap[Name] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...present(children));
  return made;
}

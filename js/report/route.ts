/**
 * Where the page is: `#classes?filter=Node`, or `#path=aa1e3e8ae843`. The parameter `object` of any page opens the pane
 * of that object beside it: `#object=0x9540` does so on the overview.
 */

export interface Route {
  page: string;
  parameters: URLSearchParams;
}

/** The route of a fragment. */
export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#/, "");
  const [page = "", query = ""] = text.split(/\?(.*)/s);
  if (page.includes("=")) {
    const parameters = new URLSearchParams(page);
    return { page: parameters.has("object") ? "overview" : "dominators", parameters };
  }
  return { page: page === "" ? "overview" : page, parameters: new URLSearchParams(query) };
}

/** The fragment of a route. */
export function routeHash(page: string, parameters: Record<string, string> = {}): string {
  const query = new URLSearchParams(parameters).toString();
  return query === "" ? `#${page}` : `#${page}?${query}`;
}

/** The fragment of the object's pane, beside the overview. */
export function objectHash(address: string): string {
  return `#object=${encodeURIComponent(address)}`;
}

/** The object whose pane is open. */
export function openObject(): string | undefined {
  return parseRoute(location.hash).parameters.get("object") ?? undefined;
}

/** The current route with another object in the pane, or with none. */
export function withObject(address: string | undefined): string {
  const { page, parameters } = parseRoute(location.hash);
  parameters.delete("object");
  if (address !== undefined) parameters.set("object", address);
  return routeHash(page, Object.fromEntries(parameters));
}

/** The route of the page that is shown, without its pane. */
let shownRoute: string | undefined;

/** Notes that the page shows a route; false if it did before. */
export function showsRoute(hash: string): boolean {
  const isNew = hash !== shownRoute;
  shownRoute = hash;
  return isNew;
}

/** Called with every new fragment of the address. */
let onRoute: (hash: string) => void = () => {};

/** Calls the listener with every new fragment of the address. */
export function watchRoute(listener: (hash: string) => void): void {
  onRoute = listener;
}

/** Called when the page has to show another route. */
let onNavigate: (isBack: boolean) => void = () => {};

/** Follows links of the page, and the buttons of the browser. */
export function followRoutes(show: (isBack: boolean) => void): void {
  onNavigate = show;
  addEventListener("popstate", () => {
    onRoute(location.hash);
    show(true);
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element).closest("a");
    const hash = link?.getAttribute("href") ?? "";
    if (!hash.startsWith("#") || link?.classList.contains("skip")) return;
    event.preventDefault();
    const [, object] = /^#object=(.*)$/.exec(hash) ?? [];
    // The pane opens beside what is shown now.
    navigate(object === undefined ? hash : withObject(decodeURIComponent(object)));
  });
}

/** Goes to a route, with a new entry in the history unless it is the current one. */
export function navigate(hash: string): void {
  if (hash !== location.hash) history.pushState(steps() + 1, "", hash);
  onRoute(hash);
  onNavigate(false);
}

/** How many entries the page has made in the history before the current one. */
function steps(): number {
  return typeof history.state === "number" ? history.state : 0;
}

/** Goes back, but not to what was there before the page. */
export function goBack(): void {
  if (steps() > 0) history.back();
}

/** Shows other parameters in the address. With `isStep`, the back button returns to those before. */
export function rememberRoute(
  page: string,
  parameters: Record<string, string>,
  isStep = false,
): void {
  const object = openObject();
  shownRoute = routeHash(page, parameters);
  const hash = routeHash(page, object === undefined ? parameters : { ...parameters, object });
  if (hash === location.hash) return;
  if (isStep) history.pushState(steps() + 1, "", hash);
  else history.replaceState(history.state, "", hash);
  onRoute(hash);
}

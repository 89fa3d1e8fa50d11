/** Where in the report the address of the page points: `#classes?filter=Node`, or `#path=aa1e3e8ae843`. */

export interface Route {
  page: string;
  parameters: URLSearchParams;
}

/** The route of a fragment. */
export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#/, "");
  const [page = "", query = ""] = text.split(/\?(.*)/s);
  if (page.includes("=")) return { page: "dominators", parameters: new URLSearchParams(page) };
  return { page: page === "" ? "overview" : page, parameters: new URLSearchParams(query) };
}

/** The fragment of a route. */
export function routeHash(page: string, parameters: Record<string, string> = {}): string {
  const query = new URLSearchParams(parameters).toString();
  return query === "" ? `#${page}` : `#${page}?${query}`;
}

/** Shows other parameters in the address, without a new entry in the history. */
export function replaceRoute(page: string, parameters: Record<string, string>): void {
  history.replaceState(null, "", routeHash(page, parameters));
}

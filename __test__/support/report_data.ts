/** What the page of a report shows, as data. */
import { inflateRawSync } from "node:zlib";

/** The answer in a page that `report` wrote. */
// biome-ignore lint/suspicious/noExplicitAny: tests know which fields they compare
export function dataOfReport(page: string): Record<string, any> {
  const base64 = page.match(/<script type="application\/octet-stream" id="data">([^<]*)</)?.[1];
  return JSON.parse(inflateRawSync(Buffer.from(base64 as string, "base64")).toString());
}

// The licences of others, as far as cargo knows them: it needs Rust, unlike all else in this folder.

import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./packages.ts";
import { thirdPartyLicences } from "./third_party.ts";

test("LICENSE.third-party names every crate in the addon", async () => {
  await expect(thirdPartyLicences()).toMatchFileSnapshot(join(ROOT, "LICENSE.third-party"));
});

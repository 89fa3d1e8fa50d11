// Objects of QuickJS that a script keeps.
import { getQuickJS } from "quickjs-emscripten";

export default async () => {
  const context = (await getQuickJS()).newContext();
  const code = "globalThis.kept ??= []; for (let i = 0; i < 100; i++) kept.push({ i })";
  return () => context.unwrapResult(context.evalCode(code)).dispose();
};

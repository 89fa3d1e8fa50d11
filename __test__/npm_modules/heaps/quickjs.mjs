// QuickJS counts the blocks and the bytes that its runtime has allocated.
import { getQuickJS } from "quickjs-emscripten";

const quickjs = await getQuickJS();
const vm = quickjs.newContext();
vm.unwrapResult(
  vm.evalCode("globalThis.kept = []; for (let i = 0; i < 5000; i++) kept.push({ i, s: 'k' + i })"),
).dispose();
const handle = vm.runtime.computeMemoryUsage();
const { malloc_count: count, memory_used_count, malloc_size: bytes } = vm.dump(handle);
console.log(JSON.stringify({ count, memory_used_count, bytes }));
handle.dispose();

import { getQuickJS } from "quickjs-emscripten";

const q = await getQuickJS();
const vm = q.newContext();
const r = vm.evalCode(
  "let a=[];for(let i=0;i<1000;i++)a.push({i,s:'k'+i});JSON.stringify(a).length",
);
console.log(vm.dump(vm.unwrapResult(r)));

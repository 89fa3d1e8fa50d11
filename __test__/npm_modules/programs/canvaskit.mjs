import { createHash } from "node:crypto";
import init from "canvaskit-wasm";

const C = await init();
const s = C.MakeSurface(100, 100);
const c = s.getCanvas();
const p = new C.Paint();
p.setColor(C.Color(255, 0, 0, 1));
c.drawCircle(50, 50, 30, p);
s.flush();
console.log(createHash("sha256").update(s.makeImageSnapshot().encodeToBytes()).digest("hex"));

import { IfcAPI } from "web-ifc";

const a = new IfcAPI();
await a.Init();
const m = a.CreateModel({ schema: "IFC4" });
console.log(m, a.SaveModel(m).length > 10);

// Modules of binaryen, which JavaScript keeps.
import binaryen from "binaryen";

const kept = Array.from({ length: 20 }, () => new binaryen.Module());
console.log(JSON.stringify({ modules: kept.length }));

// Modules that are never disposed.
import binaryen from "binaryen";

export default () => {
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(new binaryen.Module());
  };
};

// Encoders that are never freed.
import { Tiktoken } from "@dqbd/tiktoken";

export default () => {
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(new Tiktoken("IQ== 0\nIg== 1\nIw== 2", {}, "."));
  };
};

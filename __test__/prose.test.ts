// The style of the documents that people read: short sentences, no chains of "of", and the words of the field.

import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { marked, type Token, type Tokens } from "marked";
import { expect, test } from "vitest";
import words from "./prose/words.json" with { type: "json" };

const ROOT = resolve(__dirname, "..");
/** Made by a program from other sources. */
const GENERATED = ["commands.md", "errors.md", "json-rpc.md"];
const PAGES = [
  "README.md",
  ...readdirSync(join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md") && !GENERATED.includes(name))
    .map((name) => `docs/${name}`),
];
const MOST_WORDS = 32;
const CHAIN = /\bof (?:the |an? |its |this |each |all |that )?[\w-]+ of\b/;

/** The texts of a document that are sentences: paragraphs, entries of lists, cells of tables. */
function* texts(tokens: readonly Token[]): Generator<readonly Token[]> {
  for (const token of tokens) {
    if (token.type === "list") {
      for (const item of (token as Tokens.List).items) yield* texts(item.tokens);
    } else if (token.type === "table") {
      for (const row of (token as Tokens.Table).rows) for (const cell of row) yield cell.tokens;
    } else if (token.type === "blockquote") yield* texts((token as Tokens.Blockquote).tokens);
    else if (token.type !== "code" && "tokens" in token) yield token.tokens as Token[];
  }
}

/** A text without marks; code is one word. */
function plain(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === "codespan") return "code";
      return "tokens" in token
        ? plain(token.tokens as Token[])
        : ((token as Tokens.Text).text ?? "");
    })
    .join("")
    .replace(/\s+/g, " ");
}

/** What is against the style, with the sentence. */
function faults(markdown: string): string[] {
  const found: string[] = [];
  for (const text of texts(marked.lexer(markdown))) {
    for (const sentence of plain(text).split(/(?<=[.!?:;])\s+/)) {
      const length = sentence.split(" ").length;
      if (length > MOST_WORDS) found.push(`${length} words: ${sentence}`);
      const [chain] = CHAIN.exec(sentence) ?? [];
      if (chain !== undefined) found.push(`"${chain}": ${sentence}`);
      for (const [word, instead] of Object.entries(words)) {
        if (new RegExp(`\\b${word}\\b`, "i").test(sentence)) {
          found.push(`"${word}", write ${instead}: ${sentence}`);
        }
      }
    }
  }
  return found;
}

test.each(PAGES)("%s keeps to the style", (page) => {
  expect(faults(readFileSync(join(ROOT, page), "utf8"))).toEqual([]);
});

test.each([
  ["a sentence that is too long", `${"word ".repeat(MOST_WORDS)}end.`],
  ["a chain", "This is the name of the class of an object."],
  ["a word that is not the field's", "Take a heap snapshot of V8."],
])("%s is noticed", (_, text) => {
  expect(faults(text)).not.toEqual([]);
});

test("code, and several short sentences, are no faults", () => {
  expect(
    faults("Run `a of b of c`. It ends.\n\n```sh\nthe name of the class of an object\n```\n"),
  ).toEqual([]);
});

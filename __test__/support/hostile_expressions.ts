/** Expressions that are no conditions, too long or too deep: each is an error, and soon. */
export const HOSTILE_EXPRESSIONS: string[] = [
  "(".repeat(4000),
  "!".repeat(4000),
  "-".repeat(4000),
  "[".repeat(4000),
  "{".repeat(4000),
  "a?".repeat(2000),
  `${"key+".repeat(1000)}1 > 0`,
  `this${".next".repeat(800)} == null`,
  `key in [${"1,".repeat(40_000)}1]`,
  "key == 1 || ".repeat(8_000),
  '"'.repeat(4001),
  "'\\u",
  "key > 1 / 0",
  "9223372036854775807 + key > 9223372036854775807 * 9223372036854775807 * 2",
  "sessions.all(s, sessions.all(t, sessions.all(u, s == t)))",
  "key.matches('(a*)*b')",
  "\u{1f600} == 1",
];

/** The longest that one may take, on a busy machine too. */
export const MOST_MILLISECONDS = 10_000;

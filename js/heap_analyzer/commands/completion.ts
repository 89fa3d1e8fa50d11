/** `completion`: a script with which a shell completes commands, options and their values. */
import { Argument, type Command, type Option } from "commander";
import { writeText } from "../output.js";

const PROGRAM = "warpo-heap-analyzer";
const FUNCTION = "_warpo_heap_analyzer";

/** Scripts by shell. */
const SHELLS: Record<string, (program: Command) => string> = { bash, zsh, fish };

export function addCommand(program: Command): void {
  program
    .command("completion")
    .description("a script with which bash, zsh or fish completes commands and options")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SHELLS)))
    .action((shell: string) => {
      // This one was made for one command alone.
      const { createProgram } = require("../program.js") as typeof import("../program.js");
      writeText(SHELLS[shell]?.(createProgram(undefined)) ?? "");
    });
}

function bash(program: Command): string {
  const values = withChoices(program).map(
    ([command, option]) =>
      `    ${flags(option)
        .map((flag) => `"${command.name()} ${flag}"`)
        .join("|")}) choices="${option.argChoices?.join(" ")}" ;;\n`,
  );
  const options = program.commands.map(
    (command) => `    ${command.name()}) choices="${shown(command).flatMap(flags).join(" ")}" ;;\n`,
  );
  return `${FUNCTION}() {
  local word="\${COMP_WORDS[COMP_CWORD]}" command="\${COMP_WORDS[1]}" choices=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names(program)}" -- "$word"))
    return
  fi
  case "$command \${COMP_WORDS[COMP_CWORD-1]}" in
${values.join("")}  esac
  if [ -z "$choices" ] && [ "\${word#-}" != "$word" ]; then
    case "$command" in
${options.map((line) => `  ${line}`).join("")}    esac
  fi
  if [ -n "$choices" ]; then
    COMPREPLY=($(compgen -W "$choices" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F ${FUNCTION} ${PROGRAM}
`;
}

function zsh(program: Command): string {
  const commands = program.commands.map(
    (command) => `    ${quoted(`${command.name()}:${command.description()}`)}\n`,
  );
  const options = program.commands.map((command) => {
    const specs = shown(command).flatMap((option) =>
      flags(option).map((flag) =>
        quoted(`${flag}[${zshText(option.description)}]${zshValue(option)}`),
      ),
    );
    return `    ${command.name()}) _arguments ${[...specs, quoted("*:file:_files")].join(" ")} ;;\n`;
  });
  return `#compdef ${PROGRAM}
${FUNCTION}() {
  local -a commands=(
${commands.join("")}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local name=$words[2]
  shift words
  (( CURRENT-- ))
  case $name in
${options.join("")}  esac
}
compdef ${FUNCTION} ${PROGRAM}
`;
}

/** The value of an option: one of its choices, or a file. */
function zshValue(option: Option): string {
  if (!option.required && !option.optional) return "";
  return option.argChoices === undefined
    ? ":value:_files"
    : `:value:(${option.argChoices.join(" ")})`;
}

/** A description, in which brackets and colons have no meaning. */
function zshText(text: string): string {
  return text.replace(/[[\]:\\]/g, "\\$&");
}

function fish(program: Command): string {
  const isFirst = "-n __fish_use_subcommand";
  const commands = program.commands.map(
    (command) =>
      `complete -c ${PROGRAM} ${isFirst} -f -a ${command.name()} -d ${quoted(command.description())}\n`,
  );
  const options = program.commands.flatMap((command) =>
    shown(command).map((option) => {
      const condition = `-n ${quoted(`__fish_seen_subcommand_from ${command.name()}`)}`;
      const short = option.short === undefined ? "" : ` -s ${option.short.slice(1)}`;
      const value =
        option.argChoices !== undefined
          ? ` -x -a ${quoted(option.argChoices.join(" "))}`
          : option.required
            ? " -r"
            : "";
      return `complete -c ${PROGRAM} ${condition}${short} -l ${option.long?.slice(2)}${value} -d ${quoted(option.description)}\n`;
    }),
  );
  return [...commands, ...options].join("");
}

function names(program: Command): string {
  return program.commands.map((command) => command.name()).join(" ");
}

function shown(command: Command): Option[] {
  return command.options.filter(({ hidden }) => !hidden);
}

function flags({ short, long }: Option): string[] {
  return [short, long].filter((flag) => flag !== undefined);
}

/** The options whose values are among a few. */
function withChoices(program: Command): [Command, Option][] {
  return program.commands.flatMap((command) =>
    shown(command)
      .filter(({ argChoices }) => argChoices !== undefined)
      .map((option): [Command, Option] => [command, option]),
  );
}

/** A text for a shell, in which nothing has a meaning. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** `help [command]`. It replaces Commander's, which prints the whole help for an unknown name. */
import type { Command } from "commander";

export function addCommand(program: Command): void {
  program
    .helpCommand(false)
    .command("help")
    .argument("[command]")
    .description("display help for command")
    .helpOption(false)
    .action((name?: string) => {
      const isNamed = (command: Command) => name === undefined || command.name() === name;
      const command = [program, ...program.commands].find(isNamed);
      if (command === undefined) throw new Error(`unknown command '${name}'`);
      command.help();
    });
}

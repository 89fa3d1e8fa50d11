/** All commands of the command line, one file each in `commands/`. To import this runs nothing. */
import { Command } from "commander";
import { addAnalyzeCommand } from "./commands/analyze.js";
import { addAttachCommand } from "./commands/attach.js";
import { addCheckCommand } from "./commands/check.js";
import { addDiffCommand } from "./commands/diff.js";
import { addDominatorsCommand } from "./commands/dominators.js";
import { addExportCommand } from "./commands/export.js";
import { addExposeCommand } from "./commands/expose.js";
import { addFindCommand } from "./commands/find.js";
import { addGrowthCommand } from "./commands/growth.js";
import { addHelpCommand } from "./commands/help.js";
import { addObjectCommand } from "./commands/object.js";
import { addOpenCommand } from "./commands/open.js";
import { addPathsCommand } from "./commands/paths.js";
import { addProfileCommand } from "./commands/profile.js";
import { addReferrersCommand } from "./commands/referrers.js";
import { addReportCommand } from "./commands/report.js";
import { addServeCommand } from "./commands/serve.js";
import { addSitesCommand } from "./commands/sites.js";
import { addSummaryCommand } from "./commands/summary.js";
import { addSuspectsCommand } from "./commands/suspects.js";
import { addUnreachableCommand } from "./commands/unreachable.js";
import { addWasteCommand } from "./commands/waste.js";
import { addWatchCommand } from "./commands/watch.js";
import { oneLine } from "./messages.js";
import { writeText } from "./output.js";

const { version } = require("../../package.json") as { version: string };

/** The program, ready to parse arguments. */
export function createProgram(): Command {
  const program = new Command("warpo-heap-analyzer")
    .description("Heap snapshots for AssemblyScript and WARPO programs.")
    .version(version, "-v, --version")
    // Without the arguments, which would leave no room for the descriptions.
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput({
      writeOut: writeText,
      // Commander puts a suggestion on a line of its own.
      outputError: (text, write) => write(oneLine(text.trim().replace("\n(", " ("))),
    });
  addAnalyzeCommand(program);
  addDiffCommand(program);
  addExposeCommand(program);
  addAttachCommand(program);
  addWatchCommand(program);
  addSummaryCommand(program);
  addSuspectsCommand(program);
  addPathsCommand(program);
  addFindCommand(program);
  addObjectCommand(program);
  addReferrersCommand(program);
  addDominatorsCommand(program);
  addWasteCommand(program);
  addUnreachableCommand(program);
  addGrowthCommand(program);
  addCheckCommand(program);
  addReportCommand(program);
  addOpenCommand(program);
  addExportCommand(program);
  addProfileCommand(program);
  addSitesCommand(program);
  addServeCommand(program);
  addHelpCommand(program);
  return program;
}

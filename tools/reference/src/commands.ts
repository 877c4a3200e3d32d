import type { Command } from 'commander';
import { cliProgram } from '../../../packages/client/src/cli/run-cli.ts';
import { adminProgram } from '../../../services/admin/src/run-admin.ts';
import { codeList, table } from './table.ts';

const { stdin, stdout, stderr } = process;
const admin = adminProgram({}, { stdout, stderr });
const echodrop = cliProgram({ env: {}, cwd: '.', stdin, stdout, stderr });

/** The commands, options and exit statuses of `admin`. */
export function commandTables(): Record<string, string> {
  return {
    'commands of admin': tableOfCommands(admin),
    'options of admin': tableOfOptions(admin),
    'exit statuses of admin': tableOfStatuses(admin),
  };
}

/** The exit statuses of `echodrop`. */
export function echodropStatuses(): string {
  return tableOfStatuses(echodrop);
}

function tableOfCommands(program: Command): string {
  const rows = program.commands.map((command) => {
    const words = `${command.name()} ${command.usage().replace('[options]', '')}`;
    return [`\`${words.replaceAll(/\s+/g, ' ').trim()}\``, program.createHelp().subcommandDescription(command)];
  });
  return table(['Command', 'What it does'], rows);
}

/** Options with the same flags and meaning are one. */
function tableOfOptions(program: Command): string {
  const help = program.createHelp();
  const all = program.commands.flatMap((command) =>
    help
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help')
      .map((option) => ({ command: command.name(), flags: option.flags, meaning: help.optionDescription(option) })),
  );
  const same = Map.groupBy(all, ({ flags, meaning }) => `${flags} ${meaning}`).values();
  const rows = [...same].flatMap((options) =>
    options
      .slice(0, 1)
      .map(({ flags, meaning }) => [`\`${flags}\``, codeList(options.map(({ command }) => command)), meaning]),
  );
  return table(['Option', 'Of', 'Meaning'], rows);
}

function tableOfStatuses(program: Command): string {
  let help = '';
  program
    .configureOutput({
      writeOut: (text) => {
        help += text;
      },
    })
    .outputHelp();
  const [, lines = ''] = help.split('Exit status:\n');
  const statuses = lines.matchAll(/^ {2}(\d+) +(.+(?:\n {7}.+)*)/gm);
  const rows = statuses.map(([, status = '', meaning = '']) => [status, meaning.replaceAll(/\s+/g, ' ')]);
  return table(['Exit status', 'Meaning'], [...rows]);
}

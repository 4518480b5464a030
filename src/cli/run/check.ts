import { resolve } from 'node:path';

import type { Answer } from '../../client/index.js';
import type { Output } from '../console/context.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { alignColumns, onOneLine, paint } from '../console/style.js';
import { createCommand, examples, type Subcommand } from '../console/subcommand.js';
import { withDaemon } from '../connect/with-daemon.js';

/** Options of `check`. */
interface CheckOptions extends DaemonOptions {
  readonly session?: string;
  readonly cwd?: string;
  readonly json?: boolean;
}

type Verdict = Answer<'check_command'>;

/** Exit codes by verdict. */
const EXIT_CODES: Readonly<Record<Verdict['action'], number>> = { allow: 0, checkpoint: 0, confirm: 3, deny: 4 };
const COLOURS = { allow: 'green', checkpoint: 'green', confirm: 'yellow', deny: 'red' } as const;

/** Longest command and reason in the table, in characters. */
const MAX_COMMAND = 50;
const MAX_REASON = 120;

/** `check`: evaluates the policy for a command without running it. */
export const checkSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'check'))
    .summary("show the policy's verdict on a command, without running it")
    .description(
      "Shows the policy's verdict on a command: allowed, allowed after a checkpoint, needs confirmation, or denied, with the reasons. Nothing is " +
        'run. With `confirmation.mode: off` commands run whatever the verdict.',
    )
    .argument('<command...>', 'one argument is text for the shell; several are a program and its arguments, not parsed')
    .passThroughOptions()
    .option('-s, --session <id>', 'as if run in this session: its directory, aliases and functions count')
    .option('--cwd <directory>', 'as if run there')
    .option('--json', 'print JSON, as `check_command` answers')
    .addHelpText('after', HELP)
    .action(async ([command, ...args]: readonly [string, ...string[]], options: CheckOptions) => {
      const verdict = await withDaemon(options, context, (client) =>
        client.check(command, {
          args: args.length === 0 ? undefined : args,
          cwd: options.cwd === undefined ? undefined : resolve(context.cwd, options.cwd),
          sessionId: options.session,
        }),
      );
      const text = options.json ? JSON.stringify(verdict, null, 2) : render(context.stdout, verdict);
      await context.stdout.write(`${text}\n`);
      context.exitWith(EXIT_CODES[verdict.action]);
    });

function render(output: Output, verdict: Verdict): string {
  const { action, class: commandClass, reasons, commands, enforced } = verdict;
  const lines = [`${paint(output, COLOURS[action], action)}: ${commandClass}`];
  for (const reason of reasons) lines.push(`  ${onOneLine(reason, MAX_REASON)}`);
  if (commands.length > 1) {
    const rows = commands.map((entry) => [`  ${entry.action}`, entry.class, onOneLine(entry.command, MAX_COMMAND)]);
    lines.push('', ...alignColumns([['  ACTION', 'CLASS', 'COMMAND'], ...rows]));
  }
  if (action === 'checkpoint')
    lines.push('', 'It runs once the workspace is saved; if it cannot be saved, it has to be confirmed.');
  if (!enforced) lines.push('', 'The gate is off (confirmation.mode): it would run all the same.');
  return lines.join('\n');
}

const HELP = `${examples(
  "shell-adapter check 'git status && rm -rf build'",
  'shell-adapter check --session ID -- make install',
  "shell-adapter check --json 'curl https://example.org | sh' | jq .class",
)}

Exit codes: 0 it may run, with a checkpoint or without, 3 it has to be confirmed, 4 it is denied; 1 failed, 2 wrong usage.`;

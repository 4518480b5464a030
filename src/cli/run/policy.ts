import { resolve } from 'node:path';

import { type Command, Option } from 'commander';

import type { Judgement, JudgeFacts } from '../../policy.js';
import type { Context, Output } from '../console/context.js';
import { alignColumns, onOneLine, paint } from '../console/style.js';
import { createCommand, createGroup, examples, type Subcommand } from '../console/subcommand.js';

/** Longest word and reason in the table, in characters. */
const MAX_WORD = 40;
const MAX_REASON = 120;
const COLOURS = { allow: 'green', checkpoint: 'green', confirm: 'yellow', deny: 'red' } as const;

/** `policy`: explains verdicts, without a daemon. */
export const policySubcommand: Subcommand = (context) =>
  createGroup(context, 'policy')
    .enablePositionalOptions()
    .summary('explain how the policy reads a command')
    .description('Explains how the policy reads a command, without a daemon.')
    .addCommand(explainCommand(context));

const explainCommand = (context: Context): Command =>
  createCommand(context, 'policy explain')
    .summary('show what each word of a command is taken for, and the verdict')
    .description(
      'Shows what the policy takes each word of a command for, and why it decides as it does: by the rules and actions of the configuration file, in a ' +
        'fresh shell. Nothing is run, no daemon is asked and no file is looked at. `check` asks a daemon, which knows the aliases of its sessions and where links lead.',
    )
    .argument('<command...>', 'one argument is text for the shell; several are a program and its arguments, not parsed')
    .passThroughOptions()
    .option('-c, --config <file>', 'the configuration file')
    .option('--cwd <directory>', 'as if run there; by default in the workspace')
    .addOption(
      new Option('--shell <name>', 'the shell that would read it').choices(['bash', 'zsh', 'sh', 'fish', 'pwsh']),
    )
    .addOption(
      new Option('--preset <name>', 'these actions instead of the configured ones').choices([
        'permissive',
        'balanced',
        'strict',
      ]),
    )
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(
      async ([text, ...args]: readonly [string, ...string[]], { json, ...options }: Place & { json?: boolean }) => {
        const [{ judge }, facts] = await Promise.all([import('../../policy.js'), readFacts(options, context)]);
        const judgement = judge(text, { ...facts, ...(args.length > 0 && { args }) });
        const shown = json ? JSON.stringify(judgement, null, 2) : render(context.stdout, judgement);
        await context.stdout.write(`${shown}\n`);
      },
    );

const HELP = `${examples(
  "shell-adapter policy explain 'git -C sub push --force'",
  'shell-adapter policy explain --preset strict \'find . -name "*.log" -exec rm {} +\'',
  "shell-adapter policy explain --json 'rm -rf build' | jq .commands[0].words",
)}

Exit codes: 0 whatever the verdict, 1 failed, 2 wrong usage.`;

/** What the command line says about the place of a command. */
type Place = Pick<JudgeFacts, 'shell' | 'preset'> & { readonly config?: string; readonly cwd?: string };

/** The facts of a fresh shell under this configuration. */
async function readFacts({ config, cwd, shell, preset }: Place, context: Context): Promise<JudgeFacts> {
  const [{ loadConfiguration }, { ownPaths }, { findConfiguration }] = await Promise.all([
    import('../../config/read/load.js'),
    import('../../config/model/configuration.js'),
    import('../connect/configuration-file.js'),
  ]);
  const configuration = loadConfiguration(findConfiguration(context, config));
  const { adapter, confirmation, childEnvironment } = configuration;
  const home = childEnvironment['HOME'];
  return {
    workspace: adapter.workspaceDirectory,
    ...(cwd !== undefined && { directory: resolve(context.cwd, cwd) }),
    ...(home !== undefined && { home }),
    ...(shell !== undefined && { shell }),
    ...(preset === undefined ? { classes: confirmation.actions } : { preset }),
    rules: confirmation.rules,
    ...ownPaths(configuration),
  };
}

function render(output: Output, { action, class: commandClass, reasons, commands }: Judgement): string {
  const lines = [`${paint(output, COLOURS[action], action)}: ${commandClass}`];
  for (const reason of reasons) lines.push(`  ${onOneLine(reason, MAX_REASON)}`);
  for (const command of commands) {
    const verdict = `${command.action}, ${command.class}`;
    lines.push('', `${onOneLine(command.text, MAX_REASON)}  (${verdict})`);
    const rows = command.words.map(({ word, takenFor }) => [`  ${onOneLine(word, MAX_WORD)}`, takenFor]);
    lines.push(...alignColumns(rows));
  }
  return lines.join('\n');
}

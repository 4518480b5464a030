import type { Answer } from '../../client/index.js';
import type { Judgement, JudgeFacts } from '../../policy.js';
import { DAEMON_OPTIONS, requesting } from '../connect/requesting.js';
import type { Context, Output } from '../console/context.js';
import { alignColumns, onOneLine, paint } from '../console/style.js';
import { JSON_OPTION, type JsonOption, path, printAnswer, type Subcommand } from '../console/subcommand.js';
import { COMMAND_WORDS } from './exec.js';

type Verdict = Answer<'check_command'>;
type Action = Verdict['action'];

const EXIT_CODES: Readonly<Record<Action, number>> = { allow: 0, checkpoint: 0, confirm: 3, deny: 4 };
const COLOURS = { allow: 'green', checkpoint: 'green', confirm: 'yellow', deny: 'red' } as const;

/** Longest command, word and reason in a line, in characters. */
const MAX_COMMAND = 50;
const MAX_WORD = 40;
const MAX_REASON = 120;

const check = requesting('check_command', {
  summary: "show the policy's verdict on a command, without running it",
  description:
    "Shows the policy's verdict on a command: allowed, allowed after a checkpoint, needs confirmation, or denied, with the reasons. Nothing is " +
    'run. With `confirmation.mode: off` commands run whatever the verdict.',
  arguments: [COMMAND_WORDS],
  passesOptions: true,
  options: [
    ...DAEMON_OPTIONS,
    [
      '-s, --session <id>',
      'as if run in this session: its directory, aliases and functions count',
      { field: 'session_id' },
    ],
    ['--cwd <directory>', 'as if run there', { read: path, field: 'cwd' }],
    ['--json', 'print JSON, as `check_command` answers'],
  ],
  examples: [
    "shell-adapter check 'git status && rm -rf build'",
    'shell-adapter check --session ID -- make install',
    "shell-adapter check --json 'curl https://example.org | sh' | jq .class",
  ],
  exitCodes:
    '0 it may run, with a checkpoint or without, 3 it has to be confirmed, 4 it is denied; 1 failed, 2 wrong usage.',
  payload: (_context, _options, [command, ...args]: readonly [string, ...string[]]) => ({
    command,
    ...(args.length > 0 && { args }),
  }),
  text: renderVerdict,
  after: (context, { action }) => {
    context.exitWith(EXIT_CODES[action]);
  },
});

/** What a verdict of the daemon and one without a daemon begin with. */
const headOf = (output: Output, verdict: { action: Action; class: string; reasons: readonly string[] }): string[] => [
  `${paint(output, COLOURS[verdict.action], verdict.action)}: ${verdict.class}`,
  ...verdict.reasons.map((reason) => `  ${onOneLine(reason, MAX_REASON)}`),
];

function renderVerdict(verdict: Verdict, output: Output): string[] {
  const { action, commands, enforced } = verdict;
  const lines = headOf(output, verdict);
  if (commands.length > 1) {
    const rows = commands.map((entry) => [`  ${entry.action}`, entry.class, onOneLine(entry.command, MAX_COMMAND)]);
    lines.push('', ...alignColumns([['  ACTION', 'CLASS', 'COMMAND'], ...rows]));
  }
  if (action === 'checkpoint')
    lines.push('', 'It runs once the workspace is saved; if it cannot be saved, it has to be confirmed.');
  if (!enforced) lines.push('', 'The gate is off (confirmation.mode): it would run all the same.');
  return lines;
}

const policy: Subcommand = {
  summary: 'explain how the policy reads a command',
  description: 'Explains how the policy reads a command, without a daemon.',
  subcommands: {
    explain: {
      summary: 'show what each word of a command is taken for, and the verdict',
      description:
        'Shows what the policy takes each word of a command for, and why it decides as it does: by the rules and actions of the configuration file, in a ' +
        'fresh shell. Nothing is run, no daemon is asked and no file is looked at. `check` asks a daemon, which knows the aliases of its sessions and where links lead.',
      arguments: [COMMAND_WORDS],
      passesOptions: true,
      options: [
        ['-c, --config <file>', 'the configuration file'],
        ['--cwd <directory>', 'as if run there; by default in the workspace', { read: path }],
        ['--shell <name>', 'the shell that would read it', { choices: ['bash', 'zsh', 'sh', 'fish', 'pwsh'] }],
        [
          '--preset <name>',
          'these actions instead of the configured ones',
          { choices: ['permissive', 'balanced', 'strict'] },
        ],
        JSON_OPTION,
      ],
      examples: [
        "shell-adapter policy explain 'git -C sub push --force'",
        'shell-adapter policy explain --preset strict \'find . -name "*.log" -exec rm {} +\'',
        "shell-adapter policy explain --json 'rm -rf build' | jq .commands[0].words",
      ],
      exitCodes: '0 whatever the verdict, 1 failed, 2 wrong usage.',
      run: explain,
    },
  },
};

/** The place of a command, as the command line gives it. */
interface Place {
  readonly config?: string;
  readonly cwd?: string;
  readonly shell?: JudgeFacts['shell'];
  readonly preset?: JudgeFacts['preset'];
}

async function explain(
  context: Context,
  options: Place & JsonOption,
  [text, ...args]: readonly [string, ...string[]],
): Promise<void> {
  const [{ judge }, facts] = await Promise.all([import('../../policy.js'), readFacts(options, context)]);
  const judgement = judge(text, { ...facts, ...(args.length > 0 && { args }) });
  await printAnswer(context, options, judgement, renderJudgement);
}

/** The facts of a fresh shell under this configuration. */
async function readFacts({ config, cwd, shell, preset }: Place, context: Context): Promise<JudgeFacts> {
  const [{ loadConfiguration }, { ownPaths }, { findConfiguration }] = await Promise.all([
    import('../../config/read/load.js'),
    import('../../config/model/configuration.js'),
    import('../connect/configuration.js'),
  ]);
  const configuration = loadConfiguration(findConfiguration(context, config));
  const { adapter, confirmation, childEnvironment } = configuration;
  const home = childEnvironment['HOME'];
  return {
    workspace: adapter.workspaceDirectory,
    ...(cwd !== undefined && { directory: cwd }),
    ...(home !== undefined && { home }),
    ...(shell !== undefined && { shell }),
    ...(preset === undefined ? { classes: confirmation.actions } : { preset }),
    rules: confirmation.rules,
    ...ownPaths(configuration),
  };
}

function renderJudgement(judgement: Judgement, output: Output): string[] {
  const lines = headOf(output, judgement);
  for (const command of judgement.commands) {
    lines.push('', `${onOneLine(command.text, MAX_REASON)}  (${command.action}, ${command.class})`);
    lines.push(
      ...alignColumns(command.words.map(({ word, takenFor }) => [`  ${onOneLine(word, MAX_WORD)}`, takenFor])),
    );
  }
  return lines;
}

export const judgeSubcommands = { check, policy };

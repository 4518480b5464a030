import type { AdapterClient, Answer } from '../../client/index.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { DAEMON_OPTIONS, requesting } from '../connect/requesting.js';
import { withDaemon } from '../connect/with-daemon.js';
import { commandLineFor, type Context } from '../console/context.js';
import { EXIT, reportFailure, UsageError } from '../console/failure.js';
import {
  ENV_OPTION,
  JSON_OPTION,
  type JsonOption,
  path,
  printAnswer,
  SANDBOX_OPTION,
  type Subcommand,
  wholeNumber,
} from '../console/subcommand.js';

const open = requesting('open_session', {
  summary: 'open a session and print its id',
  description:
    'Opens a session and prints its id. It stays open until it is closed, or until it has been unused for ' +
    'session_idle_timeout, or open for session_max_lifetime of the configuration. `sessions` shows when that is.',
  options: [
    ...DAEMON_OPTIONS,
    ['--login', 'read the startup files of a login shell first', { field: 'login' }],
    ['--rcfile <file>', 'read this file first, such as ~/.bashrc', { read: path, field: 'rcfile' }],
    ['--environment <name>', 'run the init of this environment of the configuration first', { field: 'environment' }],
    ['--cwd <directory>', 'where it starts; by default in the workspace of the daemon', { read: path, field: 'cwd' }],
    ENV_OPTION,
    ['--shell <shell>', 'bash, zsh, sh, fish, or pwsh (untested), or the path of one', { field: 'shell' }],
    SANDBOX_OPTION,
    ['--label <text>', 'a name for people', { field: 'label' }],
    JSON_OPTION,
  ],
  examples: [
    'id=$(shell-adapter open)',
    'shell-adapter exec --session "$id" cd /tmp',
    'shell-adapter exec --session "$id" pwd',
    'shell-adapter open --environment node20',
  ],
  payload: () => ({ keep_while: 'used' as const }),
  text: ({ session_id: id }) => id,
  after: reportStartup,
});

/** Tells on standard error of a startup that has failed. */
async function reportStartup({ stderr }: Context, { startup }: Answer<'open_session'>): Promise<void> {
  if (!startup || startup.exit_code === 0) return;
  const how = `its startup ended with ${startup.exit_code ?? startup.status}`;
  await stderr.write(`shell-adapter: ${how}\n${startup.stderr}`);
}

const sessions: Subcommand = {
  summary: 'list the open sessions',
  description:
    'Lists the open sessions: what they run, where, for how long they have been there, and when and why ' +
    'they will end: unused (idle), without a client (disconnected), or too old (lifetime).',
  options: [
    ...DAEMON_OPTIONS,
    ['-w, --watch', 'follow them until Ctrl-C: a table on a terminal, otherwise a line for each change'],
    ['--json', 'print JSON; with --watch a line for each change'],
  ],
  examples: [
    'shell-adapter sessions',
    'shell-adapter sessions --watch',
    "shell-adapter sessions --json | jq -r '.sessions[].session_id'",
  ],
  load: async () => (await import('./live.js')).showSessions,
};

const close: Subcommand = {
  summary: 'end sessions and everything in them',
  description: 'Ends sessions, with every process in them.',
  arguments: [['[id...]', 'the sessions']],
  options: [...DAEMON_OPTIONS, ['--all', 'every session that this client may close'], JSON_OPTION],
  examples: ['shell-adapter close session_ID', 'shell-adapter close --all'],
  exitCodes: '0 all are closed, 1 one could not be.',
  run: closeSessions,
};

async function closeSessions(
  context: Context,
  options: DaemonOptions & JsonOption & { readonly all?: boolean },
  given: readonly string[],
): Promise<void> {
  const { all = false } = options;
  if (given.length > 0 === all) {
    const hint = `(${context.programName} close --help explains it)`;
    throw new UsageError('give the ids of sessions, or --all', { hint });
  }
  const settled = await withDaemon(options, context, async (client) => {
    const ids = all ? await ownSessions(client) : given;
    return Promise.allSettled(ids.map((id) => client.request('close_session', { session_id: id })));
  });
  const failures = settled.filter((outcome) => outcome.status === 'rejected');
  for (const { reason } of failures) await reportFailure(reason, context.stderr, commandLineFor(context, options));
  const closed = settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.session_id] : []));
  await printAnswer(context, options, { closed }, () => closed.map((id) => `closed ${id}`));
  if (failures.length > 0) context.exitWith(EXIT.failed);
}

/** The sessions that this client may close: its own; for an admin, all. */
async function ownSessions(client: AdapterClient): Promise<string[]> {
  const { caller } = await client.request('daemon_status', {});
  const found = await client.listSessions();
  return found.filter(({ owner }) => caller.role === 'admin' || owner === caller.name).map(({ session_id: id }) => id);
}

const attach: Subcommand = {
  summary: 'follow a session',
  description:
    'Shows what the commands of a session print, as it comes, until the session ends or Ctrl-C. The session goes on.',
  arguments: [['<id>', 'the session']],
  options: [
    ...DAEMON_OPTIONS,
    ['--from-seq <number>', 'begin with this event; 0 shows all that is still kept', { read: wholeNumber(0) }],
    [
      '--input',
      'type into what runs: at a terminal every key, Ctrl-] leaves; otherwise lines. Without it, nothing can be changed',
    ],
    ['--observe', 'only look: commands never wait for this client, and output that comes too fast is skipped'],
    ['--json', 'print each event as a line of JSON'],
  ],
  examples: ['shell-adapter attach session_ID', 'shell-adapter attach session_ID --from-seq 0 --json'],
  exitCodes: '0 left by Ctrl-C, or the session has ended; 1 there is no such session, or the daemon has gone.',
  load: async () => (await import('./follow-session.js')).followSession,
};

const top: Subcommand = {
  summary: 'show what runs, and what it uses',
  description:
    'Shows the machine, the sessions and the running commands with their CPU time and memory, every second until Ctrl-C.',
  options: [
    ...DAEMON_OPTIONS,
    ['--once', 'show them once; always so where the output is no terminal, unless --json is given'],
    ['--json', 'print a line of JSON for each change; with --once one object'],
  ],
  examples: ['shell-adapter top', 'shell-adapter top --once', 'shell-adapter top --once --json | jq .host'],
  load: async () => (await import('./live.js')).showTop,
};

const screenshot: Subcommand = {
  summary: 'show what a terminal shows',
  description:
    'Shows the screen of a command with a terminal: of the one that runs in a session, or of its last one. Prints it as text, or ' +
    'draws it into a file.',
  arguments: [['<session-or-command>', 'id of a session, or of a command']],
  options: [
    ...DAEMON_OPTIONS,
    ['-o, --output <file>', 'draw a picture with its colours: a file that ends in .svg or .png'],
    ['--json', 'print JSON, with the position of the cursor'],
  ],
  examples: ['shell-adapter screenshot session_ID', 'shell-adapter screenshot session_ID -o vim.png'],
  load: async () => (await import('./screenshot.js')).takeScreenshot,
};

export const sessionSubcommands = { open, sessions, top, attach, screenshot, close };

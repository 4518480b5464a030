import type { Answer } from '../../client/index.js';
import { MAX_PORT } from '../../core/protocol/bounds.js';
import { type DaemonOptions, describeDashboard } from '../connect/daemon-address.js';
import { DAEMON_OPTIONS, requesting } from '../connect/requesting.js';
import { findStatus, type FoundDaemon } from '../connect/with-daemon.js';
import type { Context } from '../console/context.js';
import { alignColumns, formatSpan, paint } from '../console/style.js';
import { JSON_OPTION, type JsonOption, printAnswer, type Subcommand, wholeNumber } from '../console/subcommand.js';

const serve: Subcommand = {
  summary: 'start the daemon, in the foreground',
  description:
    'Starts the daemon in the foreground. When it is ready it prints "listening on http://HOST:PORT" on standard ' +
    'output; its log goes to the log file and to standard error.',
  options: [
    ['-c, --config <file>', 'the configuration file'],
    ['-w, --workspace <directory>', 'where sessions start; created when it is missing'],
    ['--host <address>', 'the address to listen on'],
    ['--port <number>', 'the port; 0 takes any that is free', { read: wholeNumber(0, MAX_PORT) }],
    ['--example', 'print a line to try and a link to the dashboard, even when the output is no terminal'],
    ['--no-example', 'print neither'],
    // How a daemon starts the process that holds its sessions.
    ['--hold-in <directory>', '', { isHidden: true }],
    ['--hold-as <name>', '', { isHidden: true }],
  ],
  before: `\
Signals:
  SIGHUP            read the configuration again; a file with errors changes nothing
  SIGTERM, SIGINT   tell the clients, end all commands and sessions, exit within 5 seconds;
                    with adapter.detach commands and sessions go on
  the same again    exit at once
  of a worker, the first SIGTERM drains it: it ends when its sessions and commands
  have ended, after cluster.drain_timeout, or with the second SIGTERM`,
  examples: ['shell-adapter serve --workspace ~/work', 'shell-adapter serve --config ~/strict.yaml --port 0'],
  exitCodes: `0 stopped by a signal, 1 could not start or not end in time, 2 wrong usage,
128+n a second signal n.`,
  load: async () => (await import('./run-daemon.js')).runDaemon,
};

const stop: Subcommand = {
  summary: 'stop the daemon, and wait until it has ended',
  description:
    'Stops the daemon at the address, as Ctrl-C does where it was started: its clients are told, and all commands and ' +
    'sessions end, also those that adapter.detach has outlive it. Returns when all have ended. It has to be a process of ' +
    'this user, on this machine.',
  options: DAEMON_OPTIONS,
  examples: ['shell-adapter stop', 'shell-adapter stop --url http://127.0.0.1:9000'],
  exitCodes: '0 stopped, or none was running; 1 the daemon could not be stopped, 2 wrong usage.',
  load: async () => (await import('./restart-daemon.js')).stopDaemon,
};

const restart: Subcommand = {
  summary: 'start the daemon again, as after an upgrade',
  description:
    'Stops the daemon at the address, and starts it again with the same arguments, environment and directory, in the ' +
    'background. With `adapter.detach: true` sessions and running commands go on meanwhile; otherwise they end. It has ' +
    'to be a process of this user, on this machine.',
  options: DAEMON_OPTIONS,
  examples: ['shell-adapter restart', 'shell-adapter restart --url http://127.0.0.1:9000'],
  exitCodes: '0 the daemon runs again, 1 it could not be stopped or started, 2 wrong usage.',
  load: async () => (await import('./restart-daemon.js')).restartDaemon,
};

const version: Subcommand = {
  summary: 'print the version',
  description: 'Prints the version of this program. `status` prints that of the daemon.',
  examples: ['shell-adapter version'],
  run: ({ stdout, version: own }) => stdout.write(`${own}\n`),
};

const status: Subcommand = {
  summary: 'say whether the daemon runs, and which one it is',
  description:
    'Says whether a daemon runs at the address, with its version, uptime, configuration file, workspace, and the number of ' +
    'sessions and commands.',
  options: [...DAEMON_OPTIONS, JSON_OPTION],
  examples: ['shell-adapter status', 'shell-adapter status --json | jq -r .workspace_directory'],
  exitCodes: '0 a daemon runs, 3 none does, 4 a daemon runs that does not accept this client; 1 failed, 2 wrong usage.',
  run: printStatus,
};

/** Exit codes in the style of `systemctl status`. */
const EXIT_CODES: Readonly<Record<FoundDaemon['state'], number>> = { running: 0, stopped: 3, unknown: 4 };

async function printStatus(context: Context, options: DaemonOptions & JsonOption): Promise<void> {
  const found = await findStatus(options, context);
  const answer =
    found.state === 'running'
      ? { state: found.state, url: found.url, ...found.status }
      : { state: found.state, message: found.why };
  await printAnswer(context, options, answer, () => renderStatus(context, found));
  context.exitWith(EXIT_CODES[found.state]);
}

function renderStatus({ stdout }: Context, found: FoundDaemon): string[] {
  if (found.state === 'running') {
    return [`${paint(stdout, 'green', 'running')} at ${found.url}`, ...alignColumns(describeStatus(found))];
  }
  const line = `${paint(stdout, found.state === 'unknown' ? 'yellow' : 'red', found.state)}: ${found.why}`;
  return found.state === 'unknown' && found.hint !== undefined ? [line, found.hint] : [line];
}

const describeStatus = ({ status: facts, url }: Extract<FoundDaemon, { state: 'running' }>): string[][] => [
  ['version', `shell-adapter ${facts.adapter_version}, protocol ${facts.protocol_version}`],
  ['process', `${facts.pid}, user ${facts.user}`],
  ['uptime', `${formatSpan(facts.uptime_ms)}, since ${facts.started_at}`],
  ['sessions', `${facts.sessions} open, ${facts.running_commands} commands running, ${facts.clients} clients`],
  ['configuration', facts.configuration_file ?? 'none: the defaults'],
  ['workspace', facts.workspace_directory],
  ['state', facts.state_directory],
  ['log', facts.log_file],
  ['dashboard', describeDashboard(facts.dashboard, url)],
];

const metadata = requesting('shell_metadata', {
  summary: 'describe the machine and shell that commands run on',
  description: 'Describes the machine and the shell that commands run on, and the limits of the daemon.',
  options: [...DAEMON_OPTIONS, ['--json', 'print JSON, as `shell_metadata` answers']],
  examples: ['shell-adapter metadata', 'shell-adapter metadata --json | jq -r .operating_system'],
  text: renderMetadata,
});

const BYTES_PER_GIB = 1024 ** 3;
const inGib = (bytes: number | null): string =>
  bytes === null ? 'unknown' : `${(bytes / BYTES_PER_GIB).toFixed(1)} GiB`;

const describeSandbox = ({ profile, configured, reason }: Answer<'shell_metadata'>['sandbox']): string =>
  reason === null ? profile : `${profile}, not ${configured} as configured: ${reason}`;

function renderMetadata(facts: Answer<'shell_metadata'>): string[] {
  const { limits } = facts;
  return alignColumns([
    ['system', facts.operating_system],
    ['kernel', `${facts.kernel} (${facts.architecture}), platform ${facts.platform}`],
    ['host', `${facts.hostname}, user ${facts.user}`],
    ['processors', String(facts.cpus)],
    ['memory', `${inGib(facts.memory_available_bytes)} available of ${inGib(facts.memory_bytes)}`],
    ['disk', `${inGib(facts.disk_free_bytes)} free of ${inGib(facts.disk_bytes)}`],
    ['workspace', facts.workspace_directory],
    ['shell', facts.shell],
    ...facts.shells.map(({ name, path, version: found }) => [`  ${name}`, `${path}, ${found}`]),
    ['sandbox', describeSandbox(facts.sandbox)],
    ['sessions', `at most ${limits.max_sessions}, for ${formatSpan(limits.session_max_lifetime_ms)}`],
    [
      'commands',
      `for ${formatSpan(limits.command_timeout_ms)}, up to ${formatSpan(limits.command_max_lifetime_ms)} if they ask for it, at most ${limits.queue_limit} waiting in a session`,
    ],
    [
      'output',
      `${limits.max_output_size} characters; of more, the first ${limits.begin_output_size} and last ${limits.end_output_size}`,
    ],
    ['messages', `at most ${limits.max_message_bytes} bytes`],
    ['version', `shell-adapter ${facts.adapter_version}, protocol ${facts.protocol_version}`],
  ]);
}

const doctor: Subcommand = {
  summary: 'check what this machine supports',
  description: 'Checks everything that the daemon needs or can use, and says how to get what is missing.',
  options: [...DAEMON_OPTIONS, JSON_OPTION],
  examples: ['shell-adapter doctor', 'shell-adapter doctor --json | jq .checks'],
  exitCodes: '0 everything essential is there, 1 something essential is missing.',
  load: async () => (await import('./examine.js')).printFindings,
};

const config: Subcommand = {
  summary: 'check, show or create a configuration file, or trust one',
  description:
    'Checks and shows configurations, writes one of your own, and says which file of a directory is trusted.',
  subcommands: {
    check: {
      summary: 'report all errors of a configuration file',
      description: 'Prints "ok", or everything that is wrong with a configuration file as FILE:LINE:COLUMN: what.',
      arguments: [['[file]', 'the file; by default the one that `serve` would use']],
      options: [JSON_OPTION],
      examples: ['shell-adapter config check ~/.config/shell-adapter/config.yaml'],
      exitCodes: '0 ok, 1 not ok.',
      load: async () => (await import('./configurations.js')).checkConfiguration,
    },
    show: {
      summary: 'show the settings in force, and where they come from',
      description:
        'Prints the settings that `serve` would use here: file, environment and defaults together. If a daemon answers, its ' +
        'configuration file and workspace are printed first.',
      options: [...DAEMON_OPTIONS, JSON_OPTION],
      examples: ['shell-adapter config show', 'shell-adapter config show --json | jq .adapter'],
      load: async () => (await import('./configurations.js')).showConfiguration,
    },
    init: {
      summary: 'write your own configuration file',
      description:
        'Writes ~/.config/shell-adapter/config.yaml, a copy of the shipped file, and prints its path. All calls of yours use it ' +
        'from then on, unless --config or SHELL_ADAPTER_CONFIG names another one.',
      options: [['--force', 'overwrite a file that exists']],
      examples: ['"${EDITOR:-vi}" "$(shell-adapter config init)"'],
      load: async () => (await import('./configurations.js')).initConfiguration,
    },
    trust: {
      summary: 'trust the configuration file of a directory',
      description:
        'Lets calls in a directory use its config/shell_adapter.yaml. Read the file first: it can send your tokens to another ' +
        'host, and let every command run. The trust ends with any change of the file.',
      arguments: [['[file]', 'the file; by default config/shell_adapter.yaml below the current directory']],
      options: [
        ['--list', 'list the files that are trusted'],
        ['--revoke', 'trust the file no longer'],
        ['--json', 'with --list: print JSON'],
      ],
      examples: [
        'shell-adapter config trust',
        'shell-adapter config trust --list',
        'shell-adapter config trust --revoke ~/project/config/shell_adapter.yaml',
      ],
      load: async () => (await import('./configurations.js')).trustConfiguration,
    },
  },
};

export const daemonSubcommands = { serve, status, stop, restart, metadata, doctor, config, version };

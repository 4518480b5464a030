import { InvalidArgumentError } from 'commander';

import { AUDIT_EVENTS } from '../../core/audit-events.js';
import { ROLE_NAMES, ROLES } from '../../core/principal.js';
import { DAEMON_OPTIONS } from '../connect/requesting.js';
import { type Entry, JSON_OPTION, type Subcommand, wholeNumber } from '../console/subcommand.js';

const TOKEN_OPTIONS: readonly Entry[] = [['-c, --config <file>', 'the configuration file of the daemon'], JSON_OPTION];

/** Works without a daemon; a running one applies the change. */
const token: Subcommand = {
  summary: 'create, list, revoke and rotate tokens',
  description:
    'Creates, lists, revokes and rotates the tokens of a daemon, which are files in its state_directory. A running daemon ' +
    'applies a change at once: the connections of a revoked or rotated token end.',
  subcommands: {
    create: {
      summary: 'create a token and print it',
      description: 'Creates a token and prints it. Only its hash is kept: it cannot be shown again.',
      options: [
        ...TOKEN_OPTIONS,
        ['--role <role>', 'what it may do', { choices: ROLE_NAMES, isRequired: true }],
        ['--name <name>', 'a name for people, by which it is revoked', { isRequired: true }],
        ['--run-as <user>', 'run what it starts as this user of the machine; the daemon has to be root'],
        ['--expires <span>', 'how long it lives: 90d, 12h, 30m, 4w; by default until it is revoked'],
      ],
      before: ['Roles:', ...Object.entries(ROLES).map(([role, meaning]) => `  ${role.padEnd(10)}${meaning}`)].join(
        '\n',
      ),
      examples: [
        'shell-adapter token create --role agent --name ci --expires 90d',
        'shell-adapter token create --role agent --name alice --run-as alice',
        'export SHELL_ADAPTER_TOKEN=$(shell-adapter token create --role viewer --name dashboard)',
      ],
      load: async () => (await import('./manage-tokens.js')).createToken,
    },
    list: {
      summary: 'list the tokens',
      description: 'Lists the tokens: names, roles and times, nothing that opens anything.',
      options: TOKEN_OPTIONS,
      examples: ['shell-adapter token list', "shell-adapter token list --json | jq -r '.tokens[].name'"],
      load: async () => (await import('./manage-tokens.js')).listTokens,
    },
    revoke: {
      summary: 'revoke a token',
      description: 'Revokes a token. Its connections end at once, its sessions after reconnect_grace.',
      arguments: [['<name>', 'the name of the token, or its id']],
      options: TOKEN_OPTIONS,
      examples: ['shell-adapter token revoke laptop'],
      load: async () => (await import('./manage-tokens.js')).revokeToken,
    },
    rotate: {
      summary: 'give a token a new secret and print it',
      description: 'Gives a token a new secret and prints it. The old secret ends; sessions, role and expiry stay.',
      arguments: [['<name>', 'the name of the token, or its id']],
      options: TOKEN_OPTIONS,
      examples: ['shell-adapter token rotate laptop'],
      load: async () => (await import('./manage-tokens.js')).rotateToken,
    },
  },
};

const AUDIT_OPTIONS: readonly Entry[] = [
  ['-c, --config <file>', 'the configuration file of the daemon'],
  ['--file <path>', 'the audit log itself, instead of the one that the configuration names'],
  JSON_OPTION,
];

/** Lines that `audit tail` shows by default. */
const TAIL_LINES = 20;

const audit: Subcommand = {
  summary: 'verify and read the audit log',
  description: 'Verifies and reads the audit log of a daemon, which its configuration names. No daemon is needed.',
  subcommands: {
    verify: {
      summary: 'verify that no record was changed, moved or removed',
      description:
        'Walks the chain of records through all files, the oldest first, and names the first that is not in order.',
      options: AUDIT_OPTIONS,
      before: `\
A gap that a full disk has made is counted and no fault. One that tells of a hand is: records that were cut off, a file that
was replaced. A program that can write both the log and the file beside it (.head) can forge both: keep copies elsewhere.`,
      examples: ['shell-adapter audit verify', 'shell-adapter audit verify --json | jq .fault'],
      exitCodes: '0 in order, 1 not in order, 2 wrong usage.',
      load: async () => (await import('./read-audit.js')).verifyAuditLog,
    },
    tail: {
      summary: 'show the latest records',
      description: 'Shows the latest records, and with --follow those to come.',
      options: [
        ...AUDIT_OPTIONS,
        ['-n, --lines <number>', 'how many', { read: wholeNumber(0, 1_000_000), default: TAIL_LINES }],
        ['-f, --follow', 'go on until it is interrupted'],
      ],
      examples: ['shell-adapter audit tail -n 50', 'shell-adapter audit tail --follow --json'],
      load: async () => (await import('./read-audit.js')).tailAuditLog,
    },
    search: {
      summary: 'find records',
      description: 'Shows the records that match all given options, oldest first.',
      options: [
        ...AUDIT_OPTIONS,
        ['--principal <name>', 'name or id of a token, or local'],
        ['--session <id>', 'of this session'],
        ['--command-id <id>', 'of this command'],
        ['--event <name>', `one of ${Object.keys(AUDIT_EVENTS).join(', ')}`, { read: readEvent }],
        ['--since <time>', 'from then on: a date and time, or 90s, 15m, 2h, 7d ago', { read: readTime }],
        ['--until <time>', 'until then, likewise', { read: readTime }],
        ['--text <text>', 'with this text anywhere'],
      ],
      examples: [
        'shell-adapter audit search --since 2h --event command_started',
        "shell-adapter audit search --text 'rm -rf' --json",
      ],
      load: async () => (await import('./read-audit.js')).searchAuditLog,
    },
  },
};

function readEvent(text: string): string {
  if (Object.hasOwn(AUDIT_EVENTS, text)) return text;
  throw new InvalidArgumentError(`The events are ${Object.keys(AUDIT_EVENTS).join(', ')}.`);
}

const SPAN_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function readTime(text: string): number {
  const [, digits, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? [];
  // Date.parse accepts texts that are not dates: it parses "10" as a month.
  const date = /^\d{4}-\d\d/.test(text) ? Date.parse(text) : NaN;
  const time = digits === undefined ? date : Date.now() - Number(digits) * (SPAN_MS[unit] ?? NaN);
  if (!Number.isNaN(time)) return time;
  throw new InvalidArgumentError('It looks like 2026-01-31T12:00:00Z, or like 15m for fifteen minutes ago.');
}

const dashboard: Subcommand = {
  summary: 'open the dashboard in a browser',
  description:
    'Opens the dashboard of the daemon in a browser ($BROWSER, or xdg-open), signed in by a link that counts once, for a ' +
    'minute. Without a browser, prints the link. The page may do what you may; as an operator it decides only if you show ' +
    'the token of an operator.',
  options: [
    ...DAEMON_OPTIONS,
    ['--role <role>', 'what the page may do; by default what you may', { choices: ROLE_NAMES }],
    ['--for <span>', 'how long the page stays signed in: 30m, 8h, at most 12h', { default: '12h' }],
    ['--print', 'print the link, and open no browser'],
  ],
  before: `\
The link does not appear among the arguments of a process, which other users can see: the browser opens a private file that
leads to it. Browsers that cannot read such files, those of snap or flatpak for example, need --print.`,
  examples: [
    'shell-adapter dashboard',
    'shell-adapter dashboard --role viewer --for 1h --print',
    'SHELL_ADAPTER_TOKEN=$(cat operator-token) shell-adapter dashboard',
  ],
  load: async () => (await import('./open-dashboard.js')).openDashboard,
};

export const accessSubcommands = { token, audit, dashboard };

import type { AdapterClient, Answer, RequestInput } from '../../client/index.js';
import { MAX_LAST_LINES, MAX_LISTED_COMMANDS, MAX_READ_BYTES } from '../../core/protocol/bounds.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { DAEMON_OPTIONS } from '../connect/requesting.js';
import { withDaemon } from '../connect/with-daemon.js';
import type { Context } from '../console/context.js';
import { UsageError } from '../console/failure.js';
import { formatBytes, formatSpan, onOneLine, table } from '../console/style.js';
import {
  JSON_OPTION,
  type JsonOption,
  jsonText,
  printAnswer,
  type Subcommand,
  wholeNumber,
} from '../console/subcommand.js';
import type { LiveCommand } from './live.js';

/** Longest command line in a table, in characters. */
const MAX_COMMAND = 80;
/** Most commands that can be asked for: the daemon keeps fewer. */
export const MAX_LIMIT = 100_000;
const DEFAULT_LIMIT = 50;
/** Shorter times are shown in milliseconds. */
const MIN_SPAN_MS = 1000;

const history: Subcommand = {
  summary: 'list the last commands',
  description:
    'Lists commands, the newest first: those that run, and those whose output the daemon still keeps. The audit log has all.',
  arguments: [['[session]', 'only those of a session']],
  options: [
    ...DAEMON_OPTIONS,
    ['-n, --limit <number>', 'most commands to list', { read: wholeNumber(1, MAX_LIMIT), default: DEFAULT_LIMIT }],
    ['--owner <name>', 'only those of a token; `local` for clients without one'],
    ['--running', 'only those that have not ended'],
    JSON_OPTION,
  ],
  examples: [
    'shell-adapter history',
    'shell-adapter history session_ID --limit 10',
    "shell-adapter history --json | jq '.commands[] | select(.exit_code != 0).command'",
  ],
  run: async (context, options: DaemonOptions & JsonOption & WantedCommands, session?: string) => {
    const commands = await withDaemon(options, context, (client) => listCommands(client, session, options));
    await printAnswer(context, options, { commands }, () => renderHistory(commands, Date.now()));
  },
};

interface WantedCommands {
  readonly limit: number;
  readonly owner?: string;
  readonly running?: boolean;
}

/** Lists commands, the newest first; of a session, if one is given. */
export async function listCommands(
  client: AdapterClient,
  session: string | undefined,
  { limit, owner, running = false }: WantedCommands,
): Promise<LiveCommand[]> {
  const found: LiveCommand[] = [];
  let before: string | undefined;
  do {
    const page = await client.request('list_commands', {
      session_id: session,
      owner,
      state: running ? 'running' : undefined,
      before,
      limit: Math.min(MAX_LISTED_COMMANDS, limit - found.length),
    });
    found.push(...page.commands);
    before = page.next ?? undefined;
  } while (before !== undefined && found.length < limit);
  return found;
}

function renderHistory(commands: readonly LiveCommand[], now: number): string[] {
  const rows = commands.map((command) => {
    const { command_id: id, owner, state, exit_code: code, duration_ms: ms } = command;
    const ago = formatSpan(now - Date.parse(command.accepted_at));
    const end = state === 'ended' ? String(code) : state;
    const took = ms < MIN_SPAN_MS ? `${Math.round(ms)}ms` : formatSpan(ms);
    const sizes = [formatBytes(command.stdout_bytes), formatBytes(command.stderr_bytes)];
    return [id, owner, ago, end, took, ...sizes, lineOf(command)];
  });
  const head = ['COMMAND', 'OWNER', 'AGO', 'EXIT', 'TOOK', 'STDOUT', 'STDERR', 'TEXT'];
  return table(head, rows, 'No command is known.');
}

/** The command on one line, with its arguments. */
export const lineOf = ({ command, args = [] }: LiveCommand): string =>
  onOneLine([command, ...args].join(' '), MAX_COMMAND);

const output: Subcommand = {
  summary: 'print the output of a command, or lines of it',
  description:
    'Prints what a command has printed so far, byte for byte, while the daemon keeps it: all of it, a part, or lines.',
  arguments: [['<command>', 'id of the command, as history lists it']],
  options: [
    ...DAEMON_OPTIONS,
    ['--stream <stream>', 'which output; by default stdout', { choices: ['stdout', 'stderr'] }],
    ['--offset <bytes>', 'begin there; lines are counted from there', { read: wholeNumber(0) }],
    ['--bytes <number>', 'at most so many bytes', { read: wholeNumber(1) }],
    ['--from-line <number>', 'begin with this line, from 1', { read: wholeNumber(1) }],
    ['-n, --lines <number>', 'at most so many lines', { read: wholeNumber(1) }],
    ['--last <number>', 'only so many lines at the end', { read: wholeNumber(1, MAX_LAST_LINES) }],
    ['--max-line-length <characters>', 'cut longer lines, which end in …', { read: wholeNumber(1, MAX_READ_BYTES) }],
    ['--json', 'print one answer of read_output as JSON, with its text'],
  ],
  examples: [
    'shell-adapter output command_ID > all.txt',
    'shell-adapter output command_ID --last 20 --stream stderr',
    'shell-adapter output command_ID --from-line 100 --lines 10 --max-line-length 200',
  ],
  run: printOutput,
};

interface WantedOutput extends DaemonOptions, JsonOption {
  readonly stream?: 'stdout' | 'stderr';
  readonly offset?: number;
  readonly bytes?: number;
  readonly fromLine?: number;
  readonly lines?: number;
  readonly last?: number;
  readonly maxLineLength?: number;
}

async function printOutput(context: Context, options: WantedOutput, command: string): Promise<void> {
  const { fromLine, lines, last, maxLineLength, bytes } = options;
  if (fromLine !== undefined && last !== undefined) {
    throw new UsageError('--last counts from the end: give no --from-line beside it');
  }
  const wantsLines = [fromLine, lines, last, maxLineLength].some((each) => each !== undefined);
  if (wantsLines && bytes !== undefined) {
    throw new UsageError('--bytes is for an output by bytes: give no options about lines beside it');
  }
  await withDaemon(options, context, async (client) => {
    if (options.json === true) {
      const { data, ...facts } = await client.request('read_output', firstWish(command, options));
      await context.stdout.write(jsonText({ ...facts, data: new TextDecoder().decode(data) }));
      return;
    }
    const parts = wantsLines ? lineParts(client, command, options) : byteParts(client, command, options);
    for await (const { data } of parts) await context.stdout.write(data);
  });
}

type Part = Answer<'read_output'>;
type Wish = RequestInput<'read_output'>;

const firstWish = (command: string, options: WantedOutput): Wish => ({
  command_id: command,
  stream: options.stream,
  offset: options.offset,
  length: options.bytes === undefined ? undefined : Math.min(options.bytes, MAX_READ_BYTES),
  from_line: options.fromLine,
  max_lines: options.lines,
  last_lines: options.last,
  max_line_length: options.maxLineLength,
});

/** Reads bytes up to the present end of the output. */
async function* byteParts(client: AdapterClient, command: string, options: WantedOutput): AsyncGenerator<Part> {
  let offset = options.offset ?? 0;
  let left = options.bytes ?? Infinity;
  while (left > 0) {
    const length = Math.min(left, MAX_READ_BYTES);
    const part = await client.request('read_output', { command_id: command, stream: options.stream, offset, length });
    if (part.data.length === 0) return;
    yield part;
    offset += part.data.length;
    left -= part.data.length;
  }
}

/** Reads lines, as many answers as they need. */
async function* lineParts(client: AdapterClient, command: string, options: WantedOutput): AsyncGenerator<Part> {
  let wish: Wish = { ...firstWish(command, options), length: MAX_READ_BYTES };
  let left = Math.min(options.last ?? Infinity, options.lines ?? Infinity);
  for (;;) {
    const part = await client.request('read_output', wish);
    if (part.data.length === 0) return;
    yield part;
    left -= wholeLines(part);
    const { next_offset: offset = part.size } = part;
    if (left <= 0 || offset >= part.size) return;
    const max_lines = Number.isFinite(left) ? left : undefined;
    wish = { ...wish, offset, from_line: 1, last_lines: undefined, max_lines };
  }
}

/** Lines of a part. A line that does not fit into one answer comes in several: its end is in the last one. */
const wholeLines = ({ lines = 0, data }: Part): number => (data.at(-1) === LINE_FEED ? lines : lines - 1);

const LINE_FEED = 0x0a;

export const commandSubcommands = { history, output };

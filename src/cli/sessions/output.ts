import { Option } from 'commander';

import type { AdapterClient } from '../../client/index.js';
import type { Answer, RequestInput } from '../../core/protocol/requests.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import type { Context } from '../console/context.js';
import { UsageError } from '../console/failure.js';
import { createCommand, examples, readNumber, type Subcommand } from '../console/subcommand.js';

type Part = Answer<'read_output'>;
type Wish = RequestInput<'read_output'>;

interface OutputOptions extends DaemonOptions {
  readonly stream?: 'stdout' | 'stderr';
  readonly offset?: number;
  readonly bytes?: number;
  readonly fromLine?: number;
  readonly lines?: number;
  readonly last?: number;
  readonly maxLineLength?: number;
  readonly json?: boolean;
}

/** Most lines at the end, and most bytes, that the daemon reads at a time. */
const MAX_LAST_LINES = 100_000;
const MAX_READ_BYTES = 1024 * 1024;

const count = (max: number, min = 1) => readNumber({ min, max, isWhole: true });

/** `output`: prints what a command has printed. */
export const outputSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'output'))
    .summary('print the output of a command, or lines of it')
    .description(
      'Prints what a command has printed so far, byte for byte, while the daemon keeps it: all of it, a part, or lines.',
    )
    .argument('<command>', 'id of the command, as history lists it')
    .addOption(new Option('--stream <stream>', 'which output; by default stdout').choices(['stdout', 'stderr']))
    .option('--offset <bytes>', 'begin there; lines are counted from there', count(Number.MAX_SAFE_INTEGER, 0))
    .option('--bytes <number>', 'at most so many bytes', count(Number.MAX_SAFE_INTEGER))
    .option('--from-line <number>', 'begin with this line, from 1', count(Number.MAX_SAFE_INTEGER))
    .option('-n, --lines <number>', 'at most so many lines', count(Number.MAX_SAFE_INTEGER))
    .option('--last <number>', 'only so many lines at the end', count(MAX_LAST_LINES))
    .option('--max-line-length <characters>', 'cut longer lines, which end in …', count(MAX_READ_BYTES))
    .option('--json', 'print one answer of read_output as JSON, with its text')
    .addHelpText(
      'after',
      examples(
        'shell-adapter output command_ID > all.txt',
        'shell-adapter output command_ID --last 20 --stream stderr',
        'shell-adapter output command_ID --from-line 100 --lines 10 --max-line-length 200',
      ),
    )
    .action((command: string, options: OutputOptions) => printOutput(context, command, options));

async function printOutput(context: Context, command: string, options: OutputOptions): Promise<void> {
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
      const part = await client.request('read_output', firstWish(command, options));
      const { data, ...facts } = part;
      const text = new TextDecoder().decode(data);
      await context.stdout.write(`${JSON.stringify({ ...facts, data: text }, null, 2)}\n`);
      return;
    }
    const parts = wantsLines ? lineParts(client, command, options) : byteParts(client, command, options);
    for await (const { data } of parts) await context.stdout.write(data);
  });
}

const firstWish = (command: string, options: OutputOptions): Wish => ({
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
async function* byteParts(client: AdapterClient, command: string, options: OutputOptions): AsyncGenerator<Part> {
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
async function* lineParts(client: AdapterClient, command: string, options: OutputOptions): AsyncGenerator<Part> {
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

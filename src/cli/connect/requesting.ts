import { Option } from 'commander';

import type { Answer, RequestInput, RequestName } from '../../core/protocol/requests.js';
import type { Context, Output } from '../console/context.js';
import {
  type Description,
  type Entry,
  type JsonOption,
  printAnswer,
  type Subcommand,
  type Text,
} from '../console/subcommand.js';
import type { DaemonOptions } from './daemon-address.js';
import { withDaemon } from './with-daemon.js';

export const DAEMON_OPTIONS: readonly Entry[] = [
  ['--url <url>', 'where the daemon listens: http://HOST:PORT, or unix:/PATH'],
  ['-c, --config <file>', 'the configuration file with the address'],
  ['--token <token>', 'the token; SHELL_ADAPTER_TOKEN is safer: other users can see arguments'],
];

type FieldOf<N extends RequestName> = keyof RequestInput<N> & string;

/** A subcommand that makes one request, and prints its answer. */
interface RequestSubcommand<N extends RequestName> extends Description<FieldOf<N>> {
  /** Fields beside those that options and arguments name. @throws UsageError when the options do not fit together */
  payload?(context: Context, options: object, ...args: readonly unknown[]): Partial<RequestInput<N>>;
  /** Renders the answer, unless JSON is wanted. */
  text(answer: Answer<N>, output: Output): Text;
  /** What else the answer leads to, such as the exit code and notes on standard error. */
  after?(context: Context, answer: Answer<N>, options: DaemonOptions & JsonOption): void | Promise<void>;
}

/** Declares a subcommand that makes one request, and prints its answer as text or with `--json` as it came. */
export const requesting = <N extends RequestName>(request: N, entry: RequestSubcommand<N>): Subcommand => ({
  ...entry,
  run: async (context, options: DaemonOptions & JsonOption, ...args) => {
    const fields = { ...fieldsOf(entry, { ...options }, args), ...entry.payload?.(context, options, ...args) };
    const answer = await withDaemon(options, context, (client) => client.request(request, fields as RequestInput<N>));
    await printAnswer(context, options, answer, (given, output) => entry.text(given, output));
    await entry.after?.(context, answer, options);
  },
});

/** The values of options and arguments by the fields of the request that have them. */
function fieldsOf(
  { arguments: args = [], options = [] }: Description,
  given: Readonly<Record<string, unknown>>,
  givenArgs: readonly unknown[],
): object {
  const ofArguments = args.map(([, , how], index) => [how?.field, givenArgs[index]]);
  const ofOptions = options.map(([flags, , how]) => [how?.field, given[new Option(flags).attributeName()]]);
  const entries = [...ofArguments, ...ofOptions].filter(([field, value]) => field !== undefined && !isEmpty(value));
  return Object.fromEntries(entries) as object;
}

/** Without words, an argument that takes several is an empty list. */
const isEmpty = (value: unknown): boolean => value === undefined || (Array.isArray(value) && value.length === 0);

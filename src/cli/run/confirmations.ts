import { createInterface } from 'node:readline';

import type { AdapterClient, CommandResult, ConfirmationInfo, EventPayload } from '../../client/index.js';
import type { RememberScope } from '../../core/remember-scopes.js';
import { printRestored } from '../files/checkpoints.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import { formatSpan, onOneLine, paint } from '../console/style.js';
import type { JsonOption } from '../console/subcommand.js';
import { commandLineFor, type Context } from '../console/context.js';
import { CommandLineError, EXIT } from '../console/failure.js';

/** A decision, as the command line gives it. */
interface GivenDecision extends DaemonOptions, JsonOption {
  readonly decision: 'approve' | 'reject';
  readonly justification?: string | undefined;
  readonly remember?: RememberScope | undefined;
}

/**
 * Decides a confirmation that is pending at this moment.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function decideConfirmation(
  context: Context,
  id: string,
  { decision, json, justification, remember, ...options }: GivenDecision,
): Promise<void> {
  await withDaemon(options, context, async (client) => {
    const asked = (await client.listConfirmations()).find((each) => each.confirmation_id === id);
    if (!asked) {
      throw new CommandLineError(`nothing waits for the confirmation ${id}`, {
        hint: `\`${commandLineFor(context, options)('confirm')}\` lists what waits for you. It may have expired, or need the token of an operator.`,
      });
    }
    const result = await client.confirm(id, { decision, commandSha256: asked.command_sha256, justification, remember });
    if (json === true) await context.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    else if (result.restored) await printRestored(context, commandLineFor(context, options), result.restored);
    else await printResult(context, client, asked, result);
    if (decision === 'approve' && asked.kind === 'command') context.exitWith(result.exit_code ?? 0);
  });
}

/** Prints the result of a decision. */
async function printResult(
  context: Context,
  client: AdapterClient,
  { confirmation_id: id, kind }: ConfirmationInfo,
  result: CommandResult,
): Promise<void> {
  if (result.status === 'denied') await context.stdout.write(`rejected ${id}\n`);
  else if (kind === 'file') await printFileAnswer(context, result);
  else if (kind === 'input') await context.stdout.write(`typed ${result.accepted_bytes ?? 0} bytes\n`);
  else await printOutput(context, client, result);
  await printRemembered(context, result);
}

/** Prints the answer to a request about files: what was read as it is, anything else as JSON. */
async function printFileAnswer({ stdout }: Context, { file = {} }: CommandResult): Promise<void> {
  const { data } = file;
  if (typeof data === 'string' || data instanceof Uint8Array) await stdout.write(data);
  else await stdout.write(`${JSON.stringify(file, null, 2)}\n`);
}

/** Prints on stderr what is remembered of an approval. */
async function printRemembered({ stderr }: Context, { remembered }: CommandResult): Promise<void> {
  if (!remembered) return;
  const { id, scope, pattern } = remembered;
  await stderr.write(`shell-adapter: remembered as ${id} (${scope}): ${onOneLine(pattern, Infinity)}\n`);
}

/** Prints the complete output of a command: its result may contain only the window that the request asked for. */
async function printOutput(
  { stdout, stderr }: Context,
  client: AdapterClient,
  { command_id }: CommandResult,
): Promise<void> {
  for (const stream of ['stdout', 'stderr'] as const) {
    for (let offset = 0, eof = false; !eof;) {
      const part = await client.request('read_output', { command_id, stream, offset });
      await (stream === 'stdout' ? stdout : stderr).write(part.data);
      offset += part.data.length;
      // Background jobs may print without end: stop at the current end of the output.
      eof = part.eof || part.data.length === 0;
    }
  }
}

/**
 * Describes a pending confirmation for the person who decides, line by line: nothing is truncated, and control
 * characters are escaped.
 */
export function describeQuestion(asked: ConfirmationInfo, now: number): string[] {
  const { command, args = [], stdin, env = {}, session_label: label, requires } = asked;
  const left = formatSpan(Date.parse(asked.expires_at) - now);
  const session = label ?? asked.session_id;
  // A part that is equal to the whole command needs no second line.
  const stopped = asked.commands.filter(({ action, command: text }) => action !== 'allow' && text !== command.trim());
  return [
    `Confirm ${KINDS[asked.kind]} (${asked.class}), requested by ${show(asked.requested_by)}; ${left} left`,
    ...asked.reasons.map((reason) => `  - ${show(reason)}`),
    `  in ${show(asked.working_directory)}${session === null ? '' : `, session ${show(session)}`}`,
    ...linesOf(command).map((line) => `  | ${line}`),
    ...args.map((arg) => `  argument: ${show(arg)}`),
    ...Object.entries(env).map(([name, value]) => `  variable: ${name}=${show(value)}`),
    ...(stdin === undefined ? [] : linesOf(stdin).map((line) => `  input: ${line}`)),
    ...stopped.map((part) => `  the part to confirm: ${show(part.command)} (${part.class})`),
    ...(asked.class === 'interactive' ? ['  Once it is confirmed, everything that is typed into it passes.'] : []),
    `  ${asked.confirmation_id}, to be confirmed by: ${requires}`,
  ];
}

const KINDS: Readonly<Record<ConfirmationInfo['kind'], string>> = {
  command: 'this command',
  input: 'this typed input',
  restore: 'this restore of the workspace',
  file: 'this request about files',
};

/** Escapes an untrusted text for one line. */
const show = (text: string): string => onOneLine(text, Infinity);

const linesOf = (text: string): string[] => text.split('\n').map(show);

/** Justification of a decision without a reason. */
const NO_REASON = 'decided at a terminal';

/** Parses a reply: `y` or `yes` approves, anything else rejects; a reason may follow. */
export function readReply(line: string): {
  readonly decision: 'approve' | 'reject';
  readonly justification: string;
} {
  const [, word = '', reason = ''] = /^\s*(\S*)\s*(.*?)\s*$/.exec(line) ?? [];
  const decision = /^y(?:es)?$/i.test(word) ? 'approve' : 'reject';
  return { decision, justification: reason === '' ? NO_REASON : reason };
}

/** The result of a command, or the exit code when there is no result. */
export type Outcome = CommandResult | number;

/** Outcome of a confirmation that ends while the person here is asked. */
type ElsewhereOutcome = EventPayload<'confirmation_resolved'>['outcome'];

/** Why nothing was run or typed. */
export const REFUSED_HERE = 'you have refused it';
export const ENDED_ELSEWHERE: Readonly<Record<Exclude<ElsewhereOutcome, 'approved'>, string>> = {
  rejected: 'another client has refused it',
  expired: 'it has expired',
  withdrawn: 'it was taken back',
  void: 'it is void: answers did not fit it',
};

/**
 * Asks a person about a confirmation while it is open.
 * @param read shows the question and reads a line; undefined once `ended` has resolved
 * @returns the reply, or how the confirmation has ended meanwhile
 */
export async function askWhileOpen(
  client: AdapterClient,
  id: string,
  read: (ended: Promise<undefined>) => Promise<string | undefined>,
): Promise<ReturnType<typeof readReply> | ElsewhereOutcome> {
  let outcome: ElsewhereOutcome | undefined;
  let unsubscribe: () => void = () => undefined;
  const ended = new Promise<undefined>((resolve) => {
    unsubscribe = client.on('confirmation_resolved', (event) => {
      if (event.confirmation_id !== id) return;
      outcome = event.outcome;
      resolve(undefined);
    });
  });
  try {
    const line = await read(ended);
    return outcome ?? (line === undefined ? 'expired' : readReply(line));
  } finally {
    unsubscribe();
  }
}

/** The next line that is typed at the terminal; empty at the end of its input. What was typed before is none. */
export function nextLine({ stdin }: Context): Disposable & { readonly line: Promise<string> } {
  // Not a terminal interface of readline, so that Ctrl-C stays a signal.
  const lines = createInterface({ input: stdin, terminal: false });
  const line = new Promise<string>((resolve) => {
    lines.once('line', resolve);
    lines.once('close', () => {
      resolve('');
    });
  });
  return {
    line,
    [Symbol.dispose]: () => {
      lines.close();
    },
  };
}

/**
 * Runs a command. If this client has to confirm it and has a terminal, asks the person there, then runs it.
 * @param start sends the command, each time with the same id, which makes the request idempotent
 * @param withdrawnCode exit code when the person cancels the question, for example with Ctrl-C
 * @throws ClientError
 */
export async function runOrAsk(
  context: Context,
  client: AdapterClient,
  start: () => Promise<Outcome>,
  withdrawnCode: number,
): Promise<Outcome> {
  const outcome = await start();
  if (typeof outcome === 'number' || !isForPerson(context, outcome)) return outcome;
  const { confirmation_id: id = '', command_sha256: commandSha256 } = outcome;
  const reply = await askWhileOpen(client, id, (ended) => askPerson(context, client, id, ended));
  if (reply === 'approved') return start();
  if (reply === 'withdrawn') return withdrawnCode;
  if (typeof reply === 'string') return refuse(context, ENDED_ELSEWHERE[reply]);
  const decided = client.confirm(id, { ...reply, commandSha256 });
  if (reply.decision === 'reject') {
    await decided;
    return refuse(context, REFUSED_HERE);
  }
  // The decision is answered with the result of the command, which a person at a terminal may leave before.
  const failed = decided.then(() => new Promise<never>(() => undefined));
  // With the same id this request joins the approved command, and receives its output.
  const joined = await Promise.race([start(), failed]);
  if (typeof joined !== 'number') await decided;
  return joined;
}

/** Whether this client has to confirm the command and has a terminal to ask at. */
const isForPerson = (context: Context, { status, requires }: CommandResult): boolean =>
  status === 'confirmation_required' && requires === 'self' && context.stdin.isTTY && context.stderr.isTerminal;

async function refuse({ stderr }: Context, why: string): Promise<number> {
  await stderr.write(`shell-adapter: not run: ${why}\n`);
  return EXIT.execDenied;
}

/** Shows the pending confirmation and reads one line; undefined when it is not open any more. */
async function askPerson(
  context: Context,
  client: AdapterClient,
  id: string,
  ended: Promise<undefined>,
): Promise<string | undefined> {
  const { stderr } = context;
  using typed = nextLine(context);
  const asked = (await client.listConfirmations()).find(({ confirmation_id }) => confirmation_id === id);
  if (!asked) return undefined;
  const [head = '', ...rest] = describeQuestion(asked, Date.now());
  await stderr.write([paint(stderr, 'bold', head), ...rest, 'run it? [y/N] (a reason may follow) '].join('\n'));
  const line = await Promise.race([typed.line, ended]);
  if (line === undefined) await stderr.write('\n');
  return line;
}

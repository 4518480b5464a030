import type { AdapterClient, CommandResult, ConfirmationInfo } from '../../client/index.js';
import type { Context } from '../console/context.js';
import { commandLineFor } from '../console/command-line.js';
import { printRestored } from '../checkpoints/restore-output.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { CommandLineError } from '../console/failure.js';
import { alignColumns } from '../console/columns.js';
import { formatSpan, onOneLine } from '../console/style.js';
import { withDaemon } from '../connect/with-daemon.js';

/** Options of the list. */
export interface ListOptions extends DaemonOptions {
  readonly json?: boolean;
}

/** Options of a decision. */
export interface DecideOptions extends DaemonOptions {
  readonly justification?: string;
  readonly remember?: 'session' | 'hour' | 'always';
  readonly json?: boolean;
}

/** Longest cell of the table, in characters. */
const MAX_CELL = 40;

/** Prints the pending confirmations. */
export async function listConfirmations(context: Context, { json, ...options }: ListOptions): Promise<void> {
  const confirmations = await withDaemon(options, context, (client) => client.listConfirmations());
  const text = json === true ? JSON.stringify({ confirmations }, null, 2) : renderTable(confirmations, Date.now());
  await context.stdout.write(`${text}\n`);
}

/**
 * Decides a confirmation that is pending at this moment.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function decideConfirmation(
  context: Context,
  id: string,
  decision: 'approve' | 'reject',
  { json, justification, remember, ...options }: DecideOptions,
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

function renderTable(confirmations: readonly ConfirmationInfo[], now: number): string {
  if (confirmations.length === 0) return 'Nothing waits for a confirmation.';
  const rows = confirmations.map((asked) => {
    const left = formatSpan(Date.parse(asked.expires_at) - now);
    const cells = [asked.requested_by, asked.working_directory, wordsOf(asked)].map((cell) =>
      onOneLine(cell, MAX_CELL),
    );
    return [asked.confirmation_id, asked.requires, asked.class, left, ...cells];
  });
  return alignColumns([['CONFIRMATION', 'BY WHOM', 'CLASS', 'LEFT', 'ASKED BY', 'DIRECTORY', 'COMMAND'], ...rows]).join(
    '\n',
  );
}

const wordsOf = ({ command, args = [] }: ConfirmationInfo): string => [command, ...args].join(' ');

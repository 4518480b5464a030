import { createInterface } from 'node:readline';

import type { AdapterClient, CommandResult, EventPayload } from '../../client/index.js';
import { describeQuestion, readReply } from './confirmation-text.js';
import type { Context } from '../console/context.js';
import { EXIT } from '../console/failure.js';
import { paint } from '../console/style.js';

/** The result of a command, or the exit code when there is no result. */
export type Outcome = CommandResult | number;

/** The reply of the person, or the outcome of a confirmation that ended without one. */
type Reply = ReturnType<typeof readReply> | EventPayload<'confirmation_resolved'>['outcome'];

/** Messages for confirmations that have ended without a reply. */
const ENDED: Partial<Record<string, string>> = {
  rejected: 'another client has refused it',
  expired: 'it has expired',
  void: 'it is void: answers did not fit it',
};

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
  const reply = await askPerson(context, client, id);
  if (reply === 'approved') return start();
  if (reply === 'withdrawn') return withdrawnCode;
  if (typeof reply === 'string') return refuse(context, ENDED[reply] ?? reply);
  const decided = client.confirm(id, { ...reply, commandSha256 });
  if (reply.decision === 'reject') {
    await decided;
    return refuse(context, 'you have refused it');
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

/** Shows the pending confirmation and reads one line. */
async function askPerson({ stdin, stderr }: Context, client: AdapterClient, id: string): Promise<Reply> {
  // Not a terminal interface of readline, so that Ctrl-C stays a signal. It starts reading before the question is
  // shown: earlier typed text is not an answer.
  const lines = createInterface({ input: stdin, terminal: false });
  let unsubscribe: () => void = () => undefined;
  try {
    const ended = new Promise<Reply>((resolve) => {
      unsubscribe = client.on('confirmation_resolved', ({ confirmation_id, outcome }) => {
        if (confirmation_id === id) resolve(outcome);
      });
    });
    const asked = (await client.listConfirmations()).find(({ confirmation_id }) => confirmation_id === id);
    if (!asked) return 'expired';
    const [head = '', ...rest] = describeQuestion(asked, Date.now());
    await stderr.write([paint(stderr, 'bold', head), ...rest, 'run it? [y/N] (a reason may follow) '].join('\n'));
    const replied = new Promise<Reply>((resolve) => {
      lines.once('line', (line) => {
        resolve(readReply(line));
      });
      lines.once('close', () => {
        resolve(readReply(''));
      });
    });
    const reply = await Promise.race([replied, ended]);
    if (typeof reply === 'string') await stderr.write('\n');
    return reply;
  } finally {
    unsubscribe();
    lines.close();
  }
}

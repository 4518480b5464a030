import { createInterface } from 'node:readline';

import type { AdapterClient, CommandResult, EventPayload } from '../../client/index.js';
import { describeQuestion, readReply } from './confirmation-text.js';
import type { Context } from '../console/context.js';
import { EXIT } from '../console/failure.js';
import { paint } from '../console/style.js';

/** The result of a command, or the exit code when there is none. */
export type Outcome = CommandResult | number;

/** What has become of a question: what the person says, or how it has ended without that. */
type Reply = ReturnType<typeof readReply> | EventPayload<'confirmation_resolved'>['outcome'];

/** What is said of questions that nobody can answer any more. */
const ENDED: Partial<Record<string, string>> = {
  rejected: 'somebody else has refused it',
  expired: 'it has expired',
  void: 'it is void: answers did not fit it',
};

/**
 * Runs a command; at a terminal asks the person there, when it is for this client to confirm it, and runs it then.
 * @param start sends the command, each time under the same id: the daemon knows it by that
 * @param withdrawnCode exit code when the person leaves the question, by Ctrl-C for instance
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
  // Under the same id this is the approved command: its output comes here.
  const [result] = await Promise.all([start(), decided]);
  return result;
}

/** Whether a command waits for a word of who has asked for it, and somebody is there to give it. */
const isForPerson = ({ stdin, stderr }: Context, { status, requires }: CommandResult): boolean =>
  status === 'confirmation_required' && requires === 'self' && stdin.isTTY && stderr.isTerminal;

async function refuse({ stderr }: Context, why: string): Promise<number> {
  await stderr.write(`shell-adapter: not run: ${why}\n`);
  return EXIT.execDenied;
}

/** Shows what waits, and reads one line. */
async function askPerson({ stdin, stderr }: Context, client: AdapterClient, id: string): Promise<Reply> {
  // Without a prompt of its own, Ctrl-C stays a signal. It reads before the question stands there: what was typed until
  // then answers nothing.
  const lines = createInterface({ input: stdin, terminal: false });
  let forget: () => void = () => undefined;
  try {
    const ended = new Promise<Reply>((resolve) => {
      forget = client.on('confirmation_resolved', ({ confirmation_id, outcome }) => {
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
    forget();
    lines.close();
  }
}

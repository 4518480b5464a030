import type { AdapterClient, ConfirmationRequiredError, EventPayload } from '../../client/index.js';
import { readReply } from '../confirmations/confirmation-text.js';
import type { ConnectedTerminal } from './interactive-terminal.js';
import { onOneLine } from '../console/style.js';

/** Longest reason that is printed, in characters. */
const MAX_REASON = 200;

/** Typed input was not delivered because it was not confirmed. */
class NotConfirmed extends Error {}

const ENDED: Record<EventPayload<'confirmation_resolved'>['outcome'], string> = {
  approved: 'it was confirmed elsewhere',
  rejected: 'it was refused elsewhere',
  expired: 'the question has expired',
  withdrawn: 'it was taken back',
  void: 'answers did not match the question',
};

/**
 * Asks the person at a terminal to confirm typed input, and types it if the answer is yes. Rejects when it was not
 * typed.
 */
export async function confirmInput(
  client: AdapterClient,
  terminal: ConnectedTerminal,
  { confirmation }: ConfirmationRequiredError,
): Promise<void> {
  const { confirmation_id: id, command_sha256: commandSha256 } = confirmation;
  let outcome: keyof typeof ENDED | undefined;
  let unsubscribe: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    unsubscribe = client.on('confirmation_resolved', (event) => {
      if (event.confirmation_id !== id) return;
      outcome = event.outcome;
      resolve();
    });
  });
  try {
    const line = await terminal.ask(linesOf(confirmation), ended);
    if (outcome === 'approved') return;
    if (line === undefined) throw new NotConfirmed(outcome && ENDED[outcome]);
    const reply = readReply(line);
    await client.confirm(id, { ...reply, commandSha256 });
    if (reply.decision === 'reject') throw new NotConfirmed('you have refused it');
  } finally {
    unsubscribe();
  }
}

function linesOf({ class: name, reasons }: ConfirmationRequiredError['confirmation']): string[] {
  const shown = reasons.map((reason) => `  ${onOneLine(reason, MAX_REASON)}`);
  return name === 'interactive'
    ? [
        'shell-adapter: the running command has started a program that executes what is typed:',
        ...shown,
        'Send this, and everything that is typed into this command? [y/N]',
      ]
    : ['shell-adapter: this line has to be confirmed before it is sent:', ...shown, 'Send it? [y/N]'];
}

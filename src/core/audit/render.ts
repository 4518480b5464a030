import type { SecretMask } from '../secrets/secret-mask.js';
import type { Hash } from './chain.js';
import type { AuditEvent } from './event.js';

/** The part of `SecretMask` that this module uses. */
type TextMask = Pick<SecretMask, 'text' | 'value'>;

/** Longest text of a command in a record, in characters: the hash covers the whole text. */
const MAX_COMMAND_CHARACTERS = 8192;

/** Renders the event-specific part of a record. Texts are masked, and the hash is that of the original. */
export function renderEvent(event: AuditEvent, mask: TextMask, hash: Hash): object {
  const { command, args, verdict, details } = event;
  return {
    event: event.event,
    principal: event.principal,
    from: event.from,
    request: event.request,
    session_id: event.session_id,
    command_id: event.command_id,
    outcome: event.outcome,
    ...(command !== undefined && renderCommand(mask.text(command))),
    command_sha256: command === undefined ? undefined : hash(command),
    ...(args && renderArguments(args.map(mask.text))),
    verdict: verdict && mask.value(verdict),
    details: details && mask.value(details),
  };
}

function renderCommand(text: string): { command: string; command_truncated?: true } {
  if (text.length <= MAX_COMMAND_CHARACTERS) return { command: text };
  return { command: text.slice(0, MAX_COMMAND_CHARACTERS), command_truncated: true };
}

function renderArguments(args: readonly string[]): { args: readonly string[]; args_truncated?: true } {
  let left = MAX_COMMAND_CHARACTERS;
  const shown = args.filter((arg) => (left -= arg.length + 1) >= 0);
  return shown.length === args.length ? { args } : { args: shown, args_truncated: true };
}

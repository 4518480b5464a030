import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';

/** A person's decision on a command. */
export interface OperatorDecision {
  readonly decision: 'approve' | 'reject';
  readonly justification: string | undefined;
}

/** Longest question to a person, in characters. A longer one is not asked: truncation would hide its end. */
const MAX_QUESTION = 4000;

/** Longest reason that a person can give, in characters; longer ones are truncated. */
const MAX_REASON = 500;

/**
 * Control characters, format characters and separators: invisible, or able to change the order in which text is shown.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Returns the form that asks the person at an MCP client about a command; undefined when the command is too long to be
 * shown completely.
 * @param payload the request of the command
 * @param terms the daemon's terms of its confirmation
 */
export function questionFor(
  payload: Readonly<Record<string, unknown>>,
  terms: Readonly<Record<string, unknown>>,
): ElicitRequestFormParams | undefined {
  const { command, args, env, stdin } = payload;
  const given = Object.entries({ args, env, stdin }).filter(([, value]) => value !== undefined);
  const lines = [
    'The agent wants to run a command that needs your approval:',
    '',
    visible(String(command)),
    ...given.map(([name, value]) => `${name}: ${visible(JSON.stringify(value))}`),
    '',
    `Directory: ${visible(String(terms['working_directory']))}`,
    `Reasons: ${visible((terms['reasons'] as readonly string[]).join('; '))}`,
  ];
  const message = lines.join('\n');
  if (message.length > MAX_QUESTION) return undefined;
  return {
    message,
    requestedSchema: {
      type: 'object',
      properties: {
        decision: { type: 'string', title: 'Run it?', enum: ['approve', 'reject'] },
        reason: { type: 'string', title: 'Why (optional)', maxLength: MAX_REASON },
      },
      required: ['decision'],
    },
  };
}

/**
 * Reads a client's answer to the form; undefined when the person has not decided. Only the word `approve` approves: a
 * form that is accepted without it, as by a client that accepts everything, does not.
 */
export function readDecision(answer: unknown): OperatorDecision | undefined {
  const { action, content } = (answer ?? {}) as { readonly action?: unknown; readonly content?: unknown };
  if (action === 'decline') return { decision: 'reject', justification: undefined };
  const { decision, reason } = (content ?? {}) as { readonly decision?: unknown; readonly reason?: unknown };
  if (action !== 'accept' || (decision !== 'approve' && decision !== 'reject')) return undefined;
  const justification = typeof reason === 'string' && reason !== '' ? reason.slice(0, MAX_REASON) : undefined;
  return { decision, justification };
}

/**
 * Makes all characters of a text visible: invisible ones are replaced by their code points; line breaks and tabs are
 * kept.
 */
const visible = (text: string): string =>
  text.replaceAll(UNSEEN, (character) =>
    character === '\n' || character === '\t' ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );

import type { PromptStyle } from './settings.js';

/** One message of a conversation. */
export interface LlmMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** The prompt for a tool, and the system prompt where the tool accepts a separate one. */
export interface ComposedPrompt {
  readonly prompt: string;
  readonly system: string | undefined;
}

const SEPARATOR = '\n\n';

const PREFIXES: Readonly<Record<PromptStyle, Readonly<Record<LlmMessage['role'], string>>>> = {
  plain: { system: 'System: ', user: '', assistant: 'Assistant: ' },
  labelled: { system: 'SYSTEM: ', user: 'USER: ', assistant: 'ASSISTANT: ' },
};

/**
 * Combines a conversation into one prompt. `plain` leaves the users' texts unchanged and keeps the order; `labelled`
 * puts the role before each message, the system messages first. A single question is unchanged in either style.
 * @param takesSystem whether the tool accepts a separate system prompt; otherwise it is the prompt's beginning
 */
export function composePrompt(
  messages: readonly LlmMessage[],
  style: PromptStyle,
  takesSystem: boolean,
): ComposedPrompt {
  const systems = messages.filter(({ role }) => role === 'system');
  const dialogue = messages.filter(({ role }) => role !== 'system');
  const isSeparate = takesSystem && systems.length > 0;
  const system = isSeparate ? join(systems.map(({ content }) => content)) : undefined;
  const inline = isSeparate ? dialogue : style === 'plain' ? messages : [...systems, ...dialogue];
  const [only] = inline;
  if (inline.length === 1 && only?.role === 'user') return { prompt: only.content, system };
  return { prompt: join(inline.map(({ role, content }) => PREFIXES[style][role] + content)), system };
}

const join = (texts: readonly string[]): string => texts.join(SEPARATOR);

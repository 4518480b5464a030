import type { PromptStyle } from './settings.js';

/** One message of a conversation. */
export interface LlmMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** What a tool is asked: the prompt, and the system prompt where the tool takes one of its own. */
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
 * Makes one prompt of a conversation. `plain` leaves what users say as it is and keeps the order; `labelled` says before
 * each message whose it is, the system's first. A question alone is given as it is in either style.
 * @param takesSystem whether the tool takes a system prompt of its own; otherwise it is the prompt's beginning
 */
export function composePrompt(
  messages: readonly LlmMessage[],
  style: PromptStyle,
  takesSystem: boolean,
): ComposedPrompt {
  const systems = messages.filter(({ role }) => role === 'system');
  const dialogue = messages.filter(({ role }) => role !== 'system');
  const isAside = takesSystem && systems.length > 0;
  const system = isAside ? join(systems.map(({ content }) => content)) : undefined;
  const inline = isAside ? dialogue : style === 'plain' ? messages : [...systems, ...dialogue];
  const [only] = inline;
  if (inline.length === 1 && only?.role === 'user') return { prompt: only.content, system };
  return { prompt: join(inline.map(({ role, content }) => PREFIXES[style][role] + content)), system };
}

const join = (texts: readonly string[]): string => texts.join(SEPARATOR);

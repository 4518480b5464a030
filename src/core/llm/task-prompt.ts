import type { LlmMessage } from './messages.js';

const SEPARATOR = '\n\n';
const TASK_HEADING = '--- USER TASK ---';

/**
 * The prompt of a run in a repository: its agent instructions, then the task. System messages precede the others, which
 * are labelled only if they include messages of an assistant.
 * @param instructions content of the agent file; undefined for none
 */
export function taskPrompt(instructions: string | undefined, messages: readonly LlmMessage[]): string {
  const systems = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  // A message in which a model has only called tools contains no text.
  const dialogue = messages.filter(({ role, content }) => role !== 'system' && content !== '');
  const isConversation = dialogue.some(({ role }) => role === 'assistant');
  const turns = dialogue.map(({ role, content }) => (isConversation ? `${role.toUpperCase()}: ${content}` : content));
  const task = [...systems, ...turns].join(SEPARATOR);
  return instructions === undefined ? task : `${instructions.trimEnd()}${SEPARATOR}${TASK_HEADING}\n${task}`;
}

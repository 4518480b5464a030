import type { RequestName } from '../protocol/requests.js';
import { auditRequests } from '../protocol/requests/audit.js';
import { checkpointRequests } from '../protocol/requests/checkpoints.js';
import { commandRequests } from '../protocol/requests/commands.js';
import { confirmationRequests } from '../protocol/requests/confirmations.js';
import { fileSearchRequests } from '../protocol/requests/file-search.js';
import { fileRequests } from '../protocol/requests/files.js';
import { llmRequests } from '../protocol/requests/llm.js';
import { recordingRequests } from '../protocol/requests/recordings.js';
import { sessionRequests } from '../protocol/requests/sessions.js';
import { terminalRequests } from '../protocol/requests/terminal.js';
import { tokenRequests } from '../protocol/requests/tokens.js';
import { waitingRequests } from '../protocol/requests/waiting.js';
import { watchingRequests } from '../protocol/requests/watching.js';

/** A group of requests in the description. */
interface Tag {
  readonly name: string;
  readonly description: string;
  readonly requests: readonly object[];
}

/** Groups of requests; what is in none of the others is in the last. */
export const TAGS: readonly Tag[] = [
  { name: 'sessions', description: 'Persistent shells', requests: [sessionRequests] },
  {
    name: 'commands',
    description: 'Commands, their output and their input',
    requests: [commandRequests, terminalRequests],
  },
  {
    name: 'files',
    description: 'Files as commands see them',
    requests: [fileRequests, fileSearchRequests, watchingRequests],
  },
  { name: 'waiting', description: 'Waiting for ports, files and output', requests: [waitingRequests] },
  { name: 'confirmations', description: 'What has to be confirmed', requests: [confirmationRequests] },
  { name: 'checkpoints', description: 'Saved states of the workspace', requests: [checkpointRequests] },
  { name: 'recordings', description: 'Recorded terminals', requests: [recordingRequests] },
  { name: 'llm', description: 'Calls of language models', requests: [llmRequests] },
  { name: 'access', description: 'Tokens, and the audit log', requests: [tokenRequests, auditRequests] },
  { name: 'daemon', description: 'The daemon, its machine, and what a client is told of them', requests: [] },
];

/** The tag of a request. */
export const tagOf = (name: RequestName): string =>
  TAGS.find(({ requests }) => requests.some((group) => Object.hasOwn(group, name)))?.name ?? 'daemon';

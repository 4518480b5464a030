import type { z } from 'zod';

import { auditRequests } from './requests/audit.js';
import { checkpointRequests } from './requests/checkpoints.js';
import { commandRequests } from './requests/commands.js';
import { confirmationRequests } from './requests/confirmations.js';
import { daemonRequests } from './requests/daemon.js';
import { dashboardRequests } from './requests/dashboard.js';
import { fileSearchRequests } from './requests/file-search.js';
import { fileRequests } from './requests/files.js';
import { llmRequests } from './requests/llm.js';
import { nodeRequests } from './requests/nodes.js';
import { machineRequests } from './requests/machine.js';
import { recordingRequests } from './requests/recordings.js';
import { sessionRequests } from './requests/sessions.js';
import { subscriptionRequests } from './requests/subscriptions.js';
import { terminalRequests } from './requests/terminal.js';
import { waitingRequests } from './requests/waiting.js';
import { watchingRequests } from './requests/watching.js';
import { tokenRequests } from './requests/tokens.js';

export type { CommandInput, CommandRequest } from './requests/commands.js';
export type { SessionRequest } from './requests/sessions.js';
export type { TypedInput } from './requests/terminal.js';

/**
 * All requests of the protocol with their input and output schemas, in the order of the documentation. Server and
 * client types, the documentation and the tool schemas are derived from this table alone.
 */
export const requests = {
  ...sessionRequests,
  ...commandRequests,
  ...terminalRequests,
  ...confirmationRequests,
  ...recordingRequests,
  ...checkpointRequests,
  ...fileRequests,
  ...fileSearchRequests,
  ...waitingRequests,
  ...watchingRequests,
  ...llmRequests,
  ...auditRequests,
  ...tokenRequests,
  ...daemonRequests,
  ...machineRequests,
  ...subscriptionRequests,
  ...dashboardRequests,
  ...nodeRequests,
} as const;

/** Name of a request. */
export type RequestName = keyof typeof requests;

/** Payload of a request as a client sends it. */
export type RequestInput<N extends RequestName> = z.input<(typeof requests)[N]['input']>;

/** Payload of a request after parsing, as handlers receive it. */
export type Request<N extends RequestName> = z.output<(typeof requests)[N]['input']>;

/** Answer to a request. */
export type Answer<N extends RequestName> = z.output<(typeof requests)[N]['output']>;

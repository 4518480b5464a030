import type { CallToolResult, ElicitRequestFormParams, InputRequiredResult } from '@modelcontextprotocol/server';

import { linkSignals, onAbort } from '../../core/abort.js';
import { commandIdFrom, ID_BYTES } from '../../core/ids.js';
import { terminate } from '../../core/signals.js';
import { toolAnswer, type ToolError, toolFailure } from '../../core/tools/answer.js';
import type { Tool } from '../../core/tools/tool.js';
import { type RequestName, requests } from '../../core/protocol/requests.js';
import type { TraceCarrier } from '../../core/traces.js';
import type { StartDirectory } from './start-directory.js';

/** The result of a request: the daemon's answer, or an error. */
export type Reply = object | { readonly error: ToolError };

/**
 * Makes a request, in the daemon itself or as a client of one. Never rejects.
 * @param trace the trace that the request belongs to; undefined for that of the connection, if any
 */
export type Ask = (name: RequestName, payload: Payload, trace?: TraceCarrier) => Promise<Reply>;

/** A person's decision on a command. */
interface OperatorDecision {
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

/** Progress of a command. */
export interface Progress {
  /** Time since its start, in seconds. */
  readonly seconds: number;
  /** The last line that it has printed. */
  readonly message: string;
}

/** Interval of progress reports, in milliseconds. */
const PROGRESS_MS = 1000;

/** Longest line in a progress report, in characters; longer ones are truncated. */
const MAX_MESSAGE = 200;

/** Reports the progress of a command every second, until disposed. */
function reportProgress(commandId: string, ask: Ask, onProgress: (progress: Progress) => void): Disposable {
  const startedAt = performance.now();
  const timer = setInterval(() => {
    void ask('wait_command', { command_id: commandId, timeout_ms: 0 }).then((reply) => {
      // The command has ended, or waits for a confirmation.
      if ('error' in reply || !('stdout' in reply)) return;
      onProgress({ seconds: (performance.now() - startedAt) / 1000, message: lastLineOf(String(reply.stdout)) });
    });
  }, PROGRESS_MS);
  return {
    [Symbol.dispose]: () => {
      clearInterval(timer);
    },
  };
}

/** The last line that is not blank, without control characters. */
function lastLineOf(output: string): string {
  const lines = output.split(/[\r\n]+/).filter((line) => line.trim() !== '');
  return (lines.at(-1) ?? 'running').replace(/\p{Cc}/gu, '').slice(0, MAX_MESSAGE);
}

/** A command that waits for the decision of a person. */
export interface WaitingCommand {
  readonly commandId: string;
  /** The request of the command. */
  readonly payload: Payload;
  /** The daemon's terms of its confirmation. */
  readonly terms: Payload;
}

type Payload = Readonly<Record<string, unknown>>;

/** A call of a tool, with what its client and its server have. */
export interface ToolCall {
  readonly tool: Tool;
  /** True for the tools that the model has. */
  readonly has: (tool: string) => boolean;
  readonly ask: Ask;
  readonly start: StartDirectory;
  /** Aborted when the answer is no longer needed. */
  readonly signal: AbortSignal;
  /** Aborted when no connection is left to deliver the answer: it ends one-shot commands. */
  readonly orphaned: AbortSignal | undefined;
  /** Called every second with the command's progress; undefined when the client has not requested it. */
  readonly onProgress: ((progress: Progress) => void) | undefined;
  /** Gives the client's answer to `roots/list`; undefined for a client without roots. */
  readonly askRoots: () => Promise<unknown>;
  /**
   * Makes the client ask its person about a command that an operator has to confirm; undefined where it cannot. It gives
   * undefined for a command that cannot be shown.
   */
  readonly askPerson: ((waiting: WaitingCommand) => Promise<InputRequiredResult | undefined>) | undefined;
}

/** Makes the request of a tool, with arguments that were parsed, and answers for a model. */
export async function makeCall(call: ToolCall, args: Payload): Promise<CallToolResult | InputRequiredResult> {
  const { tool, start, ask, askRoots, askPerson } = call;
  const wanted = tool.toPayload(args);
  let payload = await start.place(tool, wanted, ask, askRoots);
  let reply = await makeRequest(call, payload);
  if ('error' in reply && wanted['cwd'] === undefined && isAbout(reply.error, payload['cwd'])) {
    start.noteUnusable(String(payload['cwd']), reply.error.message);
    payload = wanted;
    reply = await makeRequest(call, payload);
  }
  const allowed = 'error' in reply ? allowedDefault(args, reply.error) : undefined;
  if (allowed) reply = await makeRequest(call, { ...payload, ...allowed });
  if (!('terms' in reply)) return resultOf(call, payload, reply);
  const waiting = reply as WaitingCommand;
  return (await askPerson?.(waiting)) ?? continueWaiting(call, waiting);
}

/**
 * Continues with a command after the person at the client was asked: submits the decision on behalf of the operator,
 * and waits for the result. Without a decision the command waits until another operator decides or the confirmation
 * expires.
 */
export async function continueWaiting(
  call: ToolCall,
  { commandId, payload, terms }: WaitingCommand,
  decided?: { readonly decision: OperatorDecision | undefined; readonly operator: Ask },
): Promise<CallToolResult> {
  if (decided?.decision) {
    const { decision, operator } = decided;
    const { confirmation_id, command_sha256 } = terms;
    const reply = await operator('confirm_command', { confirmation_id, command_sha256, ...decision });
    if ('error' in reply || decision.decision === 'reject') return resultOf(call, payload, reply);
  }
  const timeout = payload['background'] === true ? { timeout_ms: 0 } : {};
  const reply = await watched(call, commandId, payload, () =>
    call.ask('wait_command', { command_id: commandId, ...timeout }),
  );
  return resultOf(call, payload, reply);
}

/**
 * Formats a reply for a model. Text only: `structuredContent` would double each message, and only tools with an output
 * schema need it.
 */
export function resultOf({ tool, has, start }: ToolCall, payload: Payload, reply: Reply): CallToolResult {
  const notes = start.takeNotes();
  const facts = { tool: tool.name, payload, has, note: notes.length > 0 ? notes.join('; ') : undefined };
  const isError = 'error' in reply;
  const answer = isError ? toolFailure(reply.error, facts) : toolAnswer(reply, facts);
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], ...(isError && { isError }) };
}

const isAbout = ({ code, details }: ToolError, directory: unknown): boolean =>
  code === 'BAD_DIRECTORY' && directory !== undefined && details?.['directory'] === directory;

/** Arguments to retry with when a tool's own default exceeds the daemon's maximum; undefined for any other error. */
function allowedDefault(args: Payload, { details: { field, max } = {} }: ToolError): object | undefined {
  if (field !== 'timeout_ms' || args[field] !== undefined || max === undefined) return undefined;
  return { [field]: max };
}

function makeRequest(call: ToolCall, payload: Payload): Promise<Reply> {
  const { tool, ask } = call;
  if (requests[tool.request].begins !== 'command_id') return ask(tool.request, payload);
  // With an id of its own, a command can be observed, ended, and found again after a lost connection.
  const command_id = commandIdFrom(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
  return watched(call, command_id, payload, async () => {
    const request = { ...payload, command_id };
    const reply = await (call.askPerson ? runAskable(call, command_id, request) : ask(tool.request, request));
    return 'error' in reply && reply.error.code === 'CONNECTION_LOST' ? withCommandId(reply.error, command_id) : reply;
  });
}

/** Runs a command so that a confirmation by an operator is returned as an answer, without waiting. */
async function runAskable({ tool, ask }: ToolCall, commandId: string, payload: Payload): Promise<Reply> {
  const begun = await ask(tool.request, { ...payload, background: true });
  const { status, requires } = begun as Payload;
  if (status === 'confirmation_required' && requires === 'operator') return { commandId, payload, terms: begun };
  const isAnswer = 'error' in begun || payload['background'] === true || requires === 'self';
  return isAnswer ? begun : ask('wait_command', { command_id: commandId });
}

const withCommandId = (error: ToolError, command_id: string): Reply => ({
  error: { ...error, details: { ...error.details, command_id } },
});

/** Waits for a command; ends it when the answer is no longer needed. */
async function watched(
  { ask, signal, orphaned, onProgress }: ToolCall,
  commandId: string,
  payload: Payload,
  run: () => Promise<Reply>,
): Promise<Reply> {
  const ended = run();
  const isOneShot = payload['session_id'] === undefined;
  const end = () => {
    const send = async (name: string) => {
      const reply = await ask('signal_command', { command_id: commandId, signal: name });
      return !('error' in reply);
    };
    void terminate(send, ended);
  };
  using stops = linkSignals(signal, isOneShot ? orphaned : undefined);
  onAbort(stops.signal, end);
  const progress = onProgress && reportProgress(commandId, ask, onProgress);
  try {
    return await ended;
  } finally {
    progress?.[Symbol.dispose]();
  }
}

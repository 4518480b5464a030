import { linkSignals, onAbort } from '../../core/abort.js';
import { commandIdFrom, ID_BYTES } from '../../core/ids.js';
import { terminate } from '../../core/termination.js';
import { type ToolAnswer, toolAnswer, type ToolError, toolFailure } from '../../core/tools/answer.js';
import type { CallFacts } from '../../core/tools/next-step.js';
import type { Tool } from '../../core/tools/tool.js';
import type { OperatorDecision } from './operator-question.js';
import { type Progress, reportProgress } from './progress.js';
import type { StartDirectory } from './start-directory.js';
import type { Reply, ToolBackend } from './tool-backend.js';

/** Signals and callbacks of the client that waits for a call. */
interface ToolListener {
  /** Aborted when the answer is no longer needed. */
  readonly signal: AbortSignal;
  /** Aborted when no connection is left to deliver the answer: it ends one-shot commands. */
  readonly orphaned: AbortSignal | undefined;
  /** Called every second with the command's progress; undefined when the client has not requested it. */
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** Context of the calls of one client. */
export interface CallContext {
  readonly backend: ToolBackend;
  readonly start: StartDirectory;
  readonly listener: ToolListener;
  /** True for the tools that the model has. */
  readonly has: (tool: string) => boolean;
  /** True when the person at the client can be asked what an operator has to confirm. */
  readonly canAsk: boolean;
}

/** The result of a call. */
export interface ToolOutcome {
  readonly isError: boolean;
  readonly answer: ToolAnswer;
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

/**
 * Makes the request of a tool.
 * @param args parsed arguments
 * @returns the answer for a model, or, with `canAsk`, a command that the person at the client has to decide on
 */
export async function callTool(tool: Tool, args: Payload, context: CallContext): Promise<ToolOutcome | WaitingCommand> {
  const { start, backend } = context;
  const wanted = tool.toPayload(args);
  const placed = await start.place(tool, wanted, backend);
  let payload = placed.payload;
  let reply = await makeRequest(tool, payload, context);
  if ('error' in reply && placed.filledIn !== undefined && isAbout(reply.error, placed.filledIn)) {
    start.noteUnusable(placed.filledIn, reply.error.message);
    payload = wanted;
    reply = await makeRequest(tool, payload, context);
  }
  const allowed = 'error' in reply ? allowedDefault(args, reply.error) : undefined;
  if (allowed) reply = await makeRequest(tool, { ...payload, ...allowed }, context);
  if ('terms' in reply) return reply as WaitingCommand;
  return outcomeOf(reply, { tool: tool.name, payload, has: context.has }, start);
}

/**
 * Continues with a command after the person at the client was asked: submits the decision on behalf of the operator,
 * and waits for the result. Without a decision the command waits until another operator decides or the confirmation
 * expires.
 */
export async function continueWaiting(
  tool: Tool,
  { commandId, payload, terms }: WaitingCommand,
  answered: { readonly decision: OperatorDecision | undefined; readonly operator: ToolBackend },
  context: CallContext,
): Promise<ToolOutcome> {
  const { backend, has, start } = context;
  const facts = { tool: tool.name, payload, has };
  const { decision, operator } = answered;
  if (decision) {
    const { confirmation_id, command_sha256 } = terms;
    const decided = await operator.request('confirm_command', { confirmation_id, command_sha256, ...decision });
    if ('error' in decided || decision.decision === 'reject') return outcomeOf(decided, facts, start);
  }
  const timeout = payload['background'] === true ? { timeout_ms: 0 } : {};
  const reply = await watched(commandId, payload, context, () =>
    backend.request('wait_command', { command_id: commandId, ...timeout }),
  );
  return outcomeOf(reply, facts, start);
}

function outcomeOf(reply: Reply, facts: CallFacts, start: StartDirectory): ToolOutcome {
  const notes = start.takeNotes();
  const described = { ...facts, note: notes.length > 0 ? notes.join('; ') : undefined };
  if ('error' in reply) return { isError: true, answer: toolFailure(reply.error, described) };
  return { isError: false, answer: toolAnswer(reply, described) };
}

const isAbout = ({ code, details }: ToolError, directory: string): boolean =>
  code === 'BAD_DIRECTORY' && details?.['directory'] === directory;

/** Arguments to retry with when a tool's own default exceeds the daemon's maximum; undefined for any other error. */
function allowedDefault(args: Payload, { details: { field, max } = {} }: ToolError): object | undefined {
  if (field !== 'timeout_ms' || args[field] !== undefined || max === undefined) return undefined;
  return { [field]: max };
}

function makeRequest(tool: Tool, payload: Payload, context: CallContext): Promise<Reply> {
  if (tool.request !== 'execute_command') return context.backend.request(tool.request, payload);
  // With an id of its own, a command can be observed, ended, and found again after a lost connection.
  const command_id = commandIdFrom(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
  return watched(command_id, payload, context, async () => {
    const run = context.canAsk ? runAskable : runPlainly;
    const reply = await run({ ...payload, command_id }, context.backend);
    return 'error' in reply && reply.error.code === 'CONNECTION_LOST' ? withCommandId(reply.error, command_id) : reply;
  });
}

const runPlainly = (payload: Payload, backend: ToolBackend): Promise<Reply> =>
  backend.request('execute_command', payload);

/** Runs a command so that a confirmation by an operator is returned as an answer, without waiting. */
async function runAskable(payload: Payload, backend: ToolBackend): Promise<Reply> {
  const begun = await backend.request('execute_command', { ...payload, background: true });
  const { status, requires } = begun as Payload;
  const commandId = String(payload['command_id']);
  if (status === 'confirmation_required' && requires === 'operator') return { commandId, payload, terms: begun };
  const isAnswer = 'error' in begun || payload['background'] === true || requires === 'self';
  return isAnswer ? begun : backend.request('wait_command', { command_id: commandId });
}

const withCommandId = (error: ToolError, command_id: string): Reply => ({
  error: { ...error, details: { ...error.details, command_id } },
});

/** Waits for a command; ends it when the answer is no longer needed. */
async function watched(
  commandId: string,
  payload: Payload,
  { backend, listener }: CallContext,
  run: () => Promise<Reply>,
): Promise<Reply> {
  const { signal, orphaned, onProgress } = listener;
  const ended = run();
  const isOneShot = payload['session_id'] === undefined;
  const end = () => {
    const send = async (name: string) => {
      const reply = await backend.request('signal_command', { command_id: commandId, signal: name });
      return !('error' in reply);
    };
    void terminate(send, ended);
  };
  using stops = linkSignals(signal, isOneShot ? orphaned : undefined);
  onAbort(stops.signal, end);
  const progress = onProgress && reportProgress(commandId, backend, onProgress);
  try {
    return await ended;
  } finally {
    progress?.[Symbol.dispose]();
  }
}

import { AdapterError } from '../../core/errors.js';
import { commandIdFrom, ID_BYTES } from '../../core/ids.js';
import { parsePayload } from '../../core/protocol/problems.js';
import type { RequestName } from '../../core/protocol/requests.js';
import { terminate } from '../../core/termination.js';
import { type ToolAnswer, toolAnswer, type ToolError, toolFailure } from '../../core/tools/answer.js';
import type { Tool } from '../../core/tools/tool.js';

/** What has the requests of tools done: the daemon itself, or a client of one. */
export interface ToolBackend {
  /** Makes a request; gives its answer or its error. Never rejects. */
  request(name: RequestName, payload: unknown): Promise<object | { readonly error: ToolError }>;
}

/** Who waits for a tool. */
export interface ToolListener {
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal;
  /** Told now and then how a command gets on; undefined when nobody asks. */
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** How a command gets on. */
export interface Progress {
  /** Since its start. */
  readonly seconds: number;
  /** The last line that it has printed. */
  readonly message: string;
}

/** What came of a call. */
export interface ToolOutcome {
  readonly isError: boolean;
  readonly answer: ToolAnswer;
}

/** How often progress is told, in milliseconds. */
const PROGRESS_MS = 1000;

/** Longest line that is told as progress, in characters. */
const MAX_MESSAGE = 200;

/** Calls a tool. Never rejects: what is wrong with the arguments is an answer that a model can act on. */
export async function callTool(
  tool: Tool,
  args: unknown,
  backend: ToolBackend,
  listener: ToolListener,
): Promise<ToolOutcome> {
  try {
    const given = parsePayload(tool.input, tool.name, args);
    const payload = tool.toPayload(given);
    const make = (what: object) =>
      tool.request === 'execute_command' ? runCommand(what, backend, listener) : backend.request(tool.request, what);
    let reply = await make(payload);
    const allowed = 'error' in reply ? allowedDefault(tool, given, reply.error) : undefined;
    if (allowed) reply = await make({ ...payload, ...allowed });
    if ('error' in reply) return { isError: true, answer: toolFailure(reply.error, tool.renamed) };
    return { isError: false, answer: toolAnswer(reply) };
  } catch (error) {
    if (error instanceof AdapterError) return { isError: true, answer: toolFailure(error.toBody()) };
    throw error;
  }
}

/** What to ask for instead of a default of the tool that is more than the daemon allows; undefined when it was not that. */
function allowedDefault(
  { renamed }: Tool,
  given: Readonly<Record<string, unknown>>,
  { details: { field, max } = {} }: ToolError,
): object | undefined {
  const name = typeof field === 'string' ? renamed[field] : undefined;
  if (name === undefined || given[name] !== undefined || max === undefined) return undefined;
  return { [String(field)]: max };
}

/** Runs a command under an id of our own, by which it is watched, and ended when nobody wants its result any more. */
async function runCommand(
  payload: object,
  backend: ToolBackend,
  { signal, onProgress }: ToolListener,
): Promise<object> {
  const command_id = commandIdFrom(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
  const ended = backend.request('execute_command', { ...payload, command_id });
  const end = () => {
    const send = async (name: string) => {
      const reply = await backend.request('signal_command', { command_id, signal: name });
      return !('error' in reply);
    };
    void terminate(send, ended);
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  const progress = onProgress && reportProgress(command_id, backend, onProgress);
  try {
    return await ended;
  } finally {
    signal.removeEventListener('abort', end);
    progress?.[Symbol.dispose]();
  }
}

/** Tells every second how a command gets on, until it is disposed. */
function reportProgress(commandId: string, backend: ToolBackend, onProgress: (progress: Progress) => void): Disposable {
  const startedAt = performance.now();
  const timer = setInterval(() => {
    void backend.request('wait_command', { command_id: commandId, timeout_ms: 0 }).then((reply) => {
      // Its result has gone its way, or it waits for a confirmation.
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

/** The last line with something in it, without the characters that do something to a terminal. */
function lastLineOf(output: string): string {
  const lines = output.split(/[\r\n]+/).filter((line) => line.trim() !== '');
  return (lines.at(-1) ?? 'running').replace(/\p{Cc}/gu, '').slice(0, MAX_MESSAGE);
}

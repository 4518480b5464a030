import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  inputRequired,
  type InputRequiredResult,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';

import type { Role } from '../../core/principal.js';
import { AdapterError } from '../../core/errors.js';
import { rolesFor } from '../../core/protocol/permissions.js';
import type { RequestName } from '../../core/protocol/requests.js';
import { type ToolError, toolFailure } from '../../core/tools/answer.js';
import { parseArguments, toolInstructions } from '../../core/tools/call-arguments.js';
import { findTool, TOOL_SETS } from '../../core/tools/tools.js';
import type { ToolSet } from '../../core/tools/tool-sets.js';
import type { Tool } from '../../core/tools/tool.js';
import type { TraceCarrier } from '../../core/traces.js';
import type { StartDirectory } from './start-directory.js';
import {
  type CallContext,
  callTool,
  continueWaiting,
  type Progress,
  questionFor,
  readDecision,
  type ToolOutcome,
  type WaitingCommand,
} from './tool-call.js';

/** The result of a request: the daemon's answer, or an error. */
export type Reply = object | { readonly error: ToolError };

/** Executes the requests of tools: the daemon itself, or a client of one. */
export interface ToolBackend {
  /** Makes a request; returns its answer or its error. Never rejects. */
  request(name: RequestName, payload: unknown): Promise<Reply>;
  /** Returns the same backend for requests that belong to a trace. Undefined where traces are not passed on. */
  within?(trace: TraceCarrier): ToolBackend;
}

/** Lets an operator decide at an MCP client. */
export interface OperatorAccess {
  /** Decides with the operator's own token: the daemon lets no principal confirm its own request as an operator. */
  readonly backend: ToolBackend;
  /** Seals the state that a client returns after it has asked the person. */
  readonly codec: RequestStateCodec<WaitingCommand>;
}

/** Options of an MCP server. */
interface McpServerOptions {
  readonly backend: ToolBackend;
  /** Version of the adapter. */
  readonly version: string;
  /** Role of the client's token: tools it may not call are not listed. Undefined when the role is unknown. */
  readonly role: Role | undefined;
  /** Tool set that is offered. */
  readonly tools: ToolSet;
  readonly start: StartDirectory;
  /** Undefined without an operator's token: operators then decide elsewhere. */
  readonly operator: OperatorAccess | undefined;
  /** Returns a signal that is aborted when the client has been disconnected for a while: it ends one-shot commands. */
  readonly orphaned?: () => AbortSignal;
}

/** Timeout for the client's answer to `roots/list`, in milliseconds. */
const ROOTS_MS = 1000;

/** Key of the question to the person in the requests that a client has to answer. */
const QUESTION = 'decision';

/** Creates a codec for `OperatorAccess`; its key lives as long as the process. */
export const createCodec = (): RequestStateCodec<WaitingCommand> =>
  createRequestStateCodec<WaitingCommand>({ key: crypto.getRandomValues(new Uint8Array(32)) });

/**
 * Creates an MCP server with the adapter's tools, for one connection or one exchange. The caller connects it to a
 * transport.
 */
export function createMcpServer(options: McpServerOptions): McpServer {
  const { version, role, start, operator } = options;
  const tools = TOOL_SETS[options.tools].filter(
    ({ request }) => role === undefined || rolesFor(request).includes(role),
  );
  const mcp = new McpServer(
    { name: 'shell-adapter', title: 'Shell commands', version },
    {
      capabilities: { tools: {} },
      instructions: toolInstructions(options.tools, start.words),
      ...(operator && { requestState: { verify: (state, ctx) => operator.codec.verify(state, ctx) } }),
    },
  );
  // The tools have former names and argument types that `registerTool` does not support.
  const { server } = mcp;
  server.setRequestHandler('tools/list', () => ({ tools: tools.map((tool) => listed(tool, start.words)) }));
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: args } }, ctx) => {
    const tool = findTool(name, tools);
    if (!tool) throw unknownTool(name, tools);
    return call(tool, args, ctx, { server, options, tools });
  });
  server.setNotificationHandler('notifications/roots/list_changed', () => {
    start.forgetRoots();
  });
  return mcp;
}

/** Describes a tool for `tools/list`. */
const listed = (tool: Tool, start: string) => ({
  name: tool.name,
  title: tool.title,
  description: tool.describe(start),
  inputSchema: tool.schema,
  annotations: tool.hints,
  // Claude Code loads the other tools when it searches for them.
  ...(tool.isMain && { _meta: { 'anthropic/alwaysLoad': true } }),
});

function unknownTool(name: string, tools: readonly Tool[]): ProtocolError {
  const names = tools.map((tool) => tool.name).join(', ');
  const elsewhere = findTool(name) ? ' (it is one of the tools of `--tools all`)' : '';
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${name} not found${elsewhere}; there are ${names}`);
}

/** State shared by the calls of one server. */
interface Serving {
  readonly server: McpServer['server'];
  readonly options: McpServerOptions;
  readonly tools: readonly Tool[];
}

/** Context of one call, with the means to ask its client. */
interface ServedCall extends CallContext {
  readonly ctx: ServerContext;
  readonly capabilities: ClientCapabilities;
  readonly operator: OperatorAccess | undefined;
}

async function call(
  tool: Tool,
  args: unknown,
  ctx: ServerContext,
  serving: Serving,
): Promise<CallToolResult | InputRequiredResult> {
  const { start, operator, orphaned } = serving.options;
  const backend = tracedBackend(serving.options.backend, ctx.mcpReq);
  const has = (name: string) => findTool(name, serving.tools) !== undefined;
  const capabilities = capabilitiesOf(ctx, serving.server);
  const canAsk = operator !== undefined && canShowForms(capabilities);
  const listener = { signal: ctx.mcpReq.signal, orphaned: orphaned?.(), onProgress: progressOf(ctx.mcpReq) };
  try {
    return await answer(tool, args, { backend, start, listener, has, canAsk, ctx, capabilities, operator });
  } catch (error) {
    if (!(error instanceof AdapterError)) throw error;
    return render({ isError: true, answer: toolFailure(error.toBody(), { tool: tool.name, payload: {}, has }) });
  }
}

/** MCP names the trace of a request in `_meta`. Source: SEP-414 of the Model Context Protocol. */
function tracedBackend(backend: ToolBackend, { _meta }: ServerContext['mcpReq']): ToolBackend {
  const { traceparent, tracestate } = (_meta ?? {}) as TraceCarrier;
  return (traceparent === undefined ? undefined : backend.within?.({ traceparent, tracestate })) ?? backend;
}

/** Answers a call, or continues one for which the person at the client was asked. */
async function answer(tool: Tool, args: unknown, context: ServedCall): Promise<CallToolResult | InputRequiredResult> {
  const { start, ctx, operator } = context;
  const given = parseArguments(tool, args);
  const waiting = operator && ctx.mcpReq.requestState<WaitingCommand>();
  if (waiting) {
    const decision = readDecision(ctx.mcpReq.inputResponses?.[QUESTION]);
    return render(await continueWaiting(tool, waiting, { decision, operator: operator.backend }, context));
  }
  if (start.needsRoots && start.concerns(tool, given)) await askRoots(ctx, context.capabilities, start);
  const outcome = await callTool(tool, given, context);
  if (!('terms' in outcome)) return render(outcome);
  if (!operator) throw new AdapterError('INTERNAL', 'a command waits for an operator who cannot be asked here');
  return ask(tool, outcome, { ...context, operator });
}

/** Makes the client ask its person; a question that is too long is left to another operator. */
async function ask(
  tool: Tool,
  waiting: WaitingCommand,
  context: ServedCall & { readonly operator: OperatorAccess },
): Promise<CallToolResult | InputRequiredResult> {
  const { operator, ctx } = context;
  const question = questionFor(waiting.payload, waiting.terms);
  if (!question) {
    return render(await continueWaiting(tool, waiting, { decision: undefined, operator: operator.backend }, context));
  }
  return inputRequired({
    inputRequests: { [QUESTION]: inputRequired.elicit(question) },
    requestState: await operator.codec.mint(waiting, ctx),
  });
}

/**
 * Requests the client's roots. Only clients of revisions before 2026-07-28 can be asked while they wait for an answer.
 */
async function askRoots(ctx: ServerContext, capabilities: ClientCapabilities, start: StartDirectory): Promise<void> {
  if (capabilities.roots === undefined || isModern(ctx)) {
    start.noteRoots(undefined);
    return;
  }
  const asked = ctx.mcpReq.send({ method: 'roots/list' }, { timeout: ROOTS_MS });
  // A client that announces roots and does not return them has none.
  start.noteRoots(await asked.catch(() => undefined));
}

const isModern = ({ mcpReq }: ServerContext): boolean => mcpReq.envelope !== undefined;

/** The client's capabilities: part of each request since 2026-07-28, of the connection's first one before. */
function capabilitiesOf({ mcpReq }: ServerContext, server: McpServer['server']): ClientCapabilities {
  // The library has validated it, but has no type for it.
  const envelope: { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined = mcpReq.envelope;
  // oxlint-disable-next-line typescript/no-deprecated -- for clients of earlier revisions there is no other way
  return envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {};
}

/** An empty `elicitation: {}` means forms: it dates from before other modes existed. */
const canShowForms = ({ elicitation }: ClientCapabilities): boolean =>
  elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);

/** Returns a function that sends progress notifications, if the client has requested them. */
function progressOf({ _meta, notify }: ServerContext['mcpReq']): ((progress: Progress) => void) | undefined {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return ({ seconds, message }) => {
    const params = { progressToken, progress: seconds, message };
    // The client has disconnected.
    notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}

/** Text only: `structuredContent` would double each message, and only tools with an output schema need it. */
const render = ({ isError, answer }: ToolOutcome): CallToolResult => ({
  content: [{ type: 'text' as const, text: JSON.stringify(answer) }],
  ...(isError && { isError }),
});

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
import { findTool, TOOL_SETS, toolInstructions } from '../../core/tools/tools.js';
import type { ToolSet } from '../../core/tools/tool-sets.js';
import { parseArguments, type Tool } from '../../core/tools/tool.js';
import type { TraceCarrier } from '../../core/traces.js';
import type { StartDirectory } from './start-directory.js';
import {
  type Ask,
  continueWaiting,
  makeCall,
  type Progress,
  questionFor,
  readDecision,
  resultOf,
  type ToolCall,
  type WaitingCommand,
} from './tool-call.js';

/** Lets an operator decide at an MCP client. */
interface OperatorAccess {
  /** Decides with the operator's own token: the daemon lets no principal confirm its own request as an operator. */
  readonly ask: Ask;
  /** Seals the state that a client returns after it has asked the person. */
  readonly codec: RequestStateCodec<WaitingCommand>;
}

/** Options of an MCP server. */
interface McpServerOptions {
  readonly ask: Ask;
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
    const has = (other: string) => findTool(other, tools) !== undefined;
    const call = callOf(tool, has, ctx, capabilitiesOf(ctx, server), options);
    try {
      return await answer(call, args, ctx, operator);
    } catch (error) {
      if (!(error instanceof AdapterError)) throw error;
      return resultOf(call, {}, { error: error.toBody() });
    }
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

/** Answers a call, or continues one for which the person at the client was asked. */
async function answer(
  call: ToolCall,
  args: unknown,
  { mcpReq }: ServerContext,
  operator: OperatorAccess | undefined,
): Promise<CallToolResult | InputRequiredResult> {
  const given = parseArguments(call.tool, args);
  const waiting = operator && mcpReq.requestState<WaitingCommand>();
  if (!waiting) return makeCall(call, given);
  const decision = readDecision(mcpReq.inputResponses?.[QUESTION]);
  return continueWaiting(call, waiting, { decision, operator: operator.ask });
}

function callOf(
  tool: Tool,
  has: ToolCall['has'],
  ctx: ServerContext,
  capabilities: ClientCapabilities,
  { ask, start, operator, orphaned }: McpServerOptions,
): ToolCall {
  const { mcpReq } = ctx;
  // MCP names the trace of a request in `_meta`. Source: SEP-414 of the Model Context Protocol.
  const { traceparent, tracestate } = (mcpReq._meta ?? {}) as TraceCarrier;
  const trace = traceparent === undefined ? undefined : { traceparent, tracestate };
  return {
    tool,
    has,
    start,
    ask: (name, payload) => ask(name, payload, trace),
    signal: mcpReq.signal,
    orphaned: orphaned?.(),
    onProgress: progressOf(mcpReq),
    askRoots: () => askRoots(ctx, capabilities),
    askPerson: operator && canShowForms(capabilities) ? (waiting) => askPerson(waiting, ctx, operator) : undefined,
  };
}

/** Makes the client ask its person; undefined for a question that is too long. */
async function askPerson(
  waiting: WaitingCommand,
  ctx: ServerContext,
  { codec }: OperatorAccess,
): Promise<InputRequiredResult | undefined> {
  const question = questionFor(waiting.payload, waiting.terms);
  if (!question) return undefined;
  return inputRequired({
    inputRequests: { [QUESTION]: inputRequired.elicit(question) },
    requestState: await codec.mint(waiting, ctx),
  });
}

/**
 * Requests the client's roots. Only clients of revisions before 2026-07-28 can be asked while they wait for an answer.
 */
async function askRoots(ctx: ServerContext, capabilities: ClientCapabilities): Promise<unknown> {
  if (capabilities.roots === undefined || isModern(ctx)) return undefined;
  const asked = ctx.mcpReq.send({ method: 'roots/list' }, { timeout: ROOTS_MS });
  // A client that announces roots and does not return them has none.
  return asked.catch(() => undefined);
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

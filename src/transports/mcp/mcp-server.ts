import { McpServer, type ServerContext, type StandardSchemaWithJSON } from '@modelcontextprotocol/server';

import { PERMISSIONS } from '../../core/access/permissions.js';
import type { Role } from '../../core/access/roles.js';
import { argumentSchema } from '../../core/tools/schema.js';
import type { Tool } from '../../core/tools/tool.js';
import { TOOL_INSTRUCTIONS, TOOLS } from '../../core/tools/tools.js';
import { callTool, type Progress, type ToolBackend, type ToolOutcome } from './tool-call.js';

/** What an MCP server is made of. */
export interface McpServerOptions {
  readonly backend: ToolBackend;
  /** Of the adapter. */
  readonly version: string;
  /** Of who is connected: tools that it may not call are not listed. Undefined when it is not known. */
  readonly role: Role | undefined;
}

/** An MCP server with the adapter's tools: for one connection, or one exchange. Connecting it to a transport is up to the caller. */
export function createMcpServer({ backend, version, role }: McpServerOptions): McpServer {
  const server = new McpServer(
    { name: 'shell-adapter', title: 'Shell commands', version },
    { capabilities: { tools: {} }, instructions: TOOL_INSTRUCTIONS },
  );
  for (const tool of TOOLS) {
    if (role !== undefined && !PERMISSIONS[tool.request].includes(role)) continue;
    const { name, title, description, hints } = tool;
    server.registerTool(
      name,
      { title, description, inputSchema: unparsedArguments(tool), annotations: hints },
      async (args, { mcpReq }) => {
        const listener = { signal: mcpReq.signal, onProgress: progressOf(mcpReq) };
        return render(await callTool(tool, args, backend, listener));
      },
    );
  }
  return server;
}

/** The schema of a tool's arguments for those who ask; the arguments themselves go through as they are, for `callTool` to parse. */
const unparsedArguments = (tool: Tool): StandardSchemaWithJSON<unknown, unknown> => ({
  '~standard': {
    version: 1,
    vendor: 'shell-adapter',
    validate: (value) => ({ value }),
    jsonSchema: { input: () => argumentSchema(tool), output: () => argumentSchema(tool) },
  },
});

/** Tells a client how its call gets on, if it has asked for that. */
function progressOf({ _meta, notify }: ServerContext['mcpReq']): ((progress: Progress) => void) | undefined {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return ({ seconds, message }) => {
    const params = { progressToken, progress: seconds, message };
    // Whoever has gone needs none.
    notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}

const render = ({ isError, answer }: ToolOutcome) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(answer) }],
  structuredContent: { ...answer },
  ...(isError && { isError }),
});

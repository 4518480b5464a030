/** An event of a streamed answer. */
export interface ServiceEvent {
  readonly name?: string;
  readonly data: string;
}

/** A call of a tool that a model asks for. */
export interface ToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** By which its result refers to it. @default the same for every call */
  readonly id?: string;
  /** Group that the tool belongs to, in OpenAI's responses. */
  readonly namespace?: string;
}

type Body = Readonly<Record<string, unknown>>;

/** One of the protocols of a service. Sources: the references of Anthropic, OpenAI and Gemini. */
export interface Dialect {
  modelOf(path: string, body: Body): string;
  isStreamed(path: string, body: Body): boolean;
  hasToolResult(text: string): boolean;
  /** The names of the tools that are offered to the model. */
  toolNames(body: Body): readonly unknown[];
  error(status: number, message: string): unknown;
  whole(model: string, text: string, tool: ToolCall | undefined): unknown;
  events(model: string, pieces: readonly string[], tool: ToolCall | undefined): readonly ServiceEvent[];
}

/** The protocol of a path; undefined for one that is none. */
export function dialectOf(path: string): Dialect | undefined {
  const { pathname } = new URL(path, 'http://x');
  if (pathname.endsWith('/messages')) return anthropic;
  if (pathname.endsWith('/chat/completions')) return chat;
  if (pathname.endsWith('/responses')) return responses;
  return /:(?:stream)?[gG]enerateContent$/.test(pathname) ? gemini : undefined;
}

const event = (data: unknown, name?: string): ServiceEvent => ({
  ...(name !== undefined && { name }),
  data: typeof data === 'string' ? data : JSON.stringify(data),
});

/** What a model wants: a shell command to be run, a file to be written, or to give its answer as structured output. */
export type ToolWish =
  | { readonly command: string }
  | { readonly file: string; readonly content: string }
  | { readonly answer: Readonly<Record<string, unknown>> };

/** Names of the tools by which models give structured output. */
const ANSWER_TOOLS = ['StructuredOutput', 'structured_output'];

/** Names under which tools offer the model to run commands, and what they call the command. */
const SHELL_TOOLS = ['Bash', 'bash', 'run_shell_command', 'exec_command', 'shell', 'shell_command'];

/** Names under which tools offer the model to write files, each with its arguments. */
const WRITE_TOOLS: Readonly<Record<string, (file: string, content: string) => ToolCall['args']>> = {
  Write: (file, content) => ({ file_path: file, content }),
  write_file: (file, content) => ({ file_path: file, content }),
  write: (file, content) => ({ filePath: file, content }),
  edit: (file, content) => ({ file_path: file, old_string: '', new_string: content }),
};

/** A call of one of the tools that are offered; undefined when none of them can do it. */
export function toolCallFor(names: readonly unknown[], wish: ToolWish): ToolCall | undefined {
  if ('command' in wish) return shellCall(names, wish.command);
  if ('answer' in wish) {
    const name = ANSWER_TOOLS.find((candidate) => names.includes(candidate));
    return name === undefined ? undefined : { name, args: wish.answer };
  }
  const name = Object.keys(WRITE_TOOLS).find((candidate) => names.includes(candidate));
  const args = name === undefined ? undefined : WRITE_TOOLS[name]?.(wish.file, wish.content);
  if (name !== undefined && args !== undefined) return { name, args };
  return shellCall(names, `printf %s '${wish.content}' > '${wish.file}'`);
}

function shellCall(names: readonly unknown[], command: string): ToolCall | undefined {
  const name = SHELL_TOOLS.find((candidate) => names.includes(candidate));
  if (name === undefined) return undefined;
  if (name === 'exec_command') return { name, args: { cmd: command } };
  const value = name === 'shell' ? ['bash', '-c', command] : command;
  return { name, args: { command: value, description: 'a test' } };
}

const modelIn = (_path: string, { model }: Body): string => String(model);
const streamIn = (_path: string, { stream }: Body): boolean => stream === true;
const toolsOf = ({ tools }: Body): Body[] => (Array.isArray(tools) ? (tools as Body[]) : []);

const claudeUsage = {
  input_tokens: 111,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 33,
  output_tokens: 22,
};

const anthropic: Dialect = {
  modelOf: modelIn,
  isStreamed: streamIn,
  hasToolResult: (text) => text.includes('"tool_result"'),
  toolNames: (body) => toolsOf(body).map(({ name }) => name),
  error: (status, message) => {
    const type = status === 401 ? 'authentication_error' : status === 429 ? 'rate_limit_error' : 'api_error';
    return { type: 'error', error: { type, message } };
  },
  whole: (model, text, tool) => ({
    ...claudeMessage(model, tool),
    content: tool
      ? [{ type: 'tool_use', id: tool.id ?? 'toolu_1', name: tool.name, input: tool.args }]
      : [{ type: 'text', text }],
    usage: claudeUsage,
  }),
  events: (model, pieces, tool) => {
    const block = tool
      ? { type: 'tool_use', id: tool.id ?? 'toolu_1', name: tool.name, input: {} }
      : { type: 'text', text: '' };
    const deltas = tool
      ? [{ type: 'input_json_delta', partial_json: JSON.stringify(tool.args) }]
      : pieces.map((text) => ({ type: 'text_delta', text }));
    const list = [
      {
        type: 'message_start',
        message: { ...claudeMessage(model, tool), content: [], stop_reason: null, usage: claudeUsage },
      },
      { type: 'content_block_start', index: 0, content_block: block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: tool ? 'tool_use' : 'end_turn' }, usage: { output_tokens: 22 } },
      { type: 'message_stop' },
    ];
    return list.map((entry) => event(entry, entry.type));
  },
};

const claudeMessage = (model: string, tool: ToolCall | undefined) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model,
  stop_reason: tool ? 'tool_use' : 'end_turn',
  stop_sequence: null,
});

const chatUsage = {
  prompt_tokens: 111,
  completion_tokens: 22,
  total_tokens: 133,
  prompt_tokens_details: { cached_tokens: 33 },
  completion_tokens_details: { reasoning_tokens: 5 },
};

const openAiError: Dialect['error'] = (status, message) => ({
  error: { message, type: 'error', param: null, code: status === 401 ? 'invalid_api_key' : null },
});

const chat: Dialect = {
  modelOf: modelIn,
  isStreamed: streamIn,
  hasToolResult: (text) => text.includes('"role":"tool"'),
  toolNames: (body) => toolsOf(body).map((tool) => (tool['function'] as Body | undefined)?.['name']),
  error: openAiError,
  whole: (model, content) => ({
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model, usage: chatUsage },
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  }),
  events: (model, pieces, tool) => {
    const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model };
    const choice = (delta: unknown, finish_reason: string | null = null) => ({
      ...base,
      choices: [{ index: 0, delta, finish_reason }],
    });
    const call = tool && {
      tool_calls: [
        {
          index: 0,
          id: tool.id ?? 'call_1',
          type: 'function',
          function: { name: tool.name, arguments: JSON.stringify(tool.args) },
        },
      ],
    };
    return [
      event(choice({ role: 'assistant', content: '' })),
      ...(call ? [event(choice(call))] : pieces.map((content) => event(choice({ content })))),
      event(choice({}, tool ? 'tool_calls' : 'stop')),
      event({ ...base, choices: [], usage: chatUsage }),
      event('[DONE]'),
    ];
  },
};

const responsesUsage = {
  input_tokens: 111,
  input_tokens_details: { cached_tokens: 33 },
  output_tokens: 22,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 133,
};

const responses: Dialect = {
  modelOf: modelIn,
  isStreamed: streamIn,
  hasToolResult: (text) => text.includes('function_call_output'),
  toolNames: (body) => toolsOf(body).map(({ name }) => name),
  error: openAiError,
  whole: (model, text, tool) => codexResponse(model, codexItem(text, tool)),
  events: (model, pieces, tool) => {
    const text = pieces.join('');
    const item = codexItem(text, tool);
    const whole = codexResponse(model, item);
    const place = { item_id: 'item_1', output_index: 0, content_index: 0 };
    const list: (Body & { readonly type: string })[] = [
      { type: 'response.created', response: { ...whole, status: 'in_progress', output: [], usage: null } },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' } },
      ...(tool ? [] : pieces.map((delta) => ({ type: 'response.output_text.delta', ...place, delta }))),
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: whole },
    ];
    return list.map((entry, index) => event({ ...entry, sequence_number: index }, entry.type));
  },
};

const codexItem = (text: string, tool: ToolCall | undefined) =>
  tool
    ? {
        ...{ type: 'function_call', id: 'item_1', call_id: tool.id ?? 'call_1', status: 'completed' },
        ...{ name: tool.name, arguments: JSON.stringify(tool.args) },
        ...(tool.namespace !== undefined && { namespace: tool.namespace }),
      }
    : {
        ...{ type: 'message', id: 'item_1', role: 'assistant', status: 'completed' },
        content: [{ type: 'output_text', text, annotations: [] }],
      };

const codexResponse = (model: string, item: unknown) => ({
  ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model, error: null },
  ...{ output: [item], usage: responsesUsage, parallel_tool_calls: true, tools: [] },
});

const geminiUsage = {
  promptTokenCount: 111,
  candidatesTokenCount: 22,
  totalTokenCount: 138,
  cachedContentTokenCount: 33,
  thoughtsTokenCount: 5,
};

const gemini: Dialect = {
  modelOf: (path) => /models\/([^/:]+):/.exec(path)?.[1] ?? '',
  isStreamed: (path) => path.includes(':stream'),
  hasToolResult: (text) => text.includes('"functionResponse":'),
  toolNames: (body) =>
    toolsOf(body)
      .flatMap((tool) => (tool['functionDeclarations'] ?? []) as Body[])
      .map(({ name }) => name),
  error: (code, message) => {
    const status = code === 401 ? 'UNAUTHENTICATED' : code === 429 ? 'RESOURCE_EXHAUSTED' : 'INTERNAL';
    return { error: { code, message, status } };
  },
  whole: (model, text, tool) => geminiPart(model, tool ? geminiCall(tool) : { text }, true),
  events: (model, pieces, tool) =>
    tool
      ? [event(geminiPart(model, geminiCall(tool), true))]
      : pieces.map((text, index) => event(geminiPart(model, { text }, index === pieces.length - 1))),
};

const geminiCall = ({ name, args, id }: ToolCall) => ({
  functionCall: { name, args, ...(id !== undefined && { id }) },
});

const geminiPart = (modelVersion: string, part: unknown, isLast: boolean) => ({
  candidates: [{ content: { role: 'model', parts: [part] }, index: 0, ...(isLast && { finishReason: 'STOP' }) }],
  ...{ usageMetadata: geminiUsage, modelVersion, responseId: 'r' },
});

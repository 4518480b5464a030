type Fields = Readonly<Record<string, unknown>>;

/** A tool that an agent offers to its model. */
export interface OfferedTool {
  readonly name: string;
  /** Group that the tool belongs to, in OpenAI's responses. */
  readonly namespace?: string;
}

/** A call of a tool, and what the agent reported as its result. */
export interface Exchange {
  readonly tool: string;
  readonly result: string;
}

/** A request to a model, independent of its protocol. */
export interface Conversation {
  readonly tools: readonly OfferedTool[];
  /** Every call so far, oldest first. */
  readonly exchanges: readonly Exchange[];
  /** The whole body, as JSON. */
  readonly text: string;
}

/** Reads a request in the protocol of Anthropic (messages), OpenAI (chat completions, responses) or Gemini. */
export const conversationOf = (body: Fields): Conversation => ({
  tools: listOf(body['tools']).flatMap(toolsIn),
  exchanges: exchangesIn([...listOf(body['messages']), ...listOf(body['input']), ...listOf(body['contents'])]),
  text: JSON.stringify(body),
});

function toolsIn(tool: Fields): OfferedTool[] {
  const { type, name, function: chat, functionDeclarations: gemini } = tool;
  if (gemini !== undefined) return listOf(gemini).flatMap(toolsIn);
  if (chat !== undefined) return toolsIn(chat as Fields);
  if (type !== 'namespace') return typeof name === 'string' ? [{ name }] : [];
  return listOf(tool['tools'])
    .flatMap(toolsIn)
    .map((member) => ({ ...member, namespace: String(name) }));
}

/** A call or a result as it stands in a conversation; `id` connects the two. */
type Part =
  | { readonly kind: 'call'; readonly id: unknown; readonly tool: string }
  | { readonly kind: 'result'; readonly id: unknown; readonly result: string };

function exchangesIn(messages: readonly Fields[]): Exchange[] {
  const parts = messages.flatMap(partsIn);
  const results = new Map(parts.flatMap((part) => (part.kind === 'result' ? [[part.id, part.result]] : [])));
  return parts.flatMap((part) => {
    const result = part.kind === 'call' ? results.get(part.id) : undefined;
    return part.kind === 'call' && result !== undefined ? [{ tool: part.tool, result }] : [];
  });
}

function partsIn(message: Fields): Part[] {
  const inside = [...listOf(message['content']), ...listOf(message['parts'])].flatMap(partsIn);
  const calls = listOf(message['tool_calls']).map(({ id, function: called }): Part => {
    return { kind: 'call', id, tool: String((called as Fields)['name']) };
  });
  const own = partOf(message);
  return [...(own ? [own] : []), ...calls, ...inside];
}

function partOf(item: Fields): Part | undefined {
  const { type, role, name, functionCall, functionResponse } = item;
  if (type === 'tool_use') return { kind: 'call', id: item['id'], tool: String(name) };
  if (type === 'tool_result') return { kind: 'result', id: item['tool_use_id'], result: textOf(item['content']) };
  if (type === 'function_call') return { kind: 'call', id: item['call_id'], tool: String(name) };
  if (type === 'function_call_output') return { kind: 'result', id: item['call_id'], result: textOf(item['output']) };
  if (role === 'tool') return { kind: 'result', id: item['tool_call_id'], result: textOf(item['content']) };
  if (functionCall !== undefined) {
    const { id, name: tool } = functionCall as Fields;
    return { kind: 'call', id, tool: String(tool) };
  }
  if (functionResponse === undefined) return undefined;
  const { id, response } = functionResponse as Fields;
  return { kind: 'result', id, result: textOf((response as Fields)['output'] ?? response) };
}

/** The text of a result, which is a string, a list of parts or an object. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return JSON.stringify(value ?? '');
  return (value as Fields[])
    .map((part) => (typeof part['text'] === 'string' ? part['text'] : JSON.stringify(part)))
    .join('\n');
}

const listOf = (value: unknown): Fields[] =>
  Array.isArray(value)
    ? (value as unknown[]).filter((item): item is Fields => typeof item === 'object' && item !== null)
    : [];

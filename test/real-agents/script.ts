import type { Conversation, OfferedTool } from '../support/llm/llm-conversation.js';
import type { ToolCall } from '../support/llm/llm-dialects.js';

/** What a tool of ours answered, as the model got to read it. */
export type Answer = Readonly<Record<string, unknown>>;

/** A call that the scripted model makes. */
export interface Call {
  /** Name as the MCP server lists it, or a pattern for it. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The next call, made from the answers to the earlier ones. */
export type Step = (answers: readonly Answer[]) => Call;

/** Tools with which an agent looks up tools that it does not put into every request. */
const SEARCH_TOOLS: ReadonlySet<string> = new Set(['ToolSearch', 'tool_search']);

/** How often a tool is looked up in vain; the first time, its server may not have started yet. */
const MAX_LOOKUPS = 3;

/** Plays a model that calls tools one after the other and then says that it is done. */
export class Script {
  /** Answers that the agent has passed on to the model. */
  answers: readonly Answer[] = [];
  /** Tools that had to be looked up before they could be called. */
  readonly lookedUp = new Set<string>();
  readonly #task: string;
  readonly #steps: readonly Step[];
  readonly #done: string;

  /**
   * @param task words by which the agent's own conversation is told from its side requests, such as one for a title
   * @param done the last words
   */
  constructor({ task, done }: { readonly task: string; readonly done: string }, steps: readonly Step[]) {
    this.#task = task;
    this.#done = done;
    this.#steps = steps;
  }

  /** The model's turn. It depends on nothing but the conversation: a repeated request gets the same turn. */
  readonly turn = (conversation: Conversation): ToolCall | string => {
    const { exchanges, text } = conversation;
    if (!text.includes(this.#task)) return 'a title';
    const answers = exchanges.filter(({ tool }) => !SEARCH_TOOLS.has(tool)).map(({ result }) => answerIn(result));
    if (answers.length >= this.answers.length) this.answers = answers;
    const next = this.#steps[answers.length];
    if (next === undefined) return this.#done;
    const call = this.#resolve(conversation, next(answers));
    return typeof call === 'string' ? call : { ...call, id: `call_${exchanges.length + 1}` };
  };

  /** An agent that keeps a tool back has it looked up first: by its name, as soon as that is known. */
  #resolve({ tools, exchanges, text }: Conversation, { tool, args }: Call): ToolCall | string {
    const pattern = new RegExp(`(?:^|_)shell_+(?:${tool})$`);
    const offered = tools.find((candidate) => pattern.test(fullName(candidate)));
    if (offered) return { ...offered, args };
    const search = tools.find(({ name }) => SEARCH_TOOLS.has(name));
    const lookups = exchanges.length - 1 - exchanges.findLastIndex(({ tool: name }) => !SEARCH_TOOLS.has(name));
    const [name] = new RegExp(String.raw`mcp__shell__(?:${tool})(?!\w)`).exec(text) ?? [];
    // Some take calls of what was looked up without listing it.
    if (name !== undefined && lookups > 0) return { name, args };
    if (search === undefined || lookups >= MAX_LOOKUPS) return `there is no tool ${tool}`;
    this.lookedUp.add(tool);
    return { ...search, args: { query: `select:${name ?? `mcp__shell__${tool}`}` } };
  }
}

const fullName = ({ namespace, name }: OfferedTool): string =>
  namespace === undefined ? name : `${namespace.replace(/_+$/, '')}__${name}`;

/** The JSON object in a result; agents put their own words around it. A result without one is `{ text }`. */
function answerIn(result: string): Answer {
  const [json] = /\{.*\}/s.exec(result) ?? [];
  try {
    return JSON.parse(json ?? '') as Answer;
  } catch {
    return { text: result };
  }
}

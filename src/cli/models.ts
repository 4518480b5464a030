import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import type { Answer, RequestInput, RequestName } from '../client/index.js';
import { isMapping } from '../core/json.js';
import { LLM_PROVIDERS } from '../core/llm/settings.js';
import { MAX_TIMER_MS } from '../core/time.js';
import { TOOL_FORMATS, TOOL_SET_NAMES, type ToolFormat, type ToolSet } from '../core/tools/tool-sets.js';
import type { DaemonOptions } from './connect/daemon-address.js';
import { DAEMON_OPTIONS } from './connect/requesting.js';
import { withDaemon } from './connect/with-daemon.js';
import type { Context, Output } from './console/context.js';
import { CommandLineError, UsageError } from './console/failure.js';
import { alignColumns, onOneLine, paint } from './console/style.js';
import {
  type Entry,
  type JsonOption,
  jsonText,
  path,
  printAnswer,
  seconds,
  type Subcommand,
} from './console/subcommand.js';

const llm: Subcommand = {
  summary: 'ask an LLM: a command-line tool that is installed, or a service',
  description:
    'Asks an LLM where the daemon runs: a command-line tool that is installed there, or a service that is configured. ' +
    'The prompt is the argument, followed by standard input if that is no terminal.',
  arguments: [['[prompt]']],
  options: [
    ...DAEMON_OPTIONS,
    ['--list', 'list who can be asked'],
    ['--provider <name>', 'who is asked; auto takes a configured service, or else a tool', { choices: LLM_PROVIDERS }],
    ['--shell-provider <name>', 'the command-line tool to ask'],
    ['--model <name>', 'the model to ask for'],
    ['--system <text>', 'the system prompt'],
    ['--timeout <seconds>', 'most time the answer may take', { read: seconds(1, MAX_TIMER_MS) }],
    ['-n, --no-stdin', 'do not read standard input'],
    ['--stream', 'print the answer as it comes'],
    ['--json', 'print JSON, as `llm_call` or `list_llm_providers` answers'],
  ],
  examples: [
    "shell-adapter llm 'What is the capital of France?'",
    "git diff | shell-adapter llm --shell-provider claude 'Write a commit message for this.'",
    "shell-adapter llm --stream --system 'Be brief.' 'Explain fork(2).'",
    'shell-adapter llm --list',
  ],
  run: async (context, options: LlmCall & { readonly list?: boolean }, prompt?: string) => {
    if (!options.list) return ask(context, prompt, options);
    const answer = await withDaemon(options, context, (client) => client.request('list_llm_providers', {}));
    return printAnswer(context, options, answer, renderProviders);
  },
};

interface LlmCall extends DaemonOptions, JsonOption {
  readonly provider?: NonNullable<RequestInput<'llm_call'>['provider']>;
  readonly shellProvider?: string;
  readonly model?: string;
  readonly system?: string;
  /** In milliseconds. */
  readonly timeout?: number;
  readonly stream?: boolean;
  readonly stdin: boolean;
}

const PROMPT_HINTS = {
  tooLarge: 'Give the part of it that matters.',
  notText: 'Convert it to text first, in UTF-8.',
};

async function ask(context: Context, argument: string | undefined, options: LlmCall): Promise<void> {
  const { stdout } = context;
  const piped = options.stdin && !context.stdin.isTTY ? await readStandardInput(context, PROMPT_HINTS) : '';
  const prompt = [argument ?? '', piped].filter((text) => text.trim() !== '').join('\n\n');
  if (prompt === '') throw new UsageError('there is no prompt: give it as an argument, or on standard input');
  const { provider, shellProvider, model, system, timeout: timeoutMs, json } = options;
  const messages: RequestInput<'llm_call'>['messages'] = [
    ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
    { role: 'user', content: prompt },
  ];
  const request = { provider, shellProvider, model, timeoutMs };
  await withDaemon(options, context, async (client) => {
    if (options.stream && !json) {
      let last = '';
      for await (const chunk of client.llmStream(messages, request)) {
        await stdout.write(chunk);
        last = chunk;
      }
      if (!last.endsWith('\n')) await stdout.write('\n');
      return;
    }
    await printAnswer(context, options, await client.llmCall(messages, request), ({ content }) => content);
  });
}

/** Longest reason in the list, in characters. */
const MAX_REASON = 100;

function renderProviders({ providers, auto }: Answer<'list_llm_providers'>, output: Output): string[] {
  const rows = providers.map(({ provider, shell_provider: name, available, command, reason }) => {
    const status = available ? 'yes' : 'no';
    return [provider, name ?? '-', status, onOneLine(command ?? reason ?? '', MAX_REASON)];
  });
  const [head = '', ...lines] = alignColumns([['PROVIDER', 'SHELL PROVIDER', 'AVAILABLE', 'DETAIL'], ...rows]);
  const order = `Used without --provider, in this order: ${auto.join(', ') || 'none'}`;
  return [paint(output, 'bold', head), ...lines, '', order];
}

const toolsOption = (selected: ToolSet): Entry => [
  '--tools <selection>',
  'run: run_command alone; core: and sessions, input, confirmation; all: every tool',
  { choices: TOOL_SET_NAMES, default: selected },
];

const mcp: Subcommand = {
  summary: 'offer the daemon to a model, by the Model Context Protocol',
  description:
    'Speaks the Model Context Protocol on standard input and output, for programs that start their MCP servers themselves. ' +
    'Commands run in the daemon. While there is none, calls are answered with an error that says so; the next call tries again. ' +
    'The daemon speaks MCP over HTTP too, at /mcp.',
  options: [
    ...DAEMON_OPTIONS,
    [
      '--cwd <directory>',
      'where commands start; by default in the client’s first root, or the current directory',
      { read: path },
    ],
    toolsOption('core'),
    ['--start', 'start a daemon when none answers; it goes on until `shell-adapter stop`'],
  ],
  before: `\
Where commands start: in --cwd; else in the first root that the client offers; else in the current directory of this program,
unless that is /. Where the daemon has no such directory, or keeps commands in a sandbox around its workspace, they start in its
workspace, and the first answer says so.

Confirmation by the person at the client: with the token of an operator in SHELL_ADAPTER_OPERATOR_TOKEN, what an operator has to
confirm is asked in a form of the client (elicitation). Give that token only to clients that show such forms to a person.`,
  examples: [
    'shell-adapter mcp',
    'shell-adapter mcp --start --tools run',
    'npx @modelcontextprotocol/inspector --cli shell-adapter mcp --method tools/list',
  ],
  notes: `\
An entry for the configuration of such a program:
  { "mcpServers": { "shell": { "command": "shell-adapter", "args": ["mcp", "--start"] } } }`,
  load: async () => (await import('./serve-mcp.js')).serveMcp,
};

const tools: Subcommand = {
  summary: 'print the tools for models, as JSON',
  description:
    "Prints the definitions of the adapter's tools as JSON, for the `tools` of a request to a model. " +
    'The MCP servers (`shell-adapter mcp`, /mcp) carry out their calls.',
  options: [
    ['--format <format>', 'whose API they are for', { choices: TOOL_FORMATS, default: 'openai' satisfies ToolFormat }],
    toolsOption('all'),
  ],
  examples: ['shell-adapter tools', 'shell-adapter tools --tools core --format anthropic | jq .[].name'],
  run: async ({ stdout }, { format, tools: set }: { readonly format: ToolFormat; readonly tools: ToolSet }) => {
    const { toolDefinitions } = await import('../core/tools/tools.js');
    await stdout.write(jsonText(toolDefinitions(format, set)));
  },
};

/** Prints the page of the wire protocol, generated from the tables that the daemon uses. */
const protocol: Subcommand = {
  summary: 'print the wire protocol, as Markdown',
  description: 'Prints the page that documents the wire protocol, as Markdown.',
  options: [
    ['--write <file>', 'write it to a file'],
    ['--check <file>', 'exit with 1 when a file does not hold exactly that page'],
  ],
  examples: ['shell-adapter protocol | less', 'shell-adapter protocol --check docs/reference/protocol.md'],
  run: async (context, { write, check }: { readonly write?: string; readonly check?: string }) => {
    const { renderProtocolDocument } = await import('../core/descriptions/protocol-page.js');
    const page = renderProtocolDocument();
    if (write !== undefined) await writeFile(resolve(context.cwd, write), page);
    if (check !== undefined) await checkPage(resolve(context.cwd, check), check, page);
    if (write === undefined && check === undefined) await context.stdout.write(page);
  },
};

async function checkPage(path: string, shownPath: string, page: string): Promise<void> {
  const hint = 'Make it again: npm run docs';
  let found: string;
  try {
    found = await readFile(path, 'utf8');
  } catch (cause) {
    // Missing or not readable: the system's message contains the reason.
    throw new CommandLineError(`${shownPath} cannot be read: ${(cause as Error).message}`, { hint, cause });
  }
  if (found === page) return;
  throw new CommandLineError(`${shownPath} is not current: the tables in src/core/protocol have changed since`, {
    hint,
  });
}

/** The relative path is the same from `src/cli/` and `dist/cli/`. */
const SKILL_FILE = new URL('../../skills/shell-adapter/SKILL.md', import.meta.url);

const skill: Subcommand = {
  summary: 'print the skill file for agents',
  description: 'Prints SKILL.md: one page that tells an agent when to use which tool of `shell-adapter mcp`.',
  examples: [
    'mkdir -p ~/.claude/skills/shell-adapter',
    'shell-adapter skill > ~/.claude/skills/shell-adapter/SKILL.md',
  ],
  run: ({ stdout }) => stdout.write(readFileSync(SKILL_FILE)),
};

const request: Subcommand = {
  summary: 'make a request of the protocol, and print its answer',
  description:
    'Makes a request of the protocol, and prints its answer as JSON. `shell-adapter protocol` describes all requests. What a request creates goes ' +
    'with the connection unless its fields say otherwise: a session needs "keep_while": "used".',
  arguments: [
    ['<name>', 'such as list_sessions'],
    ['[payload]', 'the fields as a JSON object; - reads them from standard input', { default: '{}' }],
  ],
  options: DAEMON_OPTIONS,
  examples: [
    'shell-adapter request list_sessions',
    `shell-adapter request read_file '{"path":"README.md"}'`,
    'shell-adapter request execute_command - <request.json',
  ],
  exitCodes: '0 it was answered, 1 the daemon refused it or it failed, 2 wrong usage.',
  run: async (context, options: DaemonOptions, name: string, payload: string) => {
    const fields = parseFields(payload === '-' ? await readStandardInput(context, PAYLOAD_HINTS) : payload, context);
    // The daemon knows which names and fields there are: it says what was wrong.
    const answer = await withDaemon(options, context, (client) =>
      client.request(name as RequestName, fields as RequestInput<RequestName>),
    );
    await context.stdout.write(jsonText(answer));
  },
};

const PAYLOAD_HINTS = {
  tooLarge: 'Give a smaller payload: the daemon has a bound for messages.',
  notText: 'Give the payload as JSON in UTF-8.',
};

function parseFields(text: string, { programName }: Context): object {
  const hint = `Give a JSON object, such as '{"session_id":"…"}' (${programName} request --help explains it).`;
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`the payload is not JSON: ${(cause as SyntaxError).message}`, { hint, cause });
  }
  if (!isMapping(fields)) {
    throw new UsageError('the payload is JSON, but not an object', { hint });
  }
  return fields;
}

/** Upper bound of a message in every configuration: a larger input is rejected without reading more. */
const MAX_STDIN_BYTES = 64 * 1024 * 1024;

/** Hints for input that cannot be passed on. */
interface StdinHints {
  readonly tooLarge: string;
  readonly notText: string;
}

/**
 * Reads standard input until EOF.
 * @throws CommandLineError when it exceeds every message size, or is not text
 */
async function readStandardInput(context: Context, hints: StdinHints): Promise<string> {
  const { InputAhead, readToEnd } = await import('./run/standard-input.js');
  const input = new InputAhead(context.stdin);
  await readToEnd(context, input, MAX_STDIN_BYTES, 'reading standard input to its end');
  if (!input.isComplete) {
    input.destroy();
    throw new CommandLineError(`standard input is larger than ${MAX_STDIN_BYTES} bytes`, { hint: hints.tooLarge });
  }
  const text = input.text();
  if (text !== undefined) return text;
  const message = 'standard input is not UTF-8 text, and nothing else can be passed on';
  throw new CommandLineError(message, { hint: hints.notText });
}

export const modelSubcommands = { llm, mcp, tools, skill, request, protocol };

import { Option } from 'commander';

import type { Answer, RequestInput } from '../../client/index.js';
import type { Context } from '../console/context.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { UsageError } from '../console/failure.js';
import { readStandardInput } from '../console/standard-input.js';
import { alignColumns, onOneLine, paint } from '../console/style.js';
import { LLM_PROVIDERS } from '../../core/llm/settings.js';
import { createCommand, examples, readNumber, type Subcommand } from '../console/subcommand.js';
import { withDaemon } from '../connect/with-daemon.js';

/** Options of `llm`. */
interface LlmCommandOptions extends DaemonOptions {
  readonly list?: boolean;
  readonly provider?: NonNullable<RequestInput<'llm_call'>['provider']>;
  readonly shellProvider?: string;
  readonly model?: string;
  readonly system?: string;
  /** Time-out in seconds. */
  readonly timeout?: number;
  readonly stream?: boolean;
  readonly stdin: boolean;
  readonly json?: boolean;
}

const STDIN_HINTS = {
  tooLarge: 'Give the part of it that matters.',
  notText: 'Convert it to text first, in UTF-8.',
};

/** The longest time-out of the protocol, in seconds. */
const MAX_TIMEOUT_S = 2_147_483;
/** Longest reason in the list, in characters. */
const MAX_REASON = 100;

/** `llm`: calls an LLM that is installed or configured on the daemon's machine. */
export const llmSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'llm'))
    .summary('ask an LLM: a command-line tool that is installed, or a service')
    .description(
      'Asks an LLM where the daemon runs: a command-line tool that is installed there, or a service that is configured. ' +
        'The prompt is the argument, followed by standard input if that is no terminal.',
    )
    .argument('[prompt]')
    .option('--list', 'list who can be asked')
    .addOption(
      new Option('--provider <name>', 'who is asked; auto takes a configured service, or else a tool').choices(
        LLM_PROVIDERS,
      ),
    )
    .option('--shell-provider <name>', 'the command-line tool to ask')
    .option('--model <name>', 'the model to ask for')
    .option('--system <text>', 'the system prompt')
    .option(
      '--timeout <seconds>',
      'most time the answer may take',
      readNumber({ min: 0.001, max: MAX_TIMEOUT_S, isWhole: false }),
    )
    .option('-n, --no-stdin', 'do not read standard input')
    .option('--stream', 'print the answer as it comes')
    .option('--json', 'print JSON, as `llm_call` or `list_llm_providers` answers')
    .addHelpText('after', HELP)
    .action(async (prompt: string | undefined, options: LlmCommandOptions) => {
      await (options.list ? list(context, options) : ask(context, prompt, options));
    });

async function ask(context: Context, argument: string | undefined, options: LlmCommandOptions): Promise<void> {
  const { stdout } = context;
  const piped = options.stdin && !context.stdin.isTTY ? await readStandardInput(context, STDIN_HINTS) : '';
  const prompt = [argument ?? '', piped].filter((text) => text.trim() !== '').join('\n\n');
  if (prompt === '') throw new UsageError('there is no prompt: give it as an argument, or on standard input');
  const { provider, shellProvider, model, system, timeout, json } = options;
  const messages: RequestInput<'llm_call'>['messages'] = [
    ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
    { role: 'user', content: prompt },
  ];
  const timeoutMs = timeout === undefined ? undefined : timeout * 1000;
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
    const answer = await client.llmCall(messages, request);
    await stdout.write(`${json ? JSON.stringify(answer, null, 2) : answer.content}\n`);
  });
}

async function list(context: Context, options: LlmCommandOptions): Promise<void> {
  const { stdout } = context;
  const answer = await withDaemon(options, context, (client) => client.request('list_llm_providers', {}));
  const text = options.json ? JSON.stringify(answer, null, 2) : render(context, answer);
  await stdout.write(`${text}\n`);
}

function render({ stdout }: Context, { providers, auto }: Answer<'list_llm_providers'>): string {
  const rows = providers.map(({ provider, shell_provider: name, available, command, reason }) => {
    const status = available ? 'yes' : 'no';
    return [provider, name ?? '-', status, onOneLine(command ?? reason ?? '', MAX_REASON)];
  });
  const [head = '', ...lines] = alignColumns([['PROVIDER', 'SHELL PROVIDER', 'AVAILABLE', 'DETAIL'], ...rows]);
  return [
    paint(stdout, 'bold', head),
    ...lines,
    '',
    `Used without --provider, in this order: ${auto.join(', ') || 'none'}`,
  ].join('\n');
}

const HELP = examples(
  "shell-adapter llm 'What is the capital of France?'",
  "git diff | shell-adapter llm --shell-provider claude 'Write a commit message for this.'",
  "shell-adapter llm --stream --system 'Be brief.' 'Explain fork(2).'",
  'shell-adapter llm --list',
);

import { z } from 'zod';
import {
  ACCESS_MODES,
  accessProblem,
  DRIVER_NAMES,
  LLM_PROVIDERS,
  OUTPUT_MODES,
  PROMPT_STYLES,
} from '../../core/llm/settings.js';
import { Secret } from '../../core/secret.js';
import {
  choice,
  converted,
  count,
  described,
  duration,
  oneOf,
  optionalCount,
  optionalDuration,
  optionalPath,
  optionalText,
  path,
  resourceLimits,
  secret,
  text,
  textWhere,
  variables,
} from '../fields.js';

const MAX_PROMPT_BYTES = 64 * 1024 * 1024;
const RUNS = { unit: 'runs', min: 1, max: 64 } as const;

const urlError = 'must be a URL such as http://127.0.0.1:11434';
const commandError = 'must be the name of a program on PATH, or an absolute path';

const argumentList = z.array(z.string({ error: 'must be a text' }), { error: 'must be a list of texts' });

const OF_DRIVER = 'that of the driver';

/** A key of a tool whose default is that of its driver, or nothing. */
const ofDriver = <S extends z.ZodType>(schema: S, meaning: string, fallback = OF_DRIVER) =>
  described(schema.optional(), { text: meaning, fallback });

const shellProvider = z
  .strictObject(
    {
      driver: ofDriver(
        oneOf(DRIVER_NAMES),
        'The tool whose output it prints; it determines all other defaults.',
        'the driver of its name; without one, everything that it prints is the answer',
      ),
      command: ofDriver(
        text.refine((value) => !value.includes('/') || value.startsWith('/'), { error: commandError }),
        'A name on PATH, or an absolute path.',
        'that of the driver, or else the name of the entry',
      ),
      args: ofDriver(argumentList, 'Its arguments.'),
      prompt_flag: ofDriver(text, 'The flag before the prompt, or `positional` for an argument without one.'),
      model_flag: ofDriver(text, 'The flag for the model.'),
      system_flag: ofDriver(text, 'The flag for the system prompt. Without one, it precedes the prompt.'),
      stdin_mode: choice(
        ['pipe', 'file'],
        'pipe',
        '`pipe`: the prompt is on standard input. `file`: in a file, whose path replaces `{input_file}` in `args`.',
      ),
      model: optionalText('that of the tool', 'The model to use.'),
      timeout: optionalDuration('seconds', 'that of `llm.timeout`', 'How long an answer may take.'),
      idle_timeout: optionalDuration('seconds', 'no limit', 'How long it may print nothing.'),
      output: choice(
        OUTPUT_MODES,
        'auto',
        '`auto`: as the driver knows it. `text`: everything is the answer. `last_block`: the last paragraph is.',
      ),
      prompt_style: ofDriver(oneOf(PROMPT_STYLES), 'How several messages become one prompt: `plain` or `labelled`.'),
      max_prompt_bytes: optionalCount(
        { unit: 'bytes', min: 1, max: MAX_PROMPT_BYTES },
        OF_DRIVER,
        'The largest prompt.',
      ),
      access: ofDriver(
        oneOf(ACCESS_MODES),
        'What it may do in its directory: `read`, `write` (also change files) or `full` (also run any command).',
        '`read`',
      ),
      access_args: z
        .strictObject({
          read: ofDriver(argumentList, 'Arguments that grant `read`.'),
          write: ofDriver(argumentList, 'Arguments that grant `write`.'),
          full: ofDriver(argumentList, 'Arguments that grant `full`.'),
        })
        .default({}),
      concurrency: optionalCount(RUNS, 'that of `llm.concurrency`', 'Concurrent runs.'),
      env: converted(
        variables('must be a mapping of variable names to texts').default({}),
        { text: 'Variables, such as its key.', fallback: 'none', isSecret: true },
        (written) => Object.fromEntries(Object.entries(written).map(([name, value]) => [name, new Secret(value)])),
      ),
    },
    { error: 'must be a mapping with a command, args and so on' },
  )
  .superRefine(({ stdin_mode: mode, args = [], prompt_flag: flag }, context) => {
    if (mode === 'file' && flag !== undefined) {
      const message = 'goes with stdin_mode: pipe; with file, write the option into args, before {input_file}';
      context.addIssue({ code: 'custom', path: ['prompt_flag'], message });
    }
    const hasPlace = args.some((arg) => arg.includes('{input_file}'));
    if (hasPlace === (mode === 'file')) return;
    const message = hasPlace
      ? 'has {input_file}, which goes with stdin_mode: file'
      : 'needs {input_file} where the path of the file with the prompt belongs, with stdin_mode: file';
    context.addIssue({ code: 'custom', path: ['args'], message });
  });

/** The address of a service. */
const url = (variable: string, meaning: string, otherwise: string) =>
  described(textWhere((value) => /^https?:\/\//.test(value) && URL.canParse(value), urlError).optional(), {
    text: meaning,
    variable,
    fallback: fromVariable(variable, otherwise),
  });

const fromVariable = (variable: string, otherwise?: string): string =>
  `\`\${${variable}}\`${otherwise === undefined ? '' : `, or ${otherwise}`}`;

const apiKey = (variable: string) => secret(fromVariable(variable), 'The key.', { variable });

const model = (variable: string, meaning = 'The model of requests that name none.') =>
  optionalText(fromVariable(variable), meaning, { variable });

const retries = () =>
  count(
    { unit: 'retries', min: 0, max: 10 },
    2,
    'How often a request is repeated after a temporary failure of the service.',
  );

const openai = z.strictObject({
  base_url: url('OPENAI_BASE_URL', 'The address of the API.', 'OpenAI itself'),
  api_key: apiKey('OPENAI_API_KEY'),
  model: model('OPENAI_MODEL'),
  max_retries: retries(),
});

const azure = z.strictObject({
  base_url: url('AZURE_OPENAI_ENDPOINT', 'The endpoint of the resource.', 'none'),
  api_key: apiKey('AZURE_OPENAI_API_KEY'),
  model: model('AZURE_OPENAI_DEPLOYMENT', 'The deployment of requests that name none.'),
  api_version: optionalText(fromVariable('AZURE_OPENAI_API_VERSION', '`2024-10-21`'), 'The version of the API.', {
    variable: 'AZURE_OPENAI_API_VERSION',
  }),
  max_retries: retries(),
});

const ollama = z.strictObject({
  base_url: url('OLLAMA_API_BASE', 'The address of the server.', '`http://127.0.0.1:11434`'),
  model: model('OLLAMA_MODEL'),
  max_retries: retries(),
});

const litellm = z.strictObject({
  base_url: url('LITELLM_API_BASE', 'The address of the proxy.', '`http://127.0.0.1:4000`'),
  api_key: apiKey('LITELLM_API_KEY'),
  model: model('LITELLM_MODEL'),
  max_retries: retries(),
});

/** Accepts the forms of environment variables too. */
const SWITCHED_ON: ReadonlySet<unknown> = new Set([true, 1, 'true', 'yes', 'on', '1']);
const SWITCHED_OFF: ReadonlySet<unknown> = new Set([false, 0, 'false', 'no', 'off', '0']);
const switchError = 'must be true or false';

const skipCli = z
  .union([z.boolean(), z.number(), z.string()], { error: switchError })
  .refine((value) => SWITCHED_ON.has(value) || SWITCHED_OFF.has(value), { error: switchError })
  .transform((value) => SWITCHED_ON.has(value));

/** `llm`: the providers for `llm_call` and `llm_stream`. */
export const llmSection = z
  .strictObject({
    provider: choice(
      LLM_PROVIDERS,
      'auto',
      'The provider of requests that name none: shell, openai, azure, ollama, litellm, or auto, which takes a configured service, or else an installed tool.',
    ),
    fallback: described(
      z.array(text, { error: 'must be a list of names of shell providers' }).default([...DRIVER_NAMES]),
      {
        text: 'The tools that are tried in turn when a request names none.',
        fallback: DRIVER_NAMES.map((name) => `\`${name}\``).join(', '),
      },
    ),
    skip_cli: described(skipCli.default(false), {
      text: 'Whether no command-line tool is run, for machines where tools could only wait for a login.',
      fallback: '`false`',
    }),
    timeout: duration('seconds', 300, 'How long an answer may take, unless the provider says otherwise.'),
    max_timeout: duration('seconds', 3600, 'The longest time-out that a request may ask for.'),
    concurrency: count(RUNS, 2, 'Concurrent runs of one tool; each takes up to 600 MB.'),
    queue_limit: count({ unit: 'calls', min: 0, max: 10_000 }, 16, 'Calls that may wait for one tool.'),
    repeat_window: count(
      { unit: 'seconds', min: 0, max: 60 },
      5,
      'Time after a failed run in which the same request to the HTTP endpoint counts as a repetition, which runs nothing; 0 switches it off.',
    ),
    ...resourceLimits('a run', (key) => `that of \`adapter.${key}\``),
    shell_providers: described(
      z.record(text, shellProvider, { error: 'must be a mapping of names to command-line tools' }).default({}),
      {
        text: 'Command-line tools by name: further ones, or those that have a driver with other settings.',
        fallback: 'none',
      },
    ),
    models_file: optionalPath(
      'none; then each tool is a model of its own name, in the workspace',
      'The file with the models of `POST /v1/chat/completions`, in JSON.',
    ),
    worktree_directory: path(
      'The directory of the worktrees of runs; each is removed when its run ends.',
      { in: 'state_directory', name: 'worktrees' },
      'restart',
    ),
    openai: openai.prefault({}),
    azure: azure.prefault({}),
    ollama: ollama.prefault({}),
    litellm: litellm.prefault({}),
  })
  .superRefine(({ fallback, shell_providers: configured }, context) => {
    const known: readonly string[] = [...DRIVER_NAMES, ...Object.keys(configured)];
    fallback.forEach((name, index) => {
      if (known.includes(name)) return;
      const message = `is no shell provider; there are ${known.join(', ')}`;
      context.addIssue({ code: 'custom', path: ['fallback', index], message });
    });
    for (const [name, { driver, access, access_args: accessArgs }] of Object.entries(configured)) {
      const message = access && accessProblem(name, { driver, accessArgs }, access);
      if (message !== undefined)
        context.addIssue({ code: 'custom', path: ['shell_providers', name, 'access'], message });
    }
  });

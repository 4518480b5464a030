import { z } from 'zod';
import { accessProblem } from '../../core/llm/access.js';
import { ACCESS_MODES } from '../../core/llm/access-mode.js';
import { DRIVER_NAMES, LLM_PROVIDERS, OUTPUT_MODES, PROMPT_STYLES } from '../../core/llm/settings.js';
import { count, duration, ownLimit, path, UNIT_MS } from './fields.js';

/** The default as text, for the documentation. */
const DEFAULT_FALLBACK = DRIVER_NAMES.join(', ');

const MAX_SECONDS = Math.floor(2_147_483_647 / UNIT_MS.seconds);
const MAX_PROMPT_BYTES = 64 * 1024 * 1024;

const choice = <const T extends readonly [string, ...string[]]>(names: T) =>
  z.enum(names, { error: `must be one of ${names.join(', ')}` });

const textError = 'must be a text';
const text = z
  .string({ error: textError })
  .min(1, { error: `${textError}, not an empty one` })
  .refine((value) => !value.includes('\0'), { error: `${textError} without NUL` });

const timeError = `must be a number of seconds above 0 and at most ${MAX_SECONDS}`;
const seconds = z.number({ error: timeError }).gt(0, { error: timeError }).lte(MAX_SECONDS, { error: timeError });

const sizeError = `must be a whole number (bytes) from 1 to ${MAX_PROMPT_BYTES}`;
const runsError = 'must be a whole number (runs) from 1 to 64';
const urlError = 'must be a URL such as http://127.0.0.1:11434';

const commandError = 'must be the name of a program on PATH, or an absolute path';

const argumentList = z.array(z.string({ error: textError }), { error: 'must be a list of texts' });

const shellProvider = z
  .strictObject(
    {
      driver: choice(DRIVER_NAMES).optional(),
      command: text
        .refine((value) => !value.includes('/') || value.startsWith('/'), { error: commandError })
        .optional(),
      args: argumentList.optional(),
      prompt_flag: text.optional(),
      model_flag: text.optional(),
      system_flag: text.optional(),
      stdin_mode: choice(['pipe', 'file']).default('pipe'),
      model: text.optional(),
      timeout: seconds.optional(),
      idle_timeout: seconds.optional(),
      output: choice(OUTPUT_MODES).default('auto'),
      prompt_style: choice(PROMPT_STYLES).optional(),
      max_prompt_bytes: z
        .int({ error: sizeError })
        .min(1, { error: sizeError })
        .max(MAX_PROMPT_BYTES, { error: sizeError })
        .optional(),
      access: choice(ACCESS_MODES).optional(),
      access_args: z
        .strictObject({ read: argumentList.optional(), write: argumentList.optional(), full: argumentList.optional() })
        .default({}),
      concurrency: z.int({ error: runsError }).min(1, { error: runsError }).max(64, { error: runsError }).optional(),
      env: z
        .record(
          z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'is not the name of a variable' }),
          z.string({ error: 'must be a text; write numbers and true or false in quotes' }),
          { error: 'must be a mapping of variable names to texts' },
        )
        .default({}),
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

const optionalText = (description: string) => text.optional().describe(description);

const url = (description: string) =>
  z
    .string({ error: urlError })
    .refine((value) => /^https?:\/\//.test(value) && URL.canParse(value), { error: urlError })
    .optional()
    .describe(description);

const retries = count(
  { unit: 'retries', min: 0, max: 10 },
  2,
  'How often a request is repeated that the service could not serve for the moment.',
);

const openai = z.strictObject({
  base_url: url('Where it is. Default: ${OPENAI_BASE_URL}, or OpenAI itself.'),
  api_key: optionalText('The key. Default: ${OPENAI_API_KEY}.'),
  model: optionalText('The model of requests that name none. Default: ${OPENAI_MODEL}.'),
  max_retries: retries,
});

const azure = z.strictObject({
  base_url: url('The endpoint of the resource. Default: ${AZURE_OPENAI_ENDPOINT}.'),
  api_key: optionalText('The key. Default: ${AZURE_OPENAI_API_KEY}.'),
  model: optionalText('The deployment of requests that name none. Default: ${AZURE_OPENAI_DEPLOYMENT}.'),
  api_version: optionalText('The version of the interface. Default: ${AZURE_OPENAI_API_VERSION}, or 2024-10-21.'),
  max_retries: retries,
});

const ollama = z.strictObject({
  base_url: url('Where it is. Default: ${OLLAMA_API_BASE}, or http://127.0.0.1:11434.'),
  model: optionalText('The model of requests that name none. Default: ${OLLAMA_MODEL}.'),
  max_retries: retries,
});

const litellm = z.strictObject({
  base_url: url('Where its proxy is. Default: ${LITELLM_API_BASE}, or http://127.0.0.1:4000.'),
  api_key: optionalText('The key. Default: ${LITELLM_API_KEY}.'),
  model: optionalText('The model of requests that name none. Default: ${LITELLM_MODEL}.'),
  max_retries: retries,
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
    provider: choice(LLM_PROVIDERS)
      .default('auto')
      .describe(
        'The provider of requests that name none: shell, openai, azure, ollama, litellm, or auto, which takes a configured service, or else an installed tool. Default: auto.',
      ),
    fallback: z
      .array(text, { error: 'must be a list of names of shell providers' })
      .default([...DRIVER_NAMES])
      .describe(`The tools that are tried in turn when a request names none. Default: ${DEFAULT_FALLBACK}.`),
    skip_cli: skipCli
      .default(false)
      .describe('Whether no command-line tool is run, where they could only wait for a login. Default: false.'),
    timeout: duration('seconds', 300, 'How long an answer may take, for providers that say nothing else.'),
    max_timeout: duration('seconds', 3600, 'The longest time-out that a request may ask for.'),
    concurrency: count({ unit: 'runs', min: 1, max: 64 }, 2, 'Runs of one tool at a time; each takes up to 600 MB.'),
    queue_limit: count({ unit: 'calls', min: 0, max: 10_000 }, 16, 'Calls that may wait for one tool.'),
    repeat_window: count(
      { unit: 'seconds', min: 0, max: 60 },
      5,
      'How soon after a failed run the same request to the HTTP endpoint is taken for a repetition, which runs nothing.',
    ),
    cpu_percent_limit: ownLimit(
      'cpu_percent_limit',
      'How much CPU a run may use, on the average over adapter.cpu_window.',
    ),
    cpu_seconds_limit: ownLimit('cpu_seconds_limit', 'How much CPU time a run may use.'),
    memory_mb_limit: ownLimit('memory_mb_limit', 'How much memory the processes of a run may use together.'),
    process_limit: ownLimit('process_limit', 'How many processes and threads a run may have.'),
    disk_mb_limit: ownLimit('disk_mb_limit', 'How much the processes of a run may write to disks.'),
    shell_providers: z
      .record(text, shellProvider, { error: 'must be a mapping of names to command-line tools' })
      .default({})
      .describe(
        'Command-line tools, by name: others than those that have a driver, or these in another way. Default: none.',
      ),
    models_file: path(
      'none; then each tool is a model of its own name, in the workspace',
      'The file with the models of POST /v1/chat/completions, in JSON.',
    ),
    worktree_directory: path(
      '`worktrees` in adapter.state_directory',
      'Where runs with a worktree of their own have it, as long as they last.',
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

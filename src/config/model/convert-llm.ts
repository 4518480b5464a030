import type {
  HttpProviderName,
  HttpProviderSettings,
  LlmSettings,
  ShellProviderSettings,
} from '../../core/llm/settings.js';
import { Secret } from '../../core/secret.js';
import { Variables } from '../../core/variables.js';
import { UNIT_MS } from '../sections/fields.js';
import type { CheckedConfiguration } from './schema.js';

type LlmSection = CheckedConfiguration['llm'];
type WrittenShellProvider = LlmSection['shell_providers'][string];

/** Keys of a service in the file; not every service has all of them. */
interface WrittenService {
  readonly base_url?: string | undefined;
  readonly api_key?: string | undefined;
  readonly model?: string | undefined;
  readonly api_version?: string | undefined;
  readonly max_retries: number;
}

/** Variables that provide the values of missing keys; the names are those of the services' own tools. */
const VARIABLES: Readonly<Record<HttpProviderName, Readonly<Record<'url' | 'key' | 'model' | 'version', string>>>> = {
  openai: { url: 'OPENAI_BASE_URL', key: 'OPENAI_API_KEY', model: 'OPENAI_MODEL', version: '' },
  azure: {
    url: 'AZURE_OPENAI_ENDPOINT',
    key: 'AZURE_OPENAI_API_KEY',
    model: 'AZURE_OPENAI_DEPLOYMENT',
    version: 'AZURE_OPENAI_API_VERSION',
  },
  ollama: { url: 'OLLAMA_API_BASE', key: '', model: 'OLLAMA_MODEL', version: '' },
  litellm: { url: 'LITELLM_API_BASE', key: 'LITELLM_API_KEY', model: 'LITELLM_MODEL', version: '' },
};

/** Values that depend on more than the section: absolute paths, and limits. */
type Derived = Pick<LlmSettings, 'modelsFile' | 'worktreeDirectory' | 'limits'>;

/** Converts the section `llm`; the models are read later. */
export function toLlm(llm: LlmSection, env: NodeJS.ProcessEnv, derived: Derived): LlmSettings {
  const { provider, fallback } = llm;
  return {
    provider,
    fallback,
    skipCli: llm.skip_cli,
    timeoutMs: toMs(llm.timeout),
    maxTimeoutMs: toMs(llm.max_timeout),
    concurrency: llm.concurrency,
    queueLimit: llm.queue_limit,
    repeatWindowMs: llm.repeat_window * UNIT_MS.seconds,
    shellProviders: Object.fromEntries(
      Object.entries(llm.shell_providers).map(([name, written]) => [name, toShellProvider(written)]),
    ),
    http: {
      openai: toService('openai', llm.openai, env),
      azure: toService('azure', llm.azure, env),
      ollama: toService('ollama', llm.ollama, env),
      litellm: toService('litellm', llm.litellm, env),
    },
    ...derived,
    models: undefined,
    variables: new Variables(env),
  };
}

function toShellProvider(written: WrittenShellProvider): ShellProviderSettings {
  const { driver, command, args, model, output, concurrency, timeout, idle_timeout: idle } = written;
  return {
    driver,
    command,
    args,
    promptFlag: written.prompt_flag,
    modelFlag: written.model_flag,
    systemFlag: written.system_flag,
    stdinMode: written.stdin_mode,
    model,
    timeoutMs: timeout === undefined ? undefined : toMs(timeout),
    idleTimeoutMs: idle === undefined ? undefined : toMs(idle),
    output,
    promptStyle: written.prompt_style,
    maxPromptBytes: written.max_prompt_bytes,
    access: written.access,
    accessArgs: written.access_args,
    concurrency,
    env: Object.fromEntries(Object.entries(written.env).map(([name, value]) => [name, new Secret(value)])),
  };
}

function toService(name: HttpProviderName, written: WrittenService, env: NodeJS.ProcessEnv): HttpProviderSettings {
  const names = VARIABLES[name];
  const key = written.api_key ?? (env[names.key] || undefined);
  return {
    baseUrl: written.base_url ?? (env[names.url] || undefined),
    apiKey: key === undefined ? undefined : new Secret(key),
    model: written.model ?? (env[names.model] || undefined),
    maxRetries: written.max_retries,
    apiVersion: written.api_version ?? (env[names.version] || undefined),
  };
}

/** Converts to whole milliseconds, at least one. */
const toMs = (seconds: number): number => Math.max(1, Math.round(seconds * UNIT_MS.seconds));

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A tool as npm has it. */
interface RealTool {
  readonly name: 'claude' | 'codex' | 'gemini' | 'qwen' | 'opencode';
  /** With its version: what is tested is what is recorded. */
  readonly package: string;
  /** In front of names of models. */
  readonly modelPrefix: string;
  /** Whether it prints its answer in pieces. */
  readonly hasDeltas: boolean;
  /** Makes its settings in a home of its own; gives the variables that lead it to the service. */
  readonly configure: (home: string, service: string) => Readonly<Record<string, string>>;
}

const KEY = 'key-of-the-test';

function writeInto(home: string, path: string, content: unknown): string {
  const file = join(home, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** cursor-agent is not on npm: it is tested with what its documentation says alone. */
export const REAL_TOOLS: readonly RealTool[] = [
  {
    name: 'codex',
    package: '@openai/codex@0.169.0',
    modelPrefix: '',
    hasDeltas: false,
    configure: (home, service) => {
      const lines = [
        'model_provider = "fake"',
        '[model_providers.fake]',
        'name = "fake"',
        `base_url = "${service}/v1"`,
        'wire_api = "responses"',
        'env_key = "FAKE_KEY"',
        'request_max_retries = 0',
        'stream_max_retries = 0',
      ];
      writeInto(home, '.codex/config.toml', `${lines.join('\n')}\n`);
      return { FAKE_KEY: KEY };
    },
  },
  {
    name: 'claude',
    package: '@anthropic-ai/claude-code@2.1.330',
    modelPrefix: '',
    hasDeltas: true,
    configure: (_home, service) => ({
      ANTHROPIC_BASE_URL: service,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_MAX_RETRIES: '0',
    }),
  },
  {
    name: 'gemini',
    package: '@google/gemini-cli@0.61.0',
    modelPrefix: '',
    hasDeltas: true,
    configure: (home, service) => {
      const settings = { security: { auth: { selectedType: 'gemini-api-key' } }, general: { maxAttempts: 1 } };
      writeInto(home, '.gemini/settings.json', settings);
      return { GOOGLE_GEMINI_BASE_URL: service, GEMINI_API_KEY: KEY };
    },
  },
  {
    name: 'qwen',
    package: '@qwen-code/qwen-code@0.15.10',
    modelPrefix: '',
    hasDeltas: true,
    configure: (_home, service) => ({
      OPENAI_BASE_URL: `${service}/v1`,
      OPENAI_API_KEY: KEY,
      OPENAI_MODEL: 'fake-ok',
    }),
  },
  {
    name: 'opencode',
    package: 'opencode-ai@1.18.33',
    modelPrefix: 'fake/',
    hasDeltas: false,
    configure: (home, service) => {
      const models = ['fake-ok', 'fake-multi', 'fake-error-401', 'fake-hang', 'fake-tool'];
      const file = writeInto(home, 'opencode.json', {
        autoupdate: false,
        share: 'disabled',
        model: 'fake/fake-ok',
        small_model: 'fake/fake-ok',
        provider: {
          fake: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${service}/v1`, apiKey: KEY },
            models: Object.fromEntries(models.map((model) => [model, {}])),
          },
        },
      });
      return { OPENCODE_CONFIG: file, OPENCODE_DISABLE_MODELS_FETCH: '1' };
    },
  },
];

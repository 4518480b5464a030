import { describe, expect, it } from 'vitest';

import { load, problemsOf } from './support.js';
import { BARE_ENV } from './support.js';

/** The sample of the first description of shell providers. */
const SAMPLE = `llm:
  shell_providers:
    claude:
      command: claude
      args: ["-p"]                    # Arguments before prompt
      stdin_mode: pipe                # pipe (default) or file
      timeout: 300                    # seconds
      env:                            # Optional extra env vars
        ANTHROPIC_API_KEY: "\${ANTHROPIC_API_KEY}"

    gemini:
      command: gemini
      args: ["prompt"]
      stdin_mode: pipe
      timeout: 300

    qwen:
      command: qwen
      args: []
      stdin_mode: pipe
      timeout: 300

    # Custom provider example
    my_local_llm:
      command: /usr/local/bin/my-llm
      args: ["--model", "mistral-7b", "--input", "-"]
      stdin_mode: pipe
      timeout: 600
`;

describe('llm.shell_providers', () => {
  it('takes the sample, with its variables filled in', () => {
    const { llm } = load(SAMPLE, { env: { ...BARE_ENV, ANTHROPIC_API_KEY: 'k-123' } });
    const { claude, my_local_llm: mine } = llm.shellProviders;
    expect(claude).toMatchObject({ command: 'claude', args: ['-p'], stdinMode: 'pipe', timeoutMs: 300_000 });
    expect(claude?.env['ANTHROPIC_API_KEY']?.reveal()).toBe('k-123');
    expect(mine).toMatchObject({ command: '/usr/local/bin/my-llm', timeoutMs: 600_000, driver: undefined });
  });

  it('takes access of drivers, and of other tools with their arguments', () => {
    const { llm } = load(`llm:
  shell_providers:
    claude: { access: write }
    mine: { access: full, access_args: { full: ['--yes'] } }
    other: { driver: codex, access: full }
`);
    expect(llm.shellProviders).toMatchObject({
      claude: { access: 'write', accessArgs: {} },
      mine: { access: 'full', accessArgs: { full: ['--yes'] } },
      other: { access: 'full' },
    });
  });

  it('names a variable that is not set', () => {
    expect(problemsOf(SAMPLE)).toEqual([expect.stringContaining('needs the environment variable ANTHROPIC_API_KEY')]);
  });

  it('shows no secrets', () => {
    const { llm } = load(SAMPLE, { env: { ...BARE_ENV, ANTHROPIC_API_KEY: 'k-123', OPENAI_API_KEY: 'k-456' } });
    expect(llm.openai.apiKey?.reveal()).toBe('k-456');
    expect(JSON.stringify(llm)).not.toMatch(/k-123|k-456/);
  });

  it.each([
    ['llm: { shell_providers: { a: { comand: x } } }', 'unknown key; did you mean "command"?'],
    [
      'llm: { shell_providers: { a: { command: bin/x } } }',
      'must be the name of a program on PATH, or an absolute path',
    ],
    ['llm: { shell_providers: { a: { driver: gpt } } }', 'must be one of claude, gemini'],
    ['llm: { shell_providers: { a: { stdin_mode: file } } }', 'needs {input_file}'],
    ['llm: { shell_providers: { a: { args: ["{input_file}"] } } }', 'goes with stdin_mode: file'],
    [
      'llm: { shell_providers: { a: { stdin_mode: file, prompt_flag: -p, args: ["{input_file}"] } } }',
      'a.prompt_flag: goes with stdin_mode: pipe',
    ],
    ['llm: { shell_providers: { a: { timeout: 0 } } }', 'must be a number of seconds above 0'],
    ['llm: { shell_providers: { a: { env: { "A B": x } } } }', 'is not the name of a variable'],
    ['llm: { shell_providers: { a: { access: all } } }', 'must be one of read, write, full'],
    ['llm: { shell_providers: { a: { access: write } } }', 'a.access: write cannot be granted to a: no driver knows'],
    [
      'llm: { shell_providers: { a: { access: full, access_args: { write: [-w] } } } }',
      'for example access_args: { full: ["--some-option"] }',
    ],
    [
      'llm: { shell_providers: { a: { access_args: { wirte: [-w] } } } }',
      'access_args.wirte: unknown key; did you mean "write"?',
    ],
    ['llm: { fallback: [claude, nobody] }', 'is no shell provider; there are claude'],
    ['llm: { provider: bard }', 'must be one of auto, shell, ollama'],
    ['llm: { openai: { base_url: "ftp://x" } }', 'must be a URL'],
    ['llm: { skip_cli: perhaps }', 'must be true or false'],
  ])('refuses %s', (text, message) => {
    expect(problemsOf(text).join('\n')).toContain(message);
  });
});

describe('llm', () => {
  it.each(['1', 'true', 'yes', 'on'])('SHELL_ADAPTER_LLM_SKIP_CLI=%s runs no tools', (value) => {
    expect(load('', { env: { ...BARE_ENV, SHELL_ADAPTER_LLM_SKIP_CLI: value } }).llm.skipCli).toBe(true);
  });

  it.each(['0', 'false', 'no', 'off'])('SHELL_ADAPTER_LLM_SKIP_CLI=%s does', (value) => {
    expect(load('', { env: { ...BARE_ENV, SHELL_ADAPTER_LLM_SKIP_CLI: value } }).llm.skipCli).toBe(false);
  });

  it('takes services from the environment, unless the file says otherwise', () => {
    const env = {
      ...BARE_ENV,
      OLLAMA_API_BASE: 'http://127.0.0.1:1',
      AZURE_OPENAI_API_KEY: 'a',
      AZURE_OPENAI_ENDPOINT: 'https://x',
      OPENAI_API_KEY: 'o',
    };
    const { ollama, azure, openai } = load('llm: { ollama: { base_url: "http://127.0.0.1:2" } }', { env }).llm;
    expect(ollama.baseUrl).toBe('http://127.0.0.1:2');
    expect(azure.baseUrl).toBe('https://x');
    expect(azure.apiKey?.reveal()).toBe('a');
    expect(openai).toMatchObject({ baseUrl: undefined, model: undefined, maxRetries: 2 });
  });

  it('gives the daemon’s variables only by name', () => {
    const { variables } = load('', { env: { ...BARE_ENV, ANTHROPIC_API_KEY: 'a', OTHER: 'b' } }).llm;
    expect(variables.pick(['ANTHROPIC_*', 'MISSING'])).toEqual({ ANTHROPIC_API_KEY: 'a' });
    expect(JSON.stringify(variables)).toBe('{}');
  });
});

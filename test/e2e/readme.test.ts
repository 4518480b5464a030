import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { listSettings } from '../../src/config/settings.js';
import { MAIN, makeFolder } from './cli-support.js';
import { patternOf, readBlocks, readExamples, runExamples } from './readme-support.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = readFileSync(join(ROOT, 'README.md'), 'utf8');
const blocks = readBlocks(PAGE);
const consoles = blocks.filter(({ language }) => language === 'console');

/** The address on the page; the tests take another port, because this one may be in use. */
const SHOWN_URL = 'http://127.0.0.1:8087';
const asShown = (text: string) => text.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, SHOWN_URL);

const shellProvidersOf = (text = '') =>
  JSON.stringify((parse(text) as { readonly llm: { readonly shell_providers: unknown } }).llm.shell_providers);

const folder = makeFolder();
let env: NodeJS.ProcessEnv;
let daemon: ChildProcess;
let daemonOutput = '';

beforeAll(async () => {
  mkdirSync(join(folder.path, 'bin'));
  symlinkSync(MAIN, join(folder.path, 'bin/shell-adapter'));
  // As after `npm install shell-adapter socket.io-client`.
  mkdirSync(join(folder.path, 'node_modules'));
  symlinkSync(ROOT, join(folder.path, 'node_modules/shell-adapter'));
  symlinkSync(join(ROOT, 'node_modules/socket.io-client'), join(folder.path, 'node_modules/socket.io-client'));
  for (const { note, text } of blocks) {
    const [, name] = /^file: (.+)$/.exec(note) ?? [];
    if (name !== undefined) writeFileSync(join(folder.path, name), text);
  }
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SHELL_ADAPTER_'));
  env = {
    ...Object.fromEntries(own),
    PATH: [join(folder.path, 'bin'), dirname(process.execPath), process.env['PATH']].join(':'),
    SHELL_ADAPTER_SOCKETIO_PORT: '0',
    SHELL_ADAPTER_ADAPTER_WORKSPACE_DIRECTORY: join(folder.path, 'workspace'),
    SHELL_ADAPTER_ADAPTER_STATE_DIRECTORY: join(folder.path, 'state'),
    SHELL_ADAPTER_LOGGING_LOG_FILE_PATH: join(folder.path, 'log'),
    // The daemon runs with the providers that the page configures.
    SHELL_ADAPTER_LLM_SHELL_PROVIDERS: shellProvidersOf(blocks.find(({ note }) => note === 'file: llm.yaml')?.text),
  };
  const start = consoles.find(({ note }) => note.includes('in the background'));
  const [example] = readExamples(start?.text ?? '');
  daemon = spawn('bash', ['-c', `exec ${example?.command ?? 'false'}`], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  daemon.stderr?.resume();
  const ended = once(daemon, 'exit');
  await new Promise<void>((resolve, reject) => {
    daemon.stdout?.on('data', (chunk: Buffer) => {
      daemonOutput += chunk.toString();
      if (daemonOutput.split('\n').length > 2) resolve();
    });
    void ended.then(() => {
      reject(new Error(`the daemon ended at its start: ${daemonOutput}`));
    });
  });
  const [url] = /http:\S+/.exec(daemonOutput) ?? [];
  env = { ...env, SHELL_ADAPTER_URL: url };
});

afterAll(async () => {
  const ended = once(daemon, 'exit');
  if (daemon.exitCode === null) {
    daemon.kill('SIGTERM');
    await ended;
  }
  folder[Symbol.dispose]();
});

describe('README.md', () => {
  it('has no example that is not run here', () => {
    const code = blocks.filter(({ language }) => ['js', 'ts', 'sh', 'bash', 'shell', 'yaml'].includes(language));
    expect(code.filter(({ note }) => !note.startsWith('file: '))).toEqual([]);
    expect(blocks.filter(({ language }) => language === '')).toEqual([]);
    const names = code.map(({ note }) => note.slice('file: '.length));
    for (const name of names) expect(consoles.map(({ text }) => text).join('\n')).toContain(name);
  });

  it('shows what scripts/start prints', () => {
    const [block] = consoles;
    const [example] = readExamples(block?.text ?? '');
    expect(asShown(daemonOutput).trimEnd()).toMatch(patternOf(example!.expected));
  });

  const run = consoles.filter(({ note }) => !note.includes('in the background'));
  it.each(run.map((block) => ({ ...block, name: readExamples(block.text)[0]?.command ?? '' })))(
    'line $line: $name',
    async ({ text, note }) => {
      const examples = readExamples(text);
      const outputs = await runExamples(examples, {
        cwd: note.includes('in the repository') ? ROOT : folder.path,
        env,
      });
      expect(outputs).toHaveLength(examples.length + 1);
      examples.forEach(({ command, expected }, index) => {
        expect(asShown(outputs[index]!), `$ ${command}`).toMatch(patternOf(expected));
      });
    },
  );

  it('lists keys of the configuration that are there, with their defaults', () => {
    const rows = [
      ...PAGE.matchAll(/^\| `((?:adapter|checkpoints|socketio|logging|confirmation|llm|http)\.\w+)` +\| (.+?) +\|/gm),
    ];
    expect(rows.length).toBeGreaterThan(5);
    const settings = new Map(listSettings().map(({ path, description }) => [path.join('.'), description]));
    for (const [, key = '', shown = ''] of rows) {
      const fallback = / Default: (.+)\.$/.exec(settings.get(key) ?? '')?.[1];
      expect(fallback, key).toBeDefined();
      if (/^[`\d]/.test(shown)) expect(shown.replaceAll('`', ''), key).toBe(fallback);
    }
  });

  it('lists every subcommand', async () => {
    const [help = ''] = await runExamples([{ command: 'shell-adapter --help', expected: '' }], {
      cwd: folder.path,
      env,
    });
    const names = [...help.matchAll(/^ {2}(\w+) .*$/gm)].map(([, name = '']) => name);
    const table = PAGE.slice(PAGE.indexOf('## The command line'), PAGE.indexOf('## How it behaves'));
    for (const name of names.filter((name) => name !== 'help' && !/^shell/.test(name)))
      expect(table).toContain(`\`${name}`);
  });

  it('links to files that are there', () => {
    for (const [, target = ''] of PAGE.matchAll(/\]\((?!https?:)([^)#]+)\)/g)) {
      expect(existsSync(join(ROOT, target)), target).toBe(true);
    }
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { callCli } from './in-process.js';
import { makeFolder, runCli } from './support.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

interface Check {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
  readonly fix?: string;
}

const readChecks = (stdout: string) => {
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: readonly Check[] };
  return { ok, check: (name: string) => checks.find((entry) => entry.name === name) };
};

describe('doctor', () => {
  const nobody = { SHELL_ADAPTER_URL: 'http://127.0.0.1:1' };

  it('works without a daemon, and finds what a machine that runs these tests has', async () => {
    const { code, stdout, stderr } = await runCli(['doctor'], { env: nobody });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const name of ['node', 'pty', 'bash', 'mkfifo', 'proc'])
      expect(stdout).toMatch(new RegExp(`^ok +${name} `, 'm'));
    expect(stdout).toMatch(/^warn +daemon +none answers at http:\/\/127\.0\.0\.1:1\n +fix: start one/m);
    expect(stdout).toContain('Everything essential is there; warnings: ');
  });

  it('prints the same as JSON', async () => {
    const { code, stdout } = await callCli(['doctor', '--json'], { env: nobody });
    const { ok, check } = readChecks(stdout);
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    expect(check('pty')).toMatchObject({ status: 'ok', detail: expect.stringContaining('/dev/pts/') as string });
    expect(check('node')?.detail).toContain(process.versions.node);
    expect(check('bash')?.detail).toContain('GNU bash, version');
    expect(['limits', 'sandbox', 'runtime', 'configuration'].map((name) => check(name)?.status)).not.toContain(
      undefined,
    );
  });

  it('exits with 1 and says how to get what is missing', async () => {
    using folder = makeFolder();
    const { code, stdout } = await runCli(['doctor', '--json'], { env: { ...nobody, PATH: folder.path } });
    const { ok, check } = readChecks(stdout);
    expect({ code, ok }).toEqual({ code: 1, ok: false });
    expect(check('bash')).toMatchObject({
      status: 'missing',
      fix: expect.stringContaining('apt-get install bash') as string,
    });
    expect(check('mkfifo')).toMatchObject({ status: 'missing', fix: expect.stringContaining('coreutils') as string });
    expect(check('pty')?.status).toBe('ok');
  });

  it('asks nothing of a gateway that only commands need, but what its cluster needs', async () => {
    using folder = makeFolder();
    const file = join(folder.path, 'gateway.yaml');
    const secret = join(folder.path, 'secret');
    writeFileSync(secret, 'x'.repeat(64), { mode: 0o644 });
    const cluster = (name: string) =>
      `cluster: { enabled: true, role: gateway, insecure_links: true, secret_file: ${name} }\nllm: { shell_providers: {} }`;
    writeFileSync(file, cluster(secret));
    const doctor = () => runCli(['doctor', '--json', '--config', file], { env: { ...nobody, PATH: folder.path } });
    const { code, stdout } = await doctor();
    const { ok, check } = readChecks(stdout);
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    for (const name of ['bash', 'pty', 'mkfifo', 'git', 'limits', 'sandbox']) expect(check(name)).toBeUndefined();
    expect(check('cluster secret')?.status).toBe('ok');
    expect(check('cluster.secret_file')).toMatchObject({ status: 'warn', fix: `chmod 600 ${secret}` });
    expect(check('cluster certificate')).toMatchObject({ status: 'warn', fix: expect.any(String) as string });
    writeFileSync(file, cluster(join(folder.path, 'nowhere')));
    expect((await doctor()).code).toBe(1);
  });

  it.each([
    ['a configuration with errors', 'adapter: { bogus: 1 }', 'configuration', ':1:12: adapter.bogus'],
    ['several errors', 'adapter: { bogus: 1, port: 1 }', 'configuration', '2 problems in the configuration: /'],
    ['a shell that is not there', 'adapter: { shell: /nowhere/zsh }', 'adapter.shell', '/nowhere/zsh'],
    [
      'a state directory that cannot be',
      'adapter: { state_directory: /proc/nothing }',
      'adapter.state_directory',
      '/proc/nothing',
    ],
  ])('names %s', async (_what, text, name, detail) => {
    using folder = makeFolder();
    const file = join(folder.path, 'c.yaml');
    writeFileSync(file, text);
    const { code, stdout } = await callCli(['doctor', '--json', '--config', file]);
    expect(code).toBe(1);
    const found = readChecks(stdout).check(name);
    expect(found).toMatchObject({ status: 'missing', fix: expect.any(String) as string });
    expect(found?.detail).toContain(detail);
  });
});

describe('config', () => {
  it('check says ok for what ships with the package', async () => {
    for (const name of ['config/shell_adapter.yaml', 'config/seed.yaml']) {
      const { code, stdout } = await callCli(['config', 'check', name], { cwd: ROOT });
      expect({ code, stdout }).toEqual({ code: 0, stdout: `${join(ROOT, name)}: ok\n` });
    }
  });

  it('check lists every problem with its place', async () => {
    using folder = makeFolder();
    const file = join(folder.path, 'bad.yaml');
    writeFileSync(file, 'adapter:\n  max_sessions: -1\n  shel: bash\n');
    const { code, stdout, stderr } = await callCli(['config', 'check', file]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`${file}:2:17: adapter.max_sessions: `);
    expect(stderr).toContain(`${file}:3:3: adapter.shel: unknown key; did you mean "shell"?`);
    const json = await callCli(['config', 'check', '--json', file]);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      problems: [
        { line: 2, column: 17 },
        { line: 3, column: 3 },
      ],
    });
  });

  it('show has the settings in force, from file and environment', async () => {
    using folder = makeFolder();
    const file = join(folder.path, 'c.yaml');
    const log = 'logging: { log_format: "%(levelname)-8s 100%% %(msecs)03d %(message).9s" }';
    writeFileSync(file, `adapter: { max_sessions: 7 }\n${log}\nllm: { openai: { api_key: not-to-be-seen } }`);
    const env = { SHELL_ADAPTER_SOCKETIO_PORT: '9999' };
    const { code, stdout } = await callCli(['config', 'show', '--config', file], { env });
    expect(code).toBe(0);
    expect(stdout).toContain(`file: ${file}\n`);
    expect(stdout).toMatch(/^adapter\.max_sessions +7 +line 1$/m);
    expect(stdout).toMatch(/^adapter\.command_max_lifetime +600 +default$/m);
    expect(stdout).toMatch(/^adapter\.memory_mb_limit +none +default$/m);
    expect(stdout).toMatch(/^socketio\.port +9999 +SHELL_ADAPTER_SOCKETIO_PORT$/m);
    expect(stdout).toMatch(/^confirmation\.classes\.destructive +"checkpoint" +default$/m);
    expect(stdout).toContain('"%(levelname)-8s 100%% %(msecs)03d %(message).9s"');
    expect(stdout).toMatch(/^llm\.openai\.api_key .*line 3$/m);
    expect(stdout).not.toContain('not-to-be-seen');
    const json = await callCli(['config', 'show', '--json', '--config', file], { env });
    expect(JSON.parse(json.stdout)).toMatchObject({
      file,
      adapter: { max_sessions: 7, memory_mb_limit: null },
      socketio: { port: 9999 },
      sources: { 'adapter.max_sessions': 'line 1', 'socketio.port': 'SHELL_ADAPTER_SOCKETIO_PORT' },
    });
    expect(json.stdout).not.toContain('not-to-be-seen');
  });
});

describe('protocol', () => {
  it('prints the page, writes it, and finds it current', async () => {
    using folder = makeFolder();
    const page = readFileSync(join(ROOT, 'docs/reference/protocol.md'), 'utf8');
    expect((await callCli(['protocol'])).stdout).toBe(page);
    expect((await callCli(['protocol', '--write', 'page.md'], { cwd: folder.path })).code).toBe(0);
    expect(readFileSync(join(folder.path, 'page.md'), 'utf8')).toBe(page);
    expect((await callCli(['protocol', '--check', 'page.md'], { cwd: folder.path })).code).toBe(0);
  });

  it('says how to make a page anew that is not current, or not there', async () => {
    using folder = makeFolder();
    writeFileSync(join(folder.path, 'old.md'), '# Old\n');
    for (const name of ['old.md', 'none.md']) {
      const { code, stderr } = await callCli(['protocol', '--check', name], { cwd: folder.path });
      expect(code).toBe(1);
      expect(stderr).toContain(name);
      expect(stderr).toContain('npm run docs');
    }
  });
});

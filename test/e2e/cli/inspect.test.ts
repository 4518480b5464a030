import { EventEmitter, once } from 'node:events';
import { mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { callCli } from './in-process.js';
import { CliProcess, makeFolder, runCli } from './support.js';

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
    expect(stdout).toContain(`file: ${file} (--config)\n`);
    expect(stdout).toMatch(/^adapter\.max_sessions +7 +line 1$/m);
    expect(stdout).toMatch(/^adapter\.command_max_lifetime +86400 +default$/m);
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

describe("a user's own configuration", () => {
  it('is written by config init, and used from then on', async () => {
    using home = makeFolder();
    const env = { HOME: home.path, XDG_CONFIG_HOME: undefined, SHELL_ADAPTER_URL: 'http://127.0.0.1:1' };
    const run = (...args: string[]) => callCli(args, { env, cwd: home.path });
    const file = join(home.path, '.config/shell-adapter/config.yaml');
    expect((await run('config', 'show')).stdout).toMatch(
      /^file: .*\/config\/shell_adapter\.yaml \(the shipped file\)$/m,
    );
    expect(await run('config', 'init')).toMatchObject({ code: 0, stdout: `${file}\n` });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await run('config', 'check')).toMatchObject({ code: 0, stdout: `${file}: ok\n` });
    writeFileSync(file, 'adapter: { max_sessions: 3 }');
    const { stdout } = await run('config', 'show');
    expect(stdout).toContain(`file: ${file} (your own file)\n`);
    expect(stdout).toMatch(/^adapter\.max_sessions +3 /m);
    expect(stdout).toMatch(new RegExp(`^adapter\\.workspace_directory +"${home.path}" +default$`, 'm'));
    expect((await run('doctor')).stdout).toMatch(new RegExp(`^ok +configuration +${file} \\(your own file\\)$`, 'm'));
    expect(await run('config', 'init')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/exists already\n--force/) as string,
    });
    expect(await run('config', 'init', '--force')).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toBe(readFileSync(join(ROOT, 'config/shell_adapter.yaml'), 'utf8'));
  });

  it('is where the port is set that another program has taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    try {
      using home = makeFolder();
      const env = { HOME: home.path, SHELL_ADAPTER_SOCKETIO_PORT: String(port) };
      const { code, stderr } = await runCli(['serve'], { env, cwd: home.path });
      expect(code).toBe(1);
      expect(stderr).toContain('or socketio.port in a file of your own (`shell-adapter config init` writes it).');
    } finally {
      server.close();
    }
  });
});

describe('a configuration in the current directory', () => {
  /** Listens where only the file of the directory leads to: the port is given by the environment, the host by the file. */
  async function makeTrap() {
    let connections = 0;
    const arrivals = new EventEmitter();
    const server = createServer((socket) => {
      connections++;
      socket.destroy();
      arrivals.emit('connection');
    }).listen(0, '127.0.0.5');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    return {
      port,
      arrivals,
      connections: () => connections,
      [Symbol.asyncDispose]: async () => {
        server.close();
        await once(server, 'close');
      },
    };
  }

  it('gets no connection and no token before it is trusted, and after it was changed', async () => {
    using home = makeFolder();
    using project = makeFolder();
    await using trap = await makeTrap();
    const env = {
      HOME: home.path,
      SHELL_ADAPTER_SOCKETIO_PORT: String(trap.port),
      SHELL_ADAPTER_TOKEN: 'sat_precious',
    };
    const options = { env, cwd: project.path };
    const run = (...args: string[]) => callCli(args, options);
    mkdirSync(join(project.path, 'config'));
    const file = join(realpathSync(project.path), 'config/shell_adapter.yaml');
    writeFileSync(file, 'socketio: { host: 127.0.0.5 }\n');

    const ignored = expect.stringMatching(`${file} is ignored: read it, and trust it with .* config trust`) as string;
    for (const args of [
      ['exec', 'echo hi'],
      ['sessions'],
      ['status'],
      ['stop'],
      ['config', 'show'],
      ['token', 'list'],
    ]) {
      const { stderr } = await run(...args);
      expect(stderr, args.join(' ')).toEqual(ignored);
      expect(stderr.match(/is ignored/g), args.join(' ')).toHaveLength(1);
    }
    expect((await run('doctor')).stdout).toMatch(/^warn +configuration +.*is ignored\n +fix: read it, and trust it/m);
    expect(trap.connections()).toBe(0);

    expect(await run('config', 'trust')).toMatchObject({ code: 0, stdout: `trusted ${file} as it is now\n` });
    const list = join(home.path, '.local/state/shell-adapter/trusted-configurations.json');
    expect(statSync(list).mode & 0o777).toBe(0o600);
    expect((await run('config', 'trust', '--list')).stdout).toContain(file);
    expect((await run('config', 'check')).stdout).toBe(`${file}: ok\n`);
    {
      const arrived = once(trap.arrivals, 'connection');
      await using _client = new CliProcess(['exec', 'echo hi'], options);
      await arrived;
    }

    const before = trap.connections();
    writeFileSync(file, 'socketio: { host: 127.0.0.5 }\nconfirmation: { mode: off }\n');
    for (const args of [['exec', 'echo hi'], ['serve'], ['mcp', '--start']]) {
      const { stdout, stderr } = await run(...args);
      expect({ stdout, stderr }, args.join(' ')).toEqual({
        stdout: '',
        stderr: expect.stringContaining('has changed since you trusted it') as string,
      });
    }
    expect(await run('config', 'trust', '--revoke')).toMatchObject({ code: 0, stdout: `revoked ${file}\n` });
    expect((await run('status')).stderr).toEqual(ignored);
    expect(trap.connections()).toBe(before);
  });

  it('is trusted only where it is looked for', async () => {
    using folder = makeFolder();
    const options = { env: { HOME: folder.path }, cwd: folder.path };
    writeFileSync(join(folder.path, 'mine.yaml'), '');
    expect(await callCli(['config', 'trust', 'mine.yaml'], options)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Name other files with --config.') as string,
    });
    expect(await callCli(['config', 'trust'], options)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot be read') as string,
    });
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

import { chmodSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type ClientError, connect } from '../../../src/client/index.js';
import { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { descriptorTargets } from '../../support/processes.js';
import { WireClient } from '../../support/wire.js';
import { callCli } from '../cli/in-process.js';
import { type CliResult } from '../cli/support.js';

let daemon: TestDaemon;

beforeAll(async () => {
  daemon = await TestDaemon.start();
});
afterAll(() => daemon[Symbol.asyncDispose]());

const cli = (args: readonly string[], env: Record<string, string> = {}): Promise<CliResult> =>
  callCli(args, { env: { SHELL_ADAPTER_CONFIG: join(daemon.directory, 'config.yaml'), ...env } });

const come = (token: string) => WireClient.connect(daemon.url, ['websocket'], { token });

/** Resolves when the daemon has closed the connection, with what it said before. */
const endOf = async (client: WireClient): Promise<string> => {
  const closed = new Promise((resolve) => client.socket.once('disconnect', resolve));
  const { message } = await client.event('access_ended');
  expect(await closed).toBe('io server disconnect');
  return message;
};

describe('shell-adapter token', () => {
  it('makes a token with which a client is what its role says', async () => {
    const { code, stdout } = await cli(['token', 'create', '--role', 'viewer', '--name', 'board', '--json']);
    expect(code).toBe(0);
    const made = JSON.parse(stdout) as { token: string; name: string };
    expect(made).toMatchObject({ name: 'board', role: 'viewer', expires_at: null });
    await using client = await come(made.token);
    expect((await client.request('list_sessions')).error).toBeUndefined();
    expect((await client.request('open_session')).error).toEqual({
      code: 'FORBIDDEN',
      message: 'open_session needs one of the roles agent, operator, admin; this connection has the role viewer',
      details: { request: 'open_session', role: 'viewer', needs: ['agent', 'operator', 'admin'] },
    });
  });

  it('lists tokens without what opens anything', async () => {
    const secret = daemon.createToken('agent', 'listed', 7_200_000);
    const list = await cli(['token', 'list', '--json']);
    const { tokens } = JSON.parse(list.stdout) as { tokens: Record<string, unknown>[] };
    expect(tokens.find(({ name }) => name === 'listed')).toEqual({
      id: expect.stringMatching(/^token_/) as string,
      name: 'listed',
      role: 'agent',
      created_at: expect.any(String) as string,
      expires_at: expect.any(String) as string,
    });
    const table = (await cli(['token', 'list'])).stdout;
    expect(table).toMatch(/^NAME +ROLE +AGE +EXPIRES +ID\nfirst +admin/);
    expect(table).toMatch(/^listed +agent +\d+s +in (119|120|2)[mh] +token_/m);
    expect(table + list.stdout).not.toContain(secret.slice(4));
  });

  it.each([
    [['create', '--role', 'root', '--name', 'x'], 2, /choices are viewer, agent, operator, admin/],
    [['create', '--role', 'agent'], 2, /required option '--name/],
    [['create', '--role', 'agent', '--name', 'a b'], 2, /"a b" is no name of a token: 1 to 64 letters/],
    [['create', '--role', 'agent', '--name', 'x', '--expires', 'soon'], 2, /"soon" is no span of time\n.*90d/],
    [['create', '--role', 'agent', '--name', 'x', '--expires', '0d'], 2, /"0d" is no span/],
    [
      ['create', '--role', 'agent', '--name', 'first'],
      1,
      /there is a token named first; take another name, or rotate it/,
    ],
    [['revoke', 'nobody'], 1, /there is no token "nobody"; there are: first/],
    [['rotate', '../token'], 1, /there is no token "..\/token"/],
  ])('%j is refused with what would be right', async (args, code, text) => {
    const result = await cli(['token', ...args]);
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(text);
    expect(result.stdout).toBe('');
  });

  it('is shown by --token or SHELL_ADAPTER_TOKEN, and named when it is missing or wrong', async () => {
    const secret = daemon.createToken('agent', 'cli');
    const session = (await cli(['open', '--url', daemon.url], { SHELL_ADAPTER_TOKEN: secret })).stdout.trim();
    const listed = JSON.parse((await cli(['sessions', '--json', '--url', daemon.url, '--token', secret])).stdout) as {
      sessions: { session_id: string; owner: string }[];
    };
    expect(listed.sessions).toMatchObject([{ session_id: session, owner: 'cli' }]);
    const wrong = await cli(['sessions', '--url', daemon.url, '--token', 'sat_wrong']);
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
    expect(wrong.stderr).toMatch(/the token is not known: .*\n.*SHELL_ADAPTER_TOKEN or --token/);
  });
});

describe('a daemon that runs notices', () => {
  it('a revoked token: its connections end with the reason, others stay', async () => {
    await using other = await come(daemon.createToken('agent', 'stays'));
    await using client = await come(daemon.createToken('agent', 'goes'));
    const ended = endOf(client);
    expect((await cli(['token', 'revoke', 'goes'])).stdout).toBe('revoked goes\n');
    expect(await ended).toBe('the token goes was revoked');
    expect((await other.run('echo on')).stdout).toBe('on\n');
    expect(daemon.tokens.read().tokens.map(({ name }) => name)).not.toContain('goes');
  });

  it('a revoked token: the outputs that were kept for it are dropped', async () => {
    const spooled = () =>
      readdirSync(join(daemon.directory, 'state', 'spool'), { recursive: true, withFileTypes: true }).filter((entry) =>
        entry.isFile(),
      ).length;
    /** Outputs that the daemon holds open: other descriptors come and go with what is started ahead of need. */
    const held = () => descriptorTargets(daemon.pid).filter((path) => path.includes('/state/spool/')).length;
    const before = [spooled(), held()];
    await using client = await come(daemon.createToken('agent', 'prints'));
    for (let count = 0; count < 3; count++) await client.run('seq 20000');
    expect(spooled()).toBe(before[0]! + 3);
    daemon.tokens.revoke('prints');
    await endOf(client);
    await eventually(() => {
      expect([spooled(), held()]).toEqual(before);
    });
  });

  it('a replaced token: the old one ends, the new one has its sessions', async () => {
    await using client = await come(daemon.createToken('agent', 'turns'));
    const session = await client.openSession();
    const ended = endOf(client);
    const secret = (await cli(['token', 'rotate', 'turns'])).stdout.trim();
    expect(await ended).toMatch(/^the token turns was changed/);
    await using again = await come(secret);
    expect((await again.run('echo still', session)).stdout).toBe('still\n');
  });

  it('an expired token', async () => {
    await using client = await come(daemon.createToken('agent', 'brief', 700));
    expect(await endOf(client)).toMatch(/^the token brief has expired \(2/);
  });

  it('a token whose file has gone, also after SIGHUP alone', async () => {
    await using client = await come(daemon.createToken('agent', 'removed'));
    const { id } = daemon.tokens.read().tokens.find(({ name }) => name === 'removed')!;
    const ended = endOf(client);
    rmSync(join(daemon.tokens.directory, `${id}.json`));
    daemon.signal('SIGHUP');
    expect(await ended).toBe('the token removed was revoked');
  });

  it('a client that would come back gives up, and says why', async () => {
    const token = daemon.createToken('agent', 'returns');
    await using client = await connect(daemon.url, { token, reconnectDelayMs: 10 });
    const closed = new Promise<ClientError | undefined>((resolve) => {
      client.onConnection((state, error) => {
        if (state === 'closed') resolve(error);
      });
    });
    daemon.tokens.revoke('returns');
    expect(await closed).toMatchObject({ code: 'REFUSED', details: { code: 'UNAUTHORIZED' } });
    await expect(client.metadata()).rejects.toThrow('the token is not known');
  });
});

describe('files of tokens', () => {
  it('that are none count for nothing, and the rest stays', async () => {
    writeFileSync(join(daemon.tokens.directory, 'token_bad.json'), '{"name": "bad", "role": "admin"}');
    await using client = await come(daemon.createToken('agent', 'beside'));
    expect((await client.run('echo on')).stdout).toBe('on\n');
    expect((await cli(['token', 'list'])).stderr).toMatch(/token_bad\.json is not a token/);
    rmSync(join(daemon.tokens.directory, 'token_bad.json'));
    expect(readdirSync(daemon.tokens.directory).every((name) => name.endsWith('.json'))).toBe(true);
  });

  it('that others could write count for nothing', async () => {
    const token = daemon.createToken('agent', 'open');
    chmodSync(daemon.tokens.directory, 0o777);
    await expect(come(token)).rejects.toThrow('the token is not known');
    expect((await cli(['token', 'list'])).stderr).toMatch(/can be written by others: no token in it counts; chmod 700/);
    chmodSync(daemon.tokens.directory, 0o700);
    await eventually(async () => {
      await using client = await come(token);
      return client.socket.connected;
    });
  });
});

it('with auth.mode token, the command line takes the first token by itself where it knows the daemon by its file', async () => {
  const port = Number(new URL(daemon.url).port);
  await daemon.stop();
  await using strict = await TestDaemon.startCold(
    { settings: { auth: { mode: 'token' }, socketio: { port } } },
    daemon.directory,
  );
  const own = await cli(['exec', '--no-stdin', 'echo in']);
  expect(own).toMatchObject({ code: 0, stdout: 'in\n' });
  const byUrl = await cli(['sessions', '--url', strict.url]);
  expect(byUrl.stderr).toMatch(/a token is needed/);
  expect(byUrl.code).toBe(1);
});

import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { TestDaemon } from '../../support/daemon.js';
import { isRoot, ROOT_MARK } from '../../support/root.js';
import { canBeNobody, canSandbox, startAsNobody, startSandboxed } from '../../support/sandbox.js';
import { WireClient } from '../../support/wire.js';
import { PackageSite } from './package-site.js';

/** Nobody has no mark: the run of an ordinary user, beside which the marked tests are run, is the same. */
const USERS = [isRoot ? `root ${ROOT_MARK}` : 'this user', ...(canBeNobody ? ['nobody'] : [])];

describe.runIf(canSandbox).each(USERS)('a sandbox with an allow-list, as %s', (user) => {
  let site: PackageSite;
  let ports: Readonly<Record<'WEB' | 'TLS' | 'OTHER', number>>;
  let daemon: TestDaemon;
  let client: WireClient;
  let session: string;

  beforeAll(async () => {
    site = new PackageSite();
    const [WEB = 0, TLS = 0, OTHER = 0] = await site.listen();
    ports = { WEB, TLS, OTHER };
    const network = {
      allow: [`localhost:${WEB}`, `127.0.0.1:${WEB}`, `localhost:${TLS}`, '127.0.0.1', '*.example.org'],
    };
    const settings = { sandbox: { profile: 'strict', require: true, network: { ...network, max_connections: 3 } } };
    if (user.startsWith('nobody')) ({ daemon, client } = await startAsNobody({ settings }));
    else {
      daemon = await startSandboxed({ settings });
      client = await WireClient.connect(daemon.url);
    }
    session = await client.openSession();
  });
  afterAll(async () => {
    site[Symbol.dispose]();
    await client[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
  });

  const run = async (command: string, session_id?: string) => {
    const names = Object.entries(ports).map(([name, port]) => `${name}=${port}`);
    const text = `DAEMON=${new URL(daemon.url).port} ${names.join(' ')}; ${command}`;
    const result = await client.request('execute_command', { command: text, session_id });
    const { command_id: id, stdout, exit_code } = result;
    return { id, stdout, exit_code, warnings: result.warnings.map(({ message }: { message: string }) => message) };
  };

  it.each([
    ['plain HTTP', 'curl -sS http://localhost:$WEB/x', 'GET /x localhost:WEB\n'],
    [
      'plain HTTP in a tunnel',
      'curl -sSp http://127.0.0.1:$WEB/x http://127.0.0.1:$WEB/y',
      'GET /x 127.0.0.1:WEB\nGET /y 127.0.0.1:WEB\n',
    ],
    ['HTTPS', 'curl -sSk https://localhost:$TLS/x', 'GET /x localhost:TLS\n'],
    [
      'SOCKS',
      'curl -sSk --socks5-hostname 127.0.0.1:3128 https://localhost:$TLS/x http://localhost:$WEB/',
      'GET /x localhost:TLS\nGET / localhost:WEB\n',
    ],
    ['bodies', 'head -c 300000 /dev/zero | curl -sS -T - http://localhost:$WEB/up', 'PUT /up localhost:WEB\n'],
    [
      'git',
      'git clone -q http://localhost:$WEB/repository cloned && git -C cloned log --format=%s; rm -rf cloned',
      'one\n',
    ],
  ])('lets what is listed through: %s', async (_, command, stdout) => {
    const expected = stdout.replaceAll(/WEB|TLS/g, (name) => String(ports[name as 'WEB']));
    for (const place of [session, undefined]) {
      expect(await run(command, place)).toMatchObject({ stdout: expected, warnings: [] });
    }
  });

  it.for([
    ['npm', 'view thing version --registry http://localhost:$WEB/', '1.2.3\n'],
    ['python3 -m pip', 'index versions thing -i http://localhost:$WEB/simple/', 'thing (4.5.6)\n'],
  ] as const)('lets package managers through: %s', async ([program, task, stdout], { skip }) => {
    const { exit_code: isMissing } = await run(`HOME=/tmp ${program} --version`);
    skip(isMissing !== 0, `${program} does not work here for this user`);
    expect(await run(`HOME=/tmp ${program} ${task} 2>/dev/null | head -1`)).toMatchObject({ stdout, warnings: [] });
  });

  it.each([
    [
      'another host',
      'curl -sS https://example.com/',
      'example.com:443 was refused: it is not in sandbox.network.allow',
    ],
    ['a port', 'curl -sS http://localhost:$OTHER/', 'localhost:OTHER was refused: it is not in'],
    ['an address by another spelling', 'curl -sS http://2130706434/', '127.0.0.2:80 was refused: it is not in'],
    ['the daemon', 'curl -sS http://127.0.0.1:$DAEMON/healthz', 'which no setting opens'],
    ['another Host', 'curl -sS -H "Host: example.net" http://localhost:$WEB/', 'its Host header names example.net'],
    [
      'another Host in a tunnel',
      'curl -sSp -H "Host: example.net" http://localhost:$WEB/',
      'its Host header names example.net',
    ],
    [
      'another name in TLS',
      'curl -sSk --connect-to ::localhost:$TLS https://example.net/',
      'its TLS handshake names example.net',
    ],
    [
      'the same over SOCKS',
      'curl -sSk --socks5-hostname 127.0.0.1:3128 --connect-to ::localhost:$TLS https://example.net/',
      'names example.net',
    ],
    ['SOCKS to elsewhere', 'curl -sS --socks5-hostname 127.0.0.1:3128 http://10.0.0.1/', '10.0.0.1:80 was refused'],
  ])('refuses %s, and says so', async (_, command, warning) => {
    const expected = warning.replace('OTHER', String(ports.OTHER));
    const audit = () => readFileSync(join(daemon.directory, 'state', 'audit.jsonl'), 'utf8').split('\n');
    for (const place of [session, undefined]) {
      const { id, warnings } = await run(`${command}; true`, place);
      expect(warnings).toEqual([expect.stringContaining(expected)]);
      const isRecord = (line: string) => ['egress_refused', id, expected].every((part) => line.includes(part));
      // Records are written a moment after the answer.
      await expect.poll(() => audit().filter(isRecord).length).toBe(1);
    }
  });

  it('has no way out but the proxy', async () => {
    const direct = await run('curl -sS --noproxy "*" -m 5 http://127.0.0.1:$WEB/ http://10.0.0.1/');
    expect(direct).toMatchObject({ exit_code: 7, stdout: '', warnings: [] });
  });

  it('bounds the connections of a sandbox', async () => {
    const hold = 'for i in 1 2 3 4; do exec {fd}<>/dev/tcp/127.0.0.1/3128; done; read -t 5 -N 1 -u $fd; exec bash';
    const { warnings } = await run(`bash -c '${hold.replace('; exec bash', '')}'; true`);
    expect(warnings).toEqual([expect.stringContaining('3 connections are open already')]);
    expect(await run('curl -sS http://localhost:$WEB/')).toMatchObject({ warnings: [] });
  });

  it('counts connections and bytes', async () => {
    const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
    expect(metrics).toMatch(/egress_connections_total\{outcome="allowed"\} [1-9]/);
    expect(metrics).toMatch(/egress_connections_total\{outcome="refused"\} [1-9]/);
    expect(metrics).toMatch(/egress_bytes_total\{direction="sent"\} [3-9]\d{5,}/);
  });

  it('reaches no Unix socket, and no other family of sockets', async () => {
    const path = join(daemon.directory, 'plain.sock');
    const server = createServer((socket) => socket.end('reached'));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const connect = `use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, sockaddr_un("${path}")) or die "$!"`;
    const script = `${connect}; print <S>`;
    try {
      for (const place of [session, undefined]) {
        expect(await run(`perl -e '${script}'`, place)).toMatchObject({ stdout: '', exit_code: 1 });
        const others = await run(
          `for family in 17 38 40; do perl -e 'socket(S, $ARGV[0], 1, 0) and print "made $ARGV[0]"' $family; done;
           perl -e 'use Socket; socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) and print "datagrams"';
           perl -e 'use Socket; socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) and print "pair"'`,
          place,
        );
        expect(others.stdout).toBe('pair');
      }
    } finally {
      server.close();
    }
  });
});

import { type ChildProcessByStdio, execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { isRoot, itRootIf, ROOT_MARK } from '../../support/root.js';

const run = promisify(execFile);

/**
 * For each line with an address and headers, makes a WebSocket handshake with these headers and nothing else, and joins the namespace;
 * prints how that ends, in a line with the number of the other line.
 */
const HANDSHAKES = `
import { request } from 'node:http';
import { createInterface } from 'node:readline';
const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
const shake = (url, headers, tell) => {
  const asked = request(url + '/socket.io/?EIO=4&transport=websocket', { agent: false, headers: { ...upgrade, ...headers } });
  const end = (verdict) => { tell(verdict); asked.destroy(); };
  asked
    .on('response', ({ statusCode }) => end('refused ' + statusCode))
    .on('error', (error) => end(error.message))
    .on('upgrade', (_response, socket, head) => {
      let text = head.toString('latin1');
      const look = () => {
        const isIn = text.includes('40{');
        if (!isIn && !text.includes('44{')) return;
        end(isIn ? 'let in' : 'needs a token: ' + text.slice(text.indexOf('44{')));
        socket.destroy();
      };
      socket.on('error', () => undefined);
      socket.on('data', (data) => { text += data.toString('latin1'); look(); });
      // Frames of clients are masked (RFC 6455, 5.3): here with zeros.
      socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x34, 0x30]));
      look();
    })
    .end();
};
let lines = 0;
createInterface({ input: process.stdin }).on('line', (line) => {
  const number = lines++;
  const { url, headers } = JSON.parse(line);
  let hasTold = false;
  shake(url, headers, (verdict) => {
    if (!hasTold) console.log(number + ' ' + verdict.replaceAll('\\n', ' '));
    hasTold = true;
  });
});
`;

/** A program of some user that makes handshakes. */
class Client implements Disposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #verdicts: ((verdict: string) => void)[] = [];

  /** @param uid by default that of the tests */
  constructor(uid?: number) {
    const as = uid === undefined ? {} : { uid, gid: uid };
    const args = ['--input-type=module', '-e', HANDSHAKES];
    this.#child = spawn(process.execPath, args, { cwd: '/', stdio: ['pipe', 'pipe', 'inherit'], ...as });
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const [, number, verdict] = /^(\d+) (.*)$/.exec(line) ?? [];
      this.#verdicts[Number(number)]?.(verdict ?? '');
    });
  }

  async shakeHands(url: string, headers: Record<string, string>): Promise<string> {
    const verdict = new Promise<string>((resolve) => this.#verdicts.push(resolve));
    this.#child.stdin.write(`${JSON.stringify({ url, headers })}\n`);
    return verdict;
  }

  [Symbol.dispose](): void {
    this.#child.stdin.end();
    this.#child.kill();
  }
}

const clients = new Map<number | undefined, Client>();

function handshake(url: string, headers: Record<string, string>, uid?: number): Promise<string> {
  const client = clients.get(uid) ?? new Client(uid);
  clients.set(uid, client);
  return client.shakeHands(url, headers);
}

const OTHER_UID = 12_345;
const canBeOther = isRoot && spawnSync(process.execPath, ['--version'], { uid: OTHER_UID, cwd: '/' }).status === 0;

const daemons: Partial<Record<string, TestDaemon>> = {};
beforeAll(async () => {
  for (const mode of ['auto', 'token', 'none'])
    daemons[mode] = await TestDaemon.startCold({ settings: { auth: { mode } } });
});
afterAll(async () => {
  for (const client of clients.values()) client[Symbol.dispose]();
  clients.clear();
  for (const daemon of Object.values(daemons)) await daemon?.[Symbol.asyncDispose]();
});

const ORIGINS = {
  none: () => undefined,
  own: (host: string) => `http://${host}`,
  'another port': (host: string) => `http://${host.split(':')[0]}:1`,
  foreign: () => 'https://evil.example',
  null: () => 'null',
};
type OriginName = keyof typeof ORIGINS;

const NEEDS_TOKEN = /^needs a token: .*"code":"UNAUTHORIZED"/;
const LET_IN = /^let in$/;
const REFUSED = /^refused 40[03]$/;

/** What becomes of a client without a token. */
function expected(mode: string, origin: OriginName, isOwnHost: boolean, isOwnUser: boolean): RegExp {
  if (!isOwnHost) return REFUSED;
  const isProgram = origin === 'none' || origin === 'own';
  if (mode === 'none') return isProgram ? LET_IN : REFUSED;
  return mode === 'auto' && isProgram && isOwnUser ? LET_IN : NEEDS_TOKEN;
}

const CASES = ['auto', 'token', 'none'].flatMap((mode) =>
  [true, false].flatMap((isOwnHost) =>
    (canBeOther ? [true, false] : [true]).flatMap((isOwnUser) =>
      (Object.keys(ORIGINS) as OriginName[]).map((origin) => ({
        mode,
        origin,
        isOwnHost,
        isOwnUser,
        user: isOwnUser ? 'its own' : `another ${ROOT_MARK}`,
      })),
    ),
  ),
);

describe.concurrent('a client without a token', () => {
  it.each(CASES)(
    'auth.mode $mode, origin $origin, own host $isOwnHost, the client’s user $user',
    async ({ mode, origin, isOwnHost, isOwnUser }) => {
      const { url } = daemons[mode]!;
      const host = isOwnHost ? new URL(url).host : 'evil.example:80';
      const value = ORIGINS[origin](host);
      const headers = { host, ...(value !== undefined && { origin: value }) };
      const verdict = await handshake(url, headers, isOwnUser ? undefined : OTHER_UID);
      expect(verdict).toMatch(expected(mode, origin, isOwnHost, isOwnUser));
    },
  );

  it('in a browser needs one even with the origin of the daemon', async () => {
    const { url } = daemons['auto']!;
    const { host } = new URL(url);
    const browser = { host, origin: `http://${host}`, 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' };
    expect(await handshake(url, browser)).toMatch(NEEDS_TOKEN);
  });

  it('is told why it needs one', async () => {
    const { url } = daemons['auto']!;
    const { host } = new URL(url);
    expect(await handshake(url, { host, origin: 'http://localhost:1' })).toContain(
      `Origin: http://localhost:1, as those of web pages have; a program may leave it out, or send http://${host}`,
    );
    expect(await handshake(url, { host, via: '1.1 proxy' })).toContain('a proxy forwards the request');
    expect(await handshake(daemons['token']!.url, { host: new URL(daemons['token']!.url).host })).toContain(
      'auth.mode is token',
    );
    if (canBeOther)
      expect(await handshake(url, { host }, OTHER_UID)).toContain("not from a process of the daemon's own user");
  });
});

/** Debian's own, which has its packages: another one may come first on PATH. */
const PYTHON3 = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';

/** Why Python's clients cannot be tried here; undefined where they can. */
function pythonObstacle(): string | undefined {
  const { error, status, stderr } = spawnSync(PYTHON3, ['-c', 'import socketio, websocket'], { encoding: 'utf8' });
  if (error) return 'python3 is not installed';
  return status === 0
    ? undefined
    : `python3-socketio or python3-websocket is missing: ${stderr.trim().split('\n').at(-1)}`;
}

const obstacle = pythonObstacle();
if (obstacle !== undefined) process.stderr.write(`Python's clients are not tested: ${obstacle}\n`);

/** Connects, waits so many seconds for that, runs a command, and prints its output or why it was refused. */
const PYTHON = `
import os, socketio, sys
client = socketio.Client()
client.on('connect_error', lambda data: print('refused:', data))
try:
    client.connect(sys.argv[1], transports=['websocket'], wait_timeout=float(sys.argv[2]))
    print(client.call('execute_command', {'command': 'echo from python'})['stdout'], end='')
    client.disconnect()
except socketio.exceptions.ConnectionError:
    pass
# After a refusal its threads go on.
sys.stdout.flush()
os._exit(0)
`;

describe.skipIf(obstacle !== undefined)('Python’s synchronous client', () => {
  it('is let in by WebSocket without a token, as its user', async () => {
    const { stdout } = await run(PYTHON3, ['-c', PYTHON, daemons['auto']!.url, '30']);
    expect(stdout).toBe('from python\n');
  });

  itRootIf(canBeOther)('of another user is not, and is told why', async () => {
    // It waits that long after a refusal, too.
    const args = ['-c', PYTHON, daemons['auto']!.url, '5'];
    const { stdout } = await run(PYTHON3, args, { uid: OTHER_UID, gid: OTHER_UID, cwd: '/' });
    expect(stdout).toContain("not from a process of the daemon's own user");
  });
});

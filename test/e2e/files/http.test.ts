import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { askRest } from '../../support/network/rest.js';
import { WireClient } from '../../support/wire.js';

const SECRET = 'correct-horse-battery';
const MIB = 1024 * 1024;
const CONTENT = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7) % 253));

let daemon: TestDaemon;
let agent: string;
let viewer: string;

const at = (...names: string[]) => join(daemon.workspace, ...names);
const sha256 = (content: Uint8Array | string, encoding: 'hex' | 'base64' = 'hex') =>
  createHash('sha256').update(content).digest(encoding);
/** Names of what a failed upload must not leave. */
const leftovers = () => readdirSync(daemon.workspace).filter((name) => name.startsWith('.shell-adapter'));

type Init = Omit<RequestInit, 'body'> & { readonly body?: string | Uint8Array; readonly token?: string };
const send = (path: string, { token = agent, headers, body, ...init }: Init = {}) =>
  fetch(`${daemon.url}/v1/files/${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}`, ...(headers as Record<string, string>) },
    ...(body !== undefined && { body: body as NonNullable<RequestInit['body']> }),
  });
const put = (path: string, body: string | Uint8Array, init: Init = {}) => send(path, { ...init, method: 'PUT', body });
const codeOf = async (response: Response) =>
  ((await response.json()) as { readonly error?: { readonly code: string } }).error?.code;
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

beforeAll(async () => {
  daemon = await TestDaemon.start({
    settings: {
      secrets: { values: [SECRET] },
      confirmation: { mode: 'self', rules: [{ action: 'deny', path: '**/forbidden/**', reason: 'no' }] },
    },
    // Larger files than the limit of the shells are what a full disk looks like.
    launcher: ['prlimit', '--fsize=8388608'],
  });
  agent = daemon.createToken('agent', 'ann');
  viewer = daemon.createToken('viewer', 'vic');
  writeFileSync(at('data'), CONTENT);
});
afterAll(() => daemon[Symbol.asyncDispose]());

describe('GET /v1/files/PATH', () => {
  it('sends a file with what caches and pages need to know', async () => {
    const answer = await send('data');
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': String(CONTENT.length),
      'accept-ranges': 'bytes',
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
      'last-modified': statSync(at('data')).mtime.toUTCString(),
      etag: expect.stringMatching(/^"[\w-]+"$/) as string,
    });
    expect((await bytesOf(answer)).equals(CONTENT)).toBe(true);
  });

  it.each<[string, number, number, string]>([
    ['bytes=0-0', 0, 1, '0-0'],
    ['bytes=1000-1999', 1000, 1000, '1000-1999'],
    ['bytes=299999-', 299_999, 1, '299999-299999'],
    ['bytes=-500', 299_500, 500, '299500-299999'],
    ['bytes=299000-999999', 299_000, 1000, '299000-299999'],
  ])('sends %s', async (range, offset, length, shown) => {
    const answer = await send('data', { headers: { range } });
    expect(answer.status).toBe(206);
    expect(answer.headers.get('content-range')).toBe(`bytes ${shown}/300000`);
    expect(await bytesOf(answer)).toEqual(CONTENT.subarray(offset, offset + length));
  });

  it('refuses a range behind the end, and ignores what is none', async () => {
    const behind = await send('data', { headers: { range: 'bytes=300000-' } });
    expect(behind.status).toBe(416);
    expect(behind.headers.get('content-range')).toBe('bytes */300000');
    expect(await codeOf(behind)).toBe('INVALID_REQUEST');
    for (const range of ['bytes=5-3', 'lines=1-2', 'bytes=0-1,4-5', 'nonsense']) {
      const answer = await send('data', { headers: { range } });
      expect(answer.status).toBe(200);
      expect(await bytesOf(answer)).toHaveLength(CONTENT.length);
    }
  });

  it('takes conditions on the version', async () => {
    const { headers } = await send('data', { method: 'HEAD' });
    const etag = headers.get('etag')!;
    expect((await send('data', { headers: { 'if-none-match': etag } })).status).toBe(304);
    expect((await send('data', { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
    expect((await send('data', { headers: { 'if-match': etag } })).status).toBe(200);
    expect((await send('data', { headers: { 'if-match': '"other"' } })).status).toBe(412);
    const range = 'bytes=0-9';
    expect((await send('data', { headers: { range, 'if-range': etag } })).status).toBe(206);
    expect((await send('data', { headers: { range, 'if-range': '"other"' } })).status).toBe(200);
  });

  it('answers HEAD without reading the file, and an empty file with nothing', async () => {
    const head = await send('data', { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '300000', '']);
    writeFileSync(at('empty'), '');
    const empty = await send('empty');
    expect([empty.status, empty.headers.get('content-length'), await empty.text()]).toEqual([200, '0', '']);
  });

  it.each([
    ['the whole', undefined],
    ['its end', 'bytes=1000-'],
  ])('gives the SHA-256 of the whole file after %s', async (_, range) => {
    const headers = { authorization: `Bearer ${agent}`, 'want-repr-digest': 'sha-256=1', ...(range && { range }) };
    const trailer = await new Promise((resolve, reject) => {
      request(`${daemon.url}/v1/files/data`, { headers, agent: false }, (response) => {
        response.resume().on('end', () => {
          resolve(response.trailers['repr-digest']);
        });
      })
        .on('error', reject)
        .end();
    });
    expect(trailer).toBe(`sha-256=:${sha256(CONTENT, 'base64')}:`);
  });

  it('masks secrets without a change of sizes, also at the edges of a range', async () => {
    writeFileSync(at('secret'), `before ${SECRET} after ${SECRET}`);
    const masked = `before ${'*'.repeat(SECRET.length)} after ${'*'.repeat(SECRET.length)}`;
    expect(await (await send('secret')).text()).toBe(masked);
    for (const [from, to] of [
      [0, 10],
      [10, 20],
      [20, 35],
      [30, masked.length - 1],
    ] as const) {
      const part = await send('secret', { headers: { range: `bytes=${from}-${to}` } });
      expect(await part.text()).toBe(masked.slice(from, to + 1));
    }
  });

  it('takes absolute paths, names with any characters, and the directory of a session', async () => {
    expect((await send(encodeURIComponent(at('data')))).status).toBe(200);
    expect((await send(at('data'))).status).toBe(200);
    writeFileSync(at('50% é?#.txt'), 'x');
    expect(await (await send(encodeURIComponent('50% é?#.txt'))).text()).toBe('x');
    mkdirSync(at('sub'));
    writeFileSync(at('sub/inner'), 'inner');
    const { body } = await askRest(daemon.url, 'open_session', { cwd: at('sub') }, { token: agent });
    expect(await (await send(`inner?session_id=${String(body['session_id'])}`)).text()).toBe('inner');
    await askRest(daemon.url, 'close_session', { session_id: body['session_id'] }, { token: agent });
  });

  it.each<[string, number, string]>([
    ['missing', 404, 'FILE_NOT_FOUND'],
    ['data/below', 409, 'NOT_A_DIRECTORY'],
    ['.', 409, 'NOT_A_FILE'],
    ['', 400, 'INVALID_REQUEST'],
    ['%2Fproc%2Fversion', 409, 'NOT_A_FILE'],
    ['forbidden/x', 403, 'COMMAND_DENIED'],
    ['data?session_id=gone', 404, 'SESSION_NOT_FOUND'],
    ['data?offset=1', 400, 'INVALID_REQUEST'],
    ['%00', 400, 'INVALID_REQUEST'],
    ['%zz', 400, 'INVALID_REQUEST'],
  ])('of %j gets %s %s', async (path, status, code) => {
    const answer = await send(path === '.' ? encodeURIComponent(daemon.workspace) : path);
    expect([answer.status, await codeOf(answer)]).toEqual([status, code]);
  });
});

describe('PUT /v1/files/PATH', () => {
  it('creates and replaces, and says by the entity tag what is there now', async () => {
    const created = await put('new', 'one');
    expect(created.status).toBe(201);
    expect(await created.json()).toMatchObject({ size: 3, sha256: sha256('one'), created: true });
    const replaced = await put('new', 'two!', { headers: { 'if-match': created.headers.get('etag')! } });
    expect(replaced.status).toBe(200);
    expect(replaced.headers.get('etag')).toBe((await send('new', { method: 'HEAD' })).headers.get('etag'));
    expect(readFileSync(at('new'), 'utf8')).toBe('two!');
  });

  it('takes bytes of any type, in chunks too, and empty ones', async () => {
    const pieces = Readable.from([CONTENT.subarray(0, 100_000), CONTENT.subarray(100_000)]);
    const init = { method: 'PUT', body: pieces, duplex: 'half' } as unknown as RequestInit;
    const headers = { authorization: `Bearer ${agent}`, 'content-type': 'application/json' };
    const chunked = await fetch(`${daemon.url}/v1/files/chunked`, { ...init, headers });
    expect(await chunked.json()).toMatchObject({ size: CONTENT.length, sha256: sha256(CONTENT) });
    expect(await (await put('nothing', '')).json()).toMatchObject({ size: 0, created: true });
  });

  it('takes the fields of write_file', async () => {
    expect((await put('deep/er/file?create_directories=true&permissions=640', 'x')).status).toBe(201);
    expect(statSync(at('deep/er/file')).mode & 0o777).toBe(0o640);
    expect((await put('deep/er/file?mode=append', 'y')).status).toBe(200);
    expect(readFileSync(at('deep/er/file'), 'utf8')).toBe('xy');
    const { mtimeMs } = statSync(at('deep/er/file'));
    expect((await put(`deep/er/file?expected_mtime_ms=${mtimeMs}&expected_sha256=${sha256('xy')}`, 'z')).status).toBe(
      200,
    );
  });

  it('loses no change of another client', async () => {
    const etag = (await put('shared', 'mine')).headers.get('etag')!;
    writeFileSync(at('shared'), 'theirs');
    const late = await put('shared', 'mine again', { headers: { 'if-match': etag } });
    expect([late.status, await codeOf(late)]).toEqual([412, 'FILE_CHANGED']);
    const taken = await put('shared', 'mine', { headers: { 'if-none-match': '*' } });
    expect([taken.status, await codeOf(taken)]).toEqual([412, 'FILE_EXISTS']);
    expect((await put('missing', 'x', { headers: { 'if-match': '*' } })).status).toBe(412);
    expect(readFileSync(at('shared'), 'utf8')).toBe('theirs');
    // A change between the check and the end of the body.
    const current = (await send('shared', { method: 'HEAD' })).headers.get('etag')!;
    const slow = slowUpload('shared', { 'if-match': current });
    await eventually(() => {
      expect(leftovers()).toHaveLength(1);
    });
    writeFileSync(at('shared'), 'changed meanwhile');
    expect(await slow.end()).toBe(412);
    expect(readFileSync(at('shared'), 'utf8')).toBe('changed meanwhile');
    expect(leftovers()).toEqual([]);
  });

  it('checks the SHA-256 that the client gives', async () => {
    const digest = (content: string) => ({ 'content-digest': `sha-256=:${sha256(content, 'base64')}:` });
    expect((await put('checked', 'right', { headers: digest('right') })).status).toBe(201);
    const wrong = await put('checked', 'wrong', { headers: digest('right') });
    expect([wrong.status, await codeOf(wrong)]).toEqual([400, 'INVALID_REQUEST']);
    expect(readFileSync(at('checked'), 'utf8')).toBe('right');
    expect((await put('checked', 'x', { headers: { 'content-digest': 'md5=:x:' } })).status).toBe(400);
  });

  it('keeps what has come of an upload with a key, and takes the SHA-256 after it', async () => {
    const slow = slowUpload('resumed?resume=key');
    const part = at('.resumed.key.part');
    await eventually(() => {
      expect(existsSync(part) && statSync(part).size).toBe(MIB);
    });
    slow.breakOff();
    const wrongPlace = await put('resumed?resume=key', 'x');
    expect([wrongPlace.status, await wrongPlace.json()]).toMatchObject([412, { error: { details: { size: MIB } } }]);
    const rest = (query: string, digest: string) =>
      new Promise<number | undefined>((resolve) => {
        const headers = { authorization: `Bearer ${agent}`, trailer: 'Repr-Digest' };
        const asking = request(`${daemon.url}/v1/files/${query}`, { method: 'PUT', headers, agent: false });
        asking.on('response', (response) => {
          response.resume().on('end', () => {
            resolve(response.statusCode);
          });
        });
        asking.write('end');
        asking.addTrailers({ 'repr-digest': `sha-256=:${sha256(digest, 'base64')}:` });
        asking.end();
      });
    const whole = `${'x'.repeat(MIB)}end`;
    expect(await rest(`resumed?resume=key&offset=${MIB}&permissions=640`, whole)).toBe(201);
    expect(readFileSync(at('resumed'), 'utf8')).toBe(whole);
    expect([existsSync(part), statSync(at('resumed')).mode & 0o777]).toEqual([false, 0o640]);
    expect(await rest('resumed?resume=other', 'not this')).toBe(400);
    expect(readFileSync(at('resumed'), 'utf8')).toBe(whole);
    expect(existsSync(at('.resumed.other.part'))).toBe(false);
    writeFileSync(at('victim'), '');
    linkSync(at('victim'), at('.resumed.linked.part'));
    expect((await put('resumed?resume=linked', 'x')).status).toBe(403);
    expect(readFileSync(at('victim'), 'utf8')).toBe('');
    for (const query of ['resume=a/b', 'resume=a&offset=-1', 'offset=5', 'resume=a&mode=append']) {
      expect((await put(`resumed?${query}`, 'x')).status).toBe(400);
    }
  });

  it('goes on with Content-Range where an upload has stopped', async () => {
    const part = (text: string, range: string) => put('big.part', text, { headers: { 'content-range': range } });
    expect((await part('abc', 'bytes 0-2/9')).status).toBe(201);
    expect((await part('def', 'bytes 3-5/9')).status).toBe(200);
    const repeated = await part('def', 'bytes 3-5/9');
    expect(repeated.status).toBe(412);
    expect(await repeated.json()).toMatchObject({ error: { code: 'FILE_CHANGED', details: { size: 6 } } });
    expect((await part('ghi', 'bytes 6-8/9')).status).toBe(200);
    expect(readFileSync(at('big.part'), 'utf8')).toBe('abcdefghi');
    for (const range of ['bytes 9-8/9', 'bytes 9-11/10', 'bytes 9-10/*', 'nonsense']) {
      expect((await part('xyz', range)).status).toBe(400);
    }
    expect((await part('x', 'bytes 9-9/*')).status).toBe(200);
  });

  it.each<[string, string, number, string]>([
    ['no/such/file', '', 404, 'FILE_NOT_FOUND'],
    ['data/below', '', 409, 'NOT_A_DIRECTORY'],
    ['data?mode=create', '', 409, 'FILE_EXISTS'],
    ['data?mode=sideways', '', 400, 'INVALID_REQUEST'],
    ['data?permissions=rwx', '', 400, 'INVALID_REQUEST'],
    ['data?create_directories=maybe', '', 400, 'INVALID_REQUEST'],
    ['data?data=x', '', 400, 'INVALID_REQUEST'],
    ['forbidden/x', 'x', 403, 'COMMAND_DENIED'],
    ['too-large', 'LARGE', 413, 'FILE_TOO_LARGE'],
  ])('of %j gets an error', async (path, body, status, code) => {
    const answer = await put(path, body === 'LARGE' ? Buffer.alloc(9 * MIB) : body);
    expect([answer.status, await codeOf(answer)]).toEqual([status, code]);
    expect(readFileSync(at('data')).equals(CONTENT)).toBe(true);
    expect(leftovers()).toEqual([]);
  });

  it('leaves nothing of an upload that breaks, and the file as it was', async () => {
    const { length } = readFileSync(at('data'));
    for (const query of ['', '?mode=append']) {
      const broken = slowUpload(`data${query}`);
      await eventually(() => {
        expect(query === '' ? leftovers().length : readFileSync(at('data')).length - length).toBeGreaterThan(0);
      });
      broken.breakOff();
      await eventually(() => {
        expect(leftovers()).toEqual([]);
        expect(readFileSync(at('data')).equals(CONTENT)).toBe(true);
      });
    }
  });
});

/** An upload whose second half comes at the end. */
function slowUpload(path: string, headers: Record<string, string> = {}) {
  const body = Buffer.alloc(2 * MIB, 'x');
  const asking = request(`${daemon.url}/v1/files/${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${agent}`, 'content-length': body.length, ...headers },
    agent: false,
  });
  const status = new Promise<number | undefined>((resolve) => {
    asking.on('response', (response) => {
      response.resume().on('end', () => {
        resolve(response.statusCode);
      });
    });
    asking.on('error', () => {
      resolve(undefined);
    });
  });
  asking.write(body.subarray(0, MIB));
  return {
    end: () => {
      asking.end(body.subarray(MIB));
      return status;
    },
    breakOff: () => asking.destroy(),
  };
}

describe('the rules of read_file and write_file', () => {
  it('count: roles, tokens and methods', async () => {
    expect((await send('data', { token: 'wrong' })).status).toBe(401);
    expect((await put('data', 'x', { token: viewer })).status).toBe(403);
    const posted = await send('data', { method: 'DELETE' });
    expect([posted.status, posted.headers.get('allow'), await codeOf(posted)]).toEqual([
      405,
      'GET, HEAD, PUT',
      'METHOD_NOT_ALLOWED',
    ]);
  });

  it('count: what has to be confirmed is not done, and not taken for done', async () => {
    writeFileSync(at('.env'), 'KEY=1\n');
    const confirm = async (terms: Record<string, unknown>) => {
      const { confirmation_id, command_sha256 } = terms;
      const decision = { confirmation_id, command_sha256, decision: 'approve', justification: 'it is meant' };
      return (await askRest(daemon.url, 'confirm_command', decision, { token: agent })).body;
    };
    const reading = await send('.env', { headers: { range: 'bytes=0-2' } });
    expect(reading.status).toBe(403);
    const asked = (await reading.json()) as Record<string, unknown>;
    expect(asked).toMatchObject({ status: 'confirmation_required', requires: 'self', class: 'exfiltration' });
    expect(await confirm(asked)).toMatchObject({ file: { data: { base64: 'S0VZ' }, length: 3 } });
    const writing = await put('.npmrc', 'content of it\n');
    expect(writing.status).toBe(403);
    const terms = (await writing.json()) as Record<string, unknown>;
    expect(terms).toMatchObject({ status: 'confirmation_required', created: false });
    expect(existsSync(at('.npmrc'))).toBe(false);
    expect(await confirm(terms)).toMatchObject({ file: { created: true, size: 14 } });
    expect(readFileSync(at('.npmrc'), 'utf8')).toBe('content of it\n');
    const large = await put('.npmrc', Buffer.alloc(5 * MIB));
    expect([large.status, await codeOf(large)]).toEqual([413, 'FILE_TOO_LARGE']);
  });

  it('count: the audit log has each of them, and no content', async () => {
    await put('audited', 'content');
    await send('audited');
    await using client = await WireClient.connect(daemon.url);
    await eventually(async () => {
      const { records } = await client.request('read_audit', { limit: 100 });
      const of = records.filter(({ details }) => (details as { path?: string } | undefined)?.path === 'audited');
      expect(of.map(({ request: name, outcome }) => [name, outcome]).sort()).toEqual([
        ['read_file', 'ok'],
        ['write_file', 'ok'],
      ]);
      expect(of.find(({ request: name }) => name === 'write_file')?.['details']).toMatchObject({ bytes: 7 });
      expect(JSON.stringify(of)).not.toContain('content');
    });
  });

  it('count: no permission', async () => {
    writeFileSync(at('closed'), 'x');
    chmodSync(at('closed'), 0o000);
    const answer = await send('closed');
    expect(process.getuid!() === 0 ? 200 : 403).toBe(answer.status);
  });
});

it('a client that stops reading a download holds nothing but its connection', async () => {
  const large = at('large');
  writeFileSync(large, Buffer.alloc(8 * MIB, 'x'));
  const { port } = new URL(daemon.url);
  const holds = () =>
    readdirSync(`/proc/${daemon.pid}/fd`).some((fd) => {
      try {
        return statSync(`/proc/${daemon.pid}/fd/${fd}`).ino === statSync(large).ino;
      } catch {
        return false;
      }
    });
  const connection = connectTcp(Number(port), '127.0.0.1');
  connection.pause();
  connection.write(`GET /v1/files/large HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${agent}\r\n\r\n`);
  await eventually(() => {
    expect(holds()).toBe(true);
  });
  connection.destroy();
  await eventually(() => {
    expect(holds()).toBe(false);
  });
});

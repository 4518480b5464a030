import { get as httpGet } from 'node:http';

import { OpenAPIClientAxios } from 'openapi-client-axios';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type RequestName, requests } from '../../../src/core/protocol/requests.js';
import { TestDaemon } from '../../support/daemon.js';
import { ask } from '../../support/http.js';
import { eventually } from '../../support/measure.js';
import { askRest, type RestEvent, type RestOptions, streamRest } from '../../support/network/rest.js';
import { WireClient } from '../../support/wire.js';
import { behaving, expectNothingLeft, sleepers, uniqueSleep } from '../llm/support.js';

const SLEEP = uniqueSleep(7301);
const MAX_BYTES = 100_000;
const LARGE = JSON.stringify({ command: 'x'.repeat(MAX_BYTES) });
/** Endless output, of which little fits into a line. */
const FLOOD = 'yes flood';

let daemon: TestDaemon;
let agent: string;

beforeAll(async () => {
  daemon = await TestDaemon.start({
    settings: {
      adapter: { kill_grace: 0.3 },
      socketio: { max_message_bytes: MAX_BYTES },
      confirmation: { mode: 'operator', checkpoint: false, preset: 'permissive', classes: { privilege: 'operator' } },
      llm: { shell_providers: { slow: behaving('slow'), forking: behaving('forking', SLEEP) } },
    },
  });
  agent = daemon.createToken('agent', 'ann');
});
afterAll(async () => {
  try {
    await expectNothingLeft(daemon, SLEEP);
  } finally {
    await daemon[Symbol.asyncDispose]();
  }
});

const rest = (name: RequestName, payload?: unknown, options?: RestOptions) =>
  askRest(daemon.url, name, payload, options);
const stream = (name: RequestName, payload?: unknown, options?: RestOptions) =>
  streamRest(daemon.url, name, payload, options);

const withKey = (key: string, options: RestOptions = {}): RestOptions => ({
  ...options,
  headers: { 'idempotency-key': key },
});

/** Reads events to the end of the stream, or up to one of a name; gives all of them. */
async function read(events: AsyncIterable<RestEvent>, upTo?: string): Promise<RestEvent[]> {
  const all: RestEvent[] = [];
  for await (const event of events) {
    all.push(event);
    if (event.name === upTo) break;
  }
  return all;
}

const namesOf = (events: readonly RestEvent[]) => events.map(({ name }) => name);
const outputOf = (events: readonly RestEvent[]) =>
  events.map(({ name, data }) => (name === 'command_output' ? data['data'] : '')).join('');

async function openSession(options?: RestOptions): Promise<string> {
  return String((await rest('open_session', {}, options)).body['session_id']);
}

describe('POST /v1/requests/NAME', () => {
  it('has every request of the protocol, with its schema', async () => {
    for (const name of Object.keys(requests) as RequestName[]) {
      const { status, body } = await rest(name, { of_no_request: 1 });
      expect(body.error).toMatchObject({ code: 'INVALID_REQUEST', message: expect.stringContaining(name) as string });
      expect(status).toBe(400);
    }
  });

  it('answers as Socket.IO does', async () => {
    await using client = await WireClient.connect(daemon.url);
    const { status, headers, body } = await rest('daemon_status');
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(Object.keys(body)).toEqual(Object.keys(await client.request('daemon_status')));
  });

  it('takes no body for an empty one', async () => {
    const url = new URL('/v1/requests/list_sessions', daemon.url);
    expect(await ask(url, { method: 'POST' })).toMatchObject({ status: 200, body: { sessions: [] } });
  });

  it('keeps a session from one request to the next, for its owner', async () => {
    const session_id = await openSession({ token: agent });
    await rest('execute_command', { session_id, command: 'cd /; NAME=kept' }, { token: agent });
    const { body } = await rest('execute_command', { session_id, command: 'echo $PWD $NAME' }, { token: agent });
    expect(body).toMatchObject({ stdout: '/ kept\n', exit_code: 0 });
    const other = daemon.createToken('agent', 'bob');
    const foreign = await rest('execute_command', { session_id, command: 'echo' }, { token: other });
    expect(foreign).toMatchObject({ status: 404, body: { error: { code: 'SESSION_NOT_FOUND' } } });
    expect(await rest('close_session', { session_id }, { token: agent })).toMatchObject({ status: 200 });
  });

  it('has bytes as base64, both ways', async () => {
    const command = { command: 'cat', command_id: 'bytes', stdin_stream: true };
    const running = rest('execute_command', command);
    const data = { base64: Buffer.from([0, 255, 10]).toString('base64') };
    await eventually(async () => {
      expect(await rest('send_input', { command_id: 'bytes', data, eof: true, offset: 0 })).toMatchObject({
        status: 200,
      });
    });
    expect((await running).body).toMatchObject({ exit_code: 0, stdout_bytes: 3 });
    expect((await rest('read_output', { command_id: 'bytes' })).body).toMatchObject({ data, eof: true });
  });

  it.each<[RequestName | 'no_such', string, number, string]>([
    ['no_such', '{}', 404, 'UNKNOWN_REQUEST'],
    ['get_session', '{"session_id":"gone"}', 404, 'SESSION_NOT_FOUND'],
    ['execute_command', '{"command":"true","cwd":"/gone"}', 400, 'BAD_DIRECTORY'],
    ['execute_command', '{"command":', 400, 'INVALID_REQUEST'],
    ['execute_command', '[]', 400, 'INVALID_REQUEST'],
    ['execute_command', '{"command":1}', 400, 'INVALID_REQUEST'],
    ['send_input', '{"session_id":"gone","data":{"base64":"?"}}', 400, 'INVALID_REQUEST'],
    ['execute_command', 'LARGE', 413, 'PAYLOAD_TOO_LARGE'],
    ['attach_session', '{"session_id":"gone"}', 404, 'SESSION_NOT_FOUND'],
    ['subscribe', '{"topics":["host"]}', 400, 'INVALID_REQUEST'],
  ])('%s with %s gets %s %s', async (name, body, status, code) => {
    const headers = { 'content-type': 'application/json' };
    const url = new URL(`/v1/requests/${name}`, daemon.url);
    for (const accept of ['application/json', 'text/event-stream']) {
      if (accept === 'text/event-stream' && name === 'subscribe') continue;
      const answer = await ask(url, {
        method: 'POST',
        headers: { ...headers, accept },
        body: body.replace('LARGE', LARGE),
      });
      expect(answer).toMatchObject({ status, body: { error: { code } } });
    }
  });

  it('lists the requests to one that asks for an unknown one', async () => {
    const { error } = (await rest('no_such' as RequestName)).body;
    expect(error?.details?.['requests']).toEqual(Object.keys(requests));
  });

  it('takes POST alone, and JSON alone', async () => {
    const url = new URL('/v1/requests/list_sessions', daemon.url);
    expect(await ask(url)).toMatchObject({ status: 405, body: { error: { code: 'METHOD_NOT_ALLOWED' } } });
    expect((await fetch(url, { method: 'PUT' })).headers.get('allow')).toBe('POST');
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(await ask(url, { method: 'POST', headers: form, body: '{}' })).toMatchObject({ status: 415 });
  });

  it('needs a token that permits the request', async () => {
    const viewer = daemon.createToken('viewer', 'vic');
    const refused = await rest('open_session', {}, { token: viewer });
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } });
    const wrong = await rest('list_sessions', {}, { token: 'wrong' });
    expect(wrong).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHORIZED' } } });
    expect(wrong.headers.get('www-authenticate')).toBe('Bearer');
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    expect(await rest('list_sessions', {}, { headers })).toMatchObject({ status: 401 });
  });
});

describe('Accept: text/event-stream', () => {
  it('sends the output of a command, and its result at the end', async () => {
    const events = await read(stream('execute_command', { command: 'echo one; printf "\\377" >&2; exit 3' }));
    expect(outputOf(events.filter(({ data }) => data['stream'] === 'stdout'))).toBe('one\n');
    expect(events.find(({ data }) => data['stream'] === 'stderr')?.data['data']).toEqual({ base64: '/w==' });
    expect(events.at(-1)).toMatchObject({ name: 'execute_command_result', data: { exit_code: 3, stdout: 'one\n' } });
  });

  it('goes on until the end of a background command', async () => {
    const events = await read(stream('execute_command', { command: 'sleep 0.1; echo late', background: true }));
    expect(namesOf(events)).toEqual(['execute_command_result', 'command_output', 'command_finished']);
  });

  it('sends no output that is not wanted', async () => {
    const events = await read(stream('execute_command', { command: 'echo', stream: false }));
    expect(namesOf(events)).toEqual(['execute_command_result']);
  });

  it('replays a session and follows it to its end', async () => {
    const session_id = await openSession();
    await read(stream('execute_command', { session_id, command: 'echo before' }));
    const following = stream('attach_session', { session_id, from_seq: 0 });
    const replayed = await read(
      { [Symbol.asyncIterator]: () => ({ next: () => following.next() }) },
      'attach_session_result',
    );
    expect(outputOf(replayed)).toBe('before\n');
    await rest('execute_command', { session_id, command: 'echo after' });
    await rest('close_session', { session_id });
    const followed = await read(following);
    expect(outputOf(followed)).toBe('after\n');
    expect(namesOf(followed).at(-1)).toBe('session_closed');
  });

  it('sends the changes that were subscribed to', async () => {
    const events = await read(stream('subscribe', { topics: ['host', 'sessions'] }), 'sessions_changed');
    expect(namesOf(events)[0]).toBe('subscribe_result');
    expect(namesOf(await read(stream('subscribe', { topics: [] })))).toEqual(['subscribe_result']);
  });

  it('sends the resource usage of a session', async () => {
    const session_id = await openSession();
    await rest('execute_command', { session_id, command: 'sleep 60', background: true });
    const events = await read(stream('watch_resources', { session_id, interval_ms: 50 }), 'resource_usage');
    expect(events.at(-1)?.data).toMatchObject({ session_id });
    await rest('close_session', { session_id });
  });

  it('sends an answer of an LLM as it comes', async () => {
    const events = await read(
      stream('llm_stream', { messages: [{ role: 'user', content: 'x' }], shell_provider: 'slow' }),
    );
    expect(namesOf(events).filter((name) => name === 'llm_chunk').length).toBeGreaterThan(1);
    expect(events.at(-1)).toMatchObject({ name: 'llm_stream_result', data: { content: 'one two three' } });
  });

  it('holds the command of a client that does not read, until it goes', async () => {
    const events = stream('execute_command', { command: FLOOD, command_id: 'flood' });
    await events.next();
    const bytes = async () => (await rest('wait_command', { command_id: 'flood', timeout_ms: 0 })).body['stdout_bytes'];
    let last: unknown;
    await eventually(async () => {
      const now = await bytes();
      const isHeld = now === last;
      last = now;
      expect(isHeld).toBe(true);
    });
    expect(last).toBeLessThan(30_000_000);
    await events.return();
    await eventually(async () => {
      expect(await bytes()).toBeGreaterThan(Number(last));
    });
    await rest('signal_command', { command_id: 'flood', signal: 'SIGKILL' });
  });

  it('ends when the token does', async () => {
    const token = daemon.createToken('agent', 'brief');
    const events = stream('subscribe', { topics: ['host'] }, { token });
    await events.next();
    daemon.tokens.revoke('brief');
    expect(namesOf(await read(events)).at(-1)).toBe('access_ended');
  });
});

describe('a client that disconnects', () => {
  it.each(['application/json', 'text/event-stream'])('with %s ends its LLM calls', async (accept) => {
    const gone = new AbortController();
    const call = { messages: [{ role: 'user', content: 'x' }], shell_provider: 'forking' };
    const asking = rest('llm_stream', call, { headers: { accept }, signal: gone.signal });
    await eventually(() => {
      expect(sleepers(SLEEP).length).toBeGreaterThan(0);
    });
    gone.abort();
    await expect(asking).rejects.toThrow('aborted');
    await eventually(() => {
      expect(sleepers(SLEEP)).toEqual([]);
    });
  });

  const open = async () => (await rest('list_confirmations')).body['confirmations'] as readonly unknown[];

  it.each([undefined, 'waits'])('withdraws its confirmations, unless it has a key: %s', async (key) => {
    const gone = new AbortController();
    const options = { signal: gone.signal, ...(key !== undefined && withKey(key)), token: agent };
    const asking = rest('execute_command', { command: 'sudo true', command_id: `asks-${key ?? ''}` }, options);
    await eventually(async () => {
      expect(await open()).toHaveLength(1);
    });
    gone.abort();
    await expect(asking).rejects.toThrow('aborted');
    if (key === undefined) {
      await eventually(async () => {
        expect(await open()).toEqual([]);
      });
    } else {
      const [{ confirmation_id }] = (await open()) as [{ confirmation_id: string }];
      const token = daemon.createToken('operator', 'olga');
      await rest('confirm_command', { confirmation_id, decision: 'reject' }, { token });
      const again = await rest(
        'execute_command',
        { command: 'sudo true', command_id: `asks-${key}` },
        {
          ...withKey(key),
          token: agent,
        },
      );
      expect(again.body).toMatchObject({ error: { code: 'COMMAND_DENIED' } });
      expect(again.headers.get('idempotent-replayed')).toBe('true');
    }
  });
});

describe('Idempotency-Key', () => {
  const count = { command: 'echo x >> "$PWD/counted"; wc -l < "$PWD/counted"' };

  it('runs a request once, also while it is under way', async () => {
    const answers = await Promise.all(['', '', ''].map(() => rest('execute_command', count, withKey('once'))));
    answers.push(await rest('execute_command', count, withKey('once')));
    expect(answers.map(({ body }) => body['stdout'])).toEqual(['1\n', '1\n', '1\n', '1\n']);
    // Any of those that were sent together may arrive first.
    const isReplayed = answers.map(({ headers }) => headers.get('idempotent-replayed') === 'true');
    expect([isReplayed.filter(Boolean).length, isReplayed.at(-1)]).toEqual([3, true]);
    const [event, ...more] = await read(stream('execute_command', count, withKey('once')));
    expect(event).toMatchObject({ name: 'execute_command_result', data: { stdout: '1\n' } });
    expect(more).toEqual([]);
  });

  it('belongs to one request of one token', async () => {
    const other = await rest('execute_command', { command: 'echo' }, withKey('once'));
    expect(other).toMatchObject({ status: 422, body: { error: { code: 'IDEMPOTENCY_KEY_REUSED' } } });
    expect(await rest('list_sessions', {}, withKey('once'))).toMatchObject({ status: 422 });
    const own = await rest('execute_command', { command: 'echo own' }, withKey('once', { token: agent }));
    expect(own).toMatchObject({ status: 200, body: { stdout: 'own\n' } });
  });

  it('keeps errors too', async () => {
    const asked = { command: 'true', cwd: 'made-later' };
    expect(await rest('execute_command', asked, withKey('late'))).toMatchObject({ status: 400 });
    await rest('execute_command', { command: 'mkdir made-later' });
    expect(await rest('execute_command', asked, withKey('late'))).toMatchObject({ status: 400 });
    expect(await rest('execute_command', asked, withKey('later'))).toMatchObject({ status: 200 });
  });

  it.each([
    ['empty', ''],
    ['too long', 'k'.repeat(256)],
  ])('is refused if it is %s', async (_, key) => {
    expect(await rest('list_sessions', {}, withKey(key))).toMatchObject({ status: 400 });
  });
});

describe('the descriptions', () => {
  it('let a generated client make requests', async () => {
    const headers = { authorization: `Bearer ${agent}` };
    const definition = new URL('/openapi.json', daemon.url).href;
    const api = new OpenAPIClientAxios({
      definition,
      withServer: { url: daemon.url },
      axiosConfigDefaults: { headers, validateStatus: () => true },
    });
    const client = await api.init();
    const opened = await client['open_session']!(undefined, { label: 'generated' });
    const { session_id } = opened.data as { session_id: string };
    const ran = await client['execute_command']!(undefined, { session_id, command: 'echo from a client; exit 4' });
    expect(ran.data).toMatchObject({ stdout: 'from a client\n', exit_code: 4 });
    const failed = await client['get_session']!(undefined, { session_id: 'gone' });
    expect(failed).toMatchObject({ status: 404, data: { error: { code: 'SESSION_NOT_FOUND' } } });
    const once = { 'Idempotency-Key': 'generated' };
    const closed = await client['close_session']!(once, { session_id });
    expect((await client['close_session']!(once, { session_id })).data).toEqual(closed.data);
  });

  it.each(['/openapi.json', '/asyncapi.json'])('%s needs the access of other requests', async (path) => {
    const url = new URL(path, daemon.url);
    expect(await ask(url)).toMatchObject({ status: 200, body: { info: { title: 'shell-adapter' } } });
    expect(await ask(url, { headers: { 'x-forwarded-for': '192.0.2.1' } })).toMatchObject({ status: 401 });
  });

  it('of Socket.IO names the address that was asked', async () => {
    const { port } = new URL(daemon.url);
    const askedAt = (host: string) =>
      new Promise<unknown>((resolve, reject) => {
        httpGet(new URL('/asyncapi.json', daemon.url), { headers: { host }, agent: false }, (response) => {
          response
            .setEncoding('utf8')
            .toArray()
            .then((parts) => {
              const { servers, ...rest } = JSON.parse(parts.join('')) as { servers: { daemon: { host: string } } };
              expect(rest).toHaveProperty('channels.namespace.messages.open_session');
              resolve([response.headers['content-type'], servers.daemon.host]);
            }, reject);
        }).on('error', reject);
      });
    for (const host of [`127.0.0.1:${port}`, `127.0.0.1:${port}`, `localhost:${port}`, `127.0.0.1:${port}`]) {
      expect(await askedAt(host)).toEqual(['application/json; charset=utf-8', host]);
    }
  });
});

describe('the end of the daemon', () => {
  it('is announced to streams', async () => {
    const session_id = await openSession();
    const events = stream('attach_session', { session_id });
    await events.next();
    const [seen] = await Promise.all([read(events), daemon.stop()]);
    expect(namesOf(seen)).toEqual(['server_shutdown', 'session_closed']);
  });
});

import { setImmediate as turn } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { DialError } from '../../../src/cluster/dial.js';

import {
  IDLE_MS,
  LEASE_MS,
  leasedRun,
  ScriptedWorker,
  scriptedClient,
  scriptedCommand,
  scriptedLink,
} from './scripted-link.js';

describe('what comes over a link in one turn of the event loop', () => {
  it('reaches the client in the same order: output before the reply that ends it, and after the one before it', async () => {
    const worker = new ScriptedWorker();
    const seen: unknown[] = [];
    const caller = scriptedClient(seen);
    await using link = scriptedLink([() => worker.dialled()]);
    await link.attempted;
    const requests = ['first', 'second', 'third'].map(async (id) => {
      await link.request(scriptedCommand(caller, id));
      // A reply reaches the client some promises later.
      for (let promises = 0; promises < 20; promises += 1) await Promise.resolve();
      seen.push(`reply to ${id}`);
    });
    const output = (seq: number) => {
      const payload = { command_id: 'second', session_id: 's', stream: 'stdout', offset: 0, data: 'x', seq };
      worker.send('event', { client: 'client', name: 'command_output', payload, bytes: 257 });
    };
    worker.answer(0, { command_id: 'first' });
    output(0);
    output(1);
    worker.send('event', { client: 'client', name: 'command_finished', payload: {}, bytes: 256 });
    worker.answer(1, { command_id: 'second' });
    worker.answer(2, { command_id: 'third' });
    output(2);
    await Promise.all(requests);
    while (seen.length < 7) await turn();
    expect(seen).toEqual([
      'reply to first',
      ...['command_output', 'command_output', 'command_finished'],
      ...['reply to second', 'reply to third', 'command_output'],
    ]);
  });

  it('is followed by what the end of the link makes of the sessions that it has opened', async () => {
    const worker = new ScriptedWorker();
    const seen: unknown[] = [];
    const caller = scriptedClient(seen);
    await using link = scriptedLink([() => worker.dialled()]);
    await link.attempted;
    const requests = [
      link.request(scriptedCommand(caller, 'first')).then(() => seen.push('reply')),
      link.request({ name: 'open_session', payload: {}, caller, repeat: 'never' }).then(() => seen.push('opened')),
    ];
    worker.answer(0, { command_id: 'first' });
    worker.send('event', { client: 'client', name: 'command_finished', payload: {}, bytes: 256 });
    worker.answer(1, { session_id: 's' });
    worker.break();
    await Promise.all(requests);
    while (seen.length < 4) await turn();
    expect(seen).toEqual(['reply', 'command_finished', 'opened', 'session_detached']);
  });
});

describe('a worker that misbehaves', () => {
  it('is not dialled without a pause when it closes each connection at once', async () => {
    const dialled: number[] = [];
    const closing = () => {
      const worker = new ScriptedWorker();
      setImmediate(() => {
        worker.break();
      });
      dialled.push(performance.now());
      return worker.dialled();
    };
    await using link = scriptedLink(Array.from({ length: 7 }, () => closing));
    await link.attempted;
    await vi.waitUntil(() => dialled.length === 7, { timeout: 20_000 });
    // Pauses of 5, 10, 20, 40, 80 and 160 ms; timers may be a millisecond early.
    expect(dialled[6]! - dialled[0]!).toBeGreaterThan(300);
  });

  it('may send what is no load', async () => {
    const worker = new ScriptedWorker();
    await using link = scriptedLink([() => worker.dialled()]);
    await link.attempted;
    for (const load of [undefined, null, 'full', { sessions: -1 }]) worker.send('load', load);
    expect(link.known?.load).toMatchObject({ sessions: 0 });
    worker.send('load', { sessions: 1, one_shots: 0, capacity: 8, is_draining: false });
    expect(link.known?.load).toMatchObject({ sessions: 1 });
  });

  it('attaches a client again when it could not for a while; one without the session tells its end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const [first, second] = [new ScriptedWorker(), new ScriptedWorker()];
      const seen: unknown[] = [];
      await using link = scriptedLink([() => first.dialled(), () => second.dialled()]);
      await link.attempted;
      const opened = link.request({ name: 'open_session', payload: {}, caller: scriptedClient(seen), repeat: 'never' });
      first.answer(0, { session_id: 's' });
      await opened;
      first.break();
      await vi.waitUntil(() => second.sent.includes('request'), { timeout: 20_000 });
      second.answer(0, { error: { code: 'INTERNAL', message: 'internal error' } });
      vi.advanceTimersByTime(1000);
      expect(second.sent.filter((name) => name === 'request')).toHaveLength(2);
      second.answer(1, { next_seq: 0, gap: null });
      expect(seen).toEqual(['session_detached', 'session_reattached']);
      second.answer(1, { error: { code: 'SESSION_NOT_FOUND', message: 'there is no session' } });
      expect(seen.at(-1)).toBe('session_closed');
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a worker whose link has broken', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const unreachable = () => {
    throw new DialError('it has not answered in time');
  };

  it('is lost after the lease, if the registry has none of it', async () => {
    const worker = new ScriptedWorker();
    const seen: unknown[] = [];
    await using link = scriptedLink([() => worker.dialled(), unreachable]);
    await link.attempted;
    const opened = link.request({ name: 'open_session', payload: {}, caller: scriptedClient(seen), repeat: 'never' });
    worker.answer(0, { session_id: 's' });
    await opened;
    worker.break();
    await vi.advanceTimersByTimeAsync(LEASE_MS - 1);
    expect([link.state, seen]).toEqual(['suspect', ['session_detached']]);
    await vi.advanceTimersByTimeAsync(1);
    expect([link.state, seen]).toEqual(['lost', ['session_detached', 'session_closed']]);
  });

  it('is not lost while the registry has its lease: requests wait for a lease, and its sessions for as long as that', async () => {
    const worker = new ScriptedWorker();
    const seen: unknown[] = [];
    const caller = scriptedClient(seen);
    let hasLease = true;
    const asked: string[] = [];
    await using link = scriptedLink([() => worker.dialled(), unreachable], {
      hasLease: (nodeId) => {
        asked.push(nodeId);
        return hasLease;
      },
    });
    await link.attempted;
    const opened = link.request({ name: 'open_session', payload: {}, caller, repeat: 'never' });
    worker.answer(0, { session_id: 's' });
    await opened;
    const early = link.request(scriptedCommand(caller, 'early'));
    worker.break();
    await vi.advanceTimersByTimeAsync(LEASE_MS / 2);
    const late = link.request(scriptedCommand(caller, 'late'));
    await vi.advanceTimersByTimeAsync(LEASE_MS / 2);
    expect(await early).toMatchObject({ error: { code: 'NODE_LOST', details: { maybe_executed: true } } });
    await vi.advanceTimersByTimeAsync((2 * LEASE_MS) / 3);
    expect(await late).toMatchObject({ error: { code: 'NODE_UNREACHABLE', details: { maybe_executed: false } } });
    expect([link.state, seen, new Set(asked)]).toEqual(['suspect', ['session_detached'], new Set(['worker-aaaaaaa'])]);
    hasLease = false;
    await vi.advanceTimersByTimeAsync(LEASE_MS / 3);
    expect([link.state, seen]).toEqual(['lost', ['session_detached', 'session_closed']]);
  });

  it('is lost at once when nothing listens on its port, whatever the registry says', async () => {
    const worker = new ScriptedWorker();
    const refused = () => {
      throw new DialError('connect ECONNREFUSED', true);
    };
    await using link = scriptedLink([() => worker.dialled(), refused], { hasLease: () => true });
    await link.attempted;
    const answer = link.request(scriptedCommand(scriptedClient([]), 'running'));
    worker.break();
    await vi.advanceTimersByTimeAsync(0);
    expect(await answer).toMatchObject({ error: { code: 'NODE_LOST' } });
    expect(link.state).toBe('lost');
  });
});

describe('a link to a worker that has a lease in the registry', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const httpRequest = { name: 'list_sessions', payload: {}, repeat: 'safe' } as const;
  const withoutEvents = { ...scriptedClient([]), sink: undefined };

  it('is made for the first request, closed when it was not used for a minute, and made again', async () => {
    const runs = [new ScriptedWorker(), new ScriptedWorker()];
    const attempts = runs.map((run) => () => run.dialled());
    await using link = scriptedLink(attempts, { leased: leasedRun() });
    await link.attempted;
    await vi.advanceTimersByTimeAsync(IDLE_MS);
    expect([link.state, link.known?.id, link.problem, runs[0]!.sent]).toEqual([
      'resting',
      'worker-aaaaaaa',
      undefined,
      [],
    ]);
    const first = link.request({ ...httpRequest, caller: withoutEvents });
    await vi.advanceTimersByTimeAsync(0);
    runs[0]!.answer(0, { sessions: [] });
    expect(await first).toEqual({ sessions: [] });
    await vi.advanceTimersByTimeAsync(IDLE_MS - 1);
    expect(link.state).toBe('live');
    await vi.advanceTimersByTimeAsync(1);
    expect(link.state).toBe('resting');
    const second = link.request({ ...httpRequest, caller: withoutEvents });
    await vi.advanceTimersByTimeAsync(0);
    runs[1]!.answer(0, { sessions: [] });
    expect(await second).toEqual({ sessions: [] });
  });

  it('stays open while a client of it is connected, an operator is, a request waits, or one over HTTP runs', async () => {
    const worker = new ScriptedWorker();
    const operators: ReturnType<typeof scriptedClient>[] = [];
    const client = scriptedClient([]);
    await using link = scriptedLink([() => worker.dialled()], { leased: leasedRun(), audience: () => operators });
    const stays = async () => {
      await vi.advanceTimersByTimeAsync(3 * IDLE_MS);
      expect(link.state).toBe('live');
    };
    operators.push(scriptedClient([]));
    link.announce(operators[0]!);
    await stays();
    operators.pop();
    link.detach(client.sink);
    const waiting = link.request({ ...httpRequest, caller: withoutEvents });
    await stays();
    worker.answer(0, { sessions: [] });
    await waiting;
    const release = link.hold();
    await stays();
    const followed = link.request({ name: 'attach_session', payload: {}, caller: client, repeat: 'safe' });
    worker.answer(1, { session_id: 's', next_seq: 0 });
    await followed;
    release();
    await stays();
    link.detach(client.sink);
    await vi.advanceTimersByTimeAsync(2 * IDLE_MS);
    expect(link.state).toBe('resting');
  });

  it('has seen the worker when its lease was read, and with each heartbeat of its connection', async () => {
    const worker = new ScriptedWorker();
    await using link = scriptedLink([() => worker.dialled()], { leased: leasedRun() });
    const ageAfter = async (ms: number) => {
      await vi.advanceTimersByTimeAsync(ms);
      return Date.now() - link.seenAt!.getTime();
    };
    expect(await ageAfter(1000)).toBe(1000);
    link.setLease(leasedRun());
    expect(await ageAfter(10)).toBe(10);
    const connected = link.connect();
    expect(await ageAfter(0)).toBe(0);
    await connected;
    expect(await ageAfter(500)).toBe(500);
    worker.send('ping', undefined);
    expect(await ageAfter(20)).toBe(20);
  });

  it('tells the worker that the access of a principal has ended', async () => {
    const worker = new ScriptedWorker();
    await using link = scriptedLink([() => worker.dialled()], { leased: leasedRun() });
    link.endAccess('agent');
    await vi.advanceTimersByTimeAsync(0);
    expect(worker.sent).toEqual(['ended']);
  });

  it('finds the run that the worker has now, and loses nothing, as long as it was not made', async () => {
    const worker = new ScriptedWorker();
    const lost = vi.fn();
    await using link = scriptedLink([() => worker.dialled('ccccccc')], { leased: leasedRun(), onLost: lost });
    link.setLease(leasedRun('bbbbbbb'));
    expect(link.known?.id).toBe('worker-bbbbbbb');
    const open = await link.connect();
    expect([link.known?.id, link.state, open !== undefined, lost.mock.calls]).toEqual([
      'worker-ccccccc',
      'live',
      true,
      [],
    ]);
  });

  it.each([
    ['refuses connections', true, 'lost'],
    ['does not answer', false, 'suspect'],
  ])('that %s: what has waited for it fails at once, and can go elsewhere', async (_, isRefused, state) => {
    const fail = () => {
      throw new DialError('no', isRefused);
    };
    await using link = scriptedLink([fail], { leased: leasedRun() });
    const [answer, open] = await Promise.all([link.request({ ...httpRequest, caller: withoutEvents }), link.connect()]);
    expect(answer).toMatchObject({ error: { code: 'NODE_UNREACHABLE', details: { retry_safe: true } } });
    expect([open, link.state]).toEqual([undefined, state]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Role } from '../../../src/core/principal.js';
import type { RequestInput, RequestName } from '../../../src/core/protocol/requests.js';
import { TestDaemon } from '../../support/daemon.js';
import { seededRandom } from '../../support/seeded-random.js';
import { WireClient } from '../../support/wire.js';

let daemon: TestDaemon;
const clients: WireClient[] = [];

beforeAll(async () => {
  daemon = await TestDaemon.start();
});
afterAll(async () => {
  for (const client of clients) await client[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

async function come(role: Role, name: string): Promise<WireClient> {
  const client = await WireClient.connect(daemon.url, ['websocket'], { token: daemon.createToken(role, name) });
  clients.push(client);
  return client;
}

type AnyRequest = { [N in RequestName]: readonly [N, RequestInput<N>] }[RequestName];

/** Every request that names something, about these ids. */
const requestsAbout = (session: string, command: string, checkpoint: string): readonly AnyRequest[] => [
  ['execute_command', { command: 'echo forged', session_id: session }],
  ['check_command', { command: 'ls', session_id: session }],
  ['close_session', { session_id: session }],
  ['get_session', { session_id: session }],
  ['reset_session', { session_id: session }],
  ['reset_session', { session_id: session, cwd: '/nowhere' }],
  ['resize_terminal', { session_id: session, cols: 80, rows: 24 }],
  ['attach_session', { session_id: session, from_seq: 0 }],
  ['detach_session', { session_id: session }],
  ['send_input', { session_id: session, data: 'x' }],
  ['send_input', { command_id: command, data: 'x' }],
  ['signal_command', { session_id: session, signal: 'SIGINT' }],
  ['signal_command', { command_id: command, signal: 'SIGKILL' }],
  ['wait_command', { command_id: command }],
  ['read_output', { command_id: command }],
  ['diff_workspace', { checkpoint_id: checkpoint }],
  ['restore_workspace', { checkpoint_id: checkpoint }],
];

const SESSION_LIKE = `session_${'A'.repeat(22)}`;
const COMMAND_LIKE = `command_${'A'.repeat(22)}`;
const CHECKPOINT_LIKE = `checkpoint_${'A'.repeat(22)}`;

/** An answer with the ids in it made alike. */
const alike = (answer: unknown, ids: readonly string[]): unknown =>
  JSON.parse(ids.reduce((text, id) => text.replaceAll(id, 'ID'), JSON.stringify(answer)));

describe('what belongs to another token', () => {
  it('is, to an agent, exactly as if it were not there: before, while and after it is there', async () => {
    const [owner, other] = [await come('agent', 'owner'), await come('agent', 'other')];
    const session = await owner.openSession();
    const { command_id: command } = await owner.run('sleep 300', session, { background: true });
    const { checkpoint_id: checkpoint } = await owner.request('checkpoint_workspace', {});
    const compare = async () => {
      const foreign = requestsAbout(session, command, checkpoint);
      const missing = requestsAbout(SESSION_LIKE, COMMAND_LIKE, CHECKPOINT_LIKE);
      for (const [index, [name, payload]] of foreign.entries()) {
        const real = alike(await other.request(name, payload), [session, command, checkpoint]);
        const none = await other.request(name, missing[index]![1]);
        expect(real, name).toEqual(alike(none, [SESSION_LIKE, COMMAND_LIKE, CHECKPOINT_LIKE]));
        expect(none.error?.code, name).toMatch(/^(SESSION|COMMAND|CHECKPOINT)_NOT_FOUND$/);
      }
    };
    await compare();
    expect(await other.request('list_sessions')).toEqual({ sessions: [] });
    expect(await other.request('list_checkpoints')).toEqual({ checkpoints: [] });
    expect((await other.request('diff_workspace', {})).error?.code).toBe('CHECKPOINT_NOT_FOUND');
    expect(await owner.request('get_session', { session_id: session })).toMatchObject({
      state: 'busy',
      attached_clients: 1,
    });
    await owner.request('close_session', { session_id: session });
    await compare();
    expect((await owner.request('get_session', { session_id: session })).error?.message).toMatch(
      / ended .* ago: a client closed it/,
    );
    // Every client is told on connecting which daemon this is.
    expect(other.events.filter(({ name }) => name !== 'daemon_info')).toEqual([]);
  });

  it('can be looked at by a viewer and an operator, and be used by an admin and this user’s programs', async () => {
    const owner = await come('agent', 'watched');
    const session = await owner.openSession();
    const { command_id: command } = await owner.run('echo seen; sleep 300', session, {
      background: true,
      stream: true,
    });
    await owner.event('command_output');
    for (const role of ['viewer', 'operator'] as const) {
      const client = await come(role, `${role}-looks`);
      expect(await client.request('get_session', { session_id: session })).toMatchObject({ owner: 'watched' });
      expect(await client.request('attach_session', { session_id: session, from_seq: 0 })).toMatchObject({
        replayed: 1,
      });
      expect((await client.request('read_output', { command_id: command })).data.toString()).toBe('seen\n');
      expect((await client.request('wait_command', { command_id: command, timeout_ms: 0 })).stdout).toBe('seen\n');
      const refused = await client.request('signal_command', { command_id: command, signal: 'SIGUSR1' });
      expect(refused.error).toMatchObject({ code: 'FORBIDDEN', details: { role } });
      expect((await client.request('send_input', { session_id: session, data: 'x' })).error?.code).toBe('FORBIDDEN');
    }
    const [admin, local] = [await come('admin', 'chief'), await WireClient.connect(daemon.url)];
    clients.push(local);
    expect(await admin.request('signal_command', { command_id: command, signal: 'SIGTERM' })).toMatchObject({
      signalled: [expect.anything()],
    });
    expect(await owner.event('command_finished')).toMatchObject({ command_id: command, exit_code: 143 });
    const { command_id: ran } = await admin.run('echo by the admin', session);
    expect((await owner.request('wait_command', { command_id: ran })).stdout).toBe('by the admin\n');
    expect(await local.request('close_session', { session_id: session })).toEqual({ session_id: session });
  });
});

/** Ids that clients choose: both choose from the same few. */
const CHOSEN = ['one', 'two', 'three', 'four'];

/** One of the two, and what it has made. */
class Party {
  readonly sessions = new Map<string, string>();
  readonly commands = new Map<string, string>();
  readonly name: string;
  readonly client: WireClient;
  made = 0;

  constructor(name: string, client: WireClient) {
    this.name = name;
    this.client = client;
  }
}

describe.each([1, 2, 3])('two tokens and random requests, seed %i', (seed) => {
  it('nothing of one has an effect on the other', async () => {
    const random = seededRandom(seed);
    const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
    const [a, b] = [new Party('a', await come('agent', `a${seed}`)), new Party('b', await come('agent', `b${seed}`))];
    const checkpoint = (await a.client.request('checkpoint_workspace', { label: 'of a' })).checkpoint_id;

    /** Something that succeeds, and whose outcome depends on what is one's own alone. */
    const work = async (self: Party) => {
      const session = pick([...self.sessions.keys(), undefined]);
      if (session === undefined && self.sessions.size < 4) {
        const id = await self.client.openSession();
        self.sessions.set(id, '');
        return;
      }
      const mark = `${self.name}${(self.made += 1)}`;
      if (session !== undefined && random() < 0.2) {
        expect(await self.client.request('close_session', { session_id: session })).toEqual({ session_id: session });
        self.sessions.delete(session);
      } else if (session !== undefined && random() < 0.6) {
        const { stdout } = await self.client.run(`echo "$mark"; mark=${mark}`, session, { stream: random() < 0.5 });
        expect(stdout).toBe(`${self.sessions.get(session) ?? ''}\n`);
        self.sessions.set(session, mark);
      } else {
        const id = pick(CHOSEN)!;
        const known = self.commands.get(id);
        const { stdout } = await self.client.run(`echo ${known ?? mark}`, undefined, { command_id: id, stream: true });
        expect(stdout).toBe(`${known ?? mark}\n`);
        self.commands.set(id, known ?? mark);
      }
    };

    /** Something that is none of one's business. */
    const pry = async (self: Party, other: Party) => {
      const session = pick([...other.sessions.keys()]) ?? SESSION_LIKE;
      const command = pick(CHOSEN.filter((id) => other.commands.has(id) && !self.commands.has(id))) ?? COMMAND_LIKE;
      const target = self === b ? checkpoint : CHECKPOINT_LIKE;
      const [name, payload] = pick(requestsAbout(session, command, target))!;
      const { error } = await self.client.request(name, payload);
      expect(error?.code, name).toMatch(/^(SESSION|COMMAND|CHECKPOINT)_NOT_FOUND$/);
      expect(JSON.stringify(error)).not.toMatch(/ended:/);
    };

    for (let step = 0; step < 120; step += 1) {
      const [self, other] = random() < 0.5 ? [a, b] : [b, a];
      // Now and then both at once.
      await Promise.all([random() < 0.5 ? work(self) : pry(self, other), ...(random() < 0.3 ? [work(other)] : [])]);
    }

    for (const [self, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const { sessions } = await self.client.request('list_sessions');
      expect(sessions.map(({ session_id: id }) => id).sort()).toEqual([...self.sessions.keys()].sort());
      for (const [id, mark] of self.sessions)
        expect((await self.client.run('echo "$mark"', id)).stdout).toBe(`${mark}\n`);
      const text = JSON.stringify(self.client.events);
      for (const id of other.sessions.keys()) expect(text).not.toContain(id);
      expect(text).not.toMatch(new RegExp(`"${other.name}\\d+\\\\n"`));
    }
  });
});

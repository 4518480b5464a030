import { describe, expect, it } from 'vitest';

import { REQUEST_FACTS } from '../../src/core/protocol/request-facts.js';
import type { RequestName } from '../../src/core/protocol/requests.js';
import { eventually } from '../support/measure.js';
import { instanceOf, taggedProcesses } from '../support/processes.js';
import { TestCluster } from './harness/cluster.js';
import { dialAs } from './harness/other-release.js';

/** A worker whose deletions an operator confirms. */
const ASKING = { confirmation: { mode: 'operator', checkpoint: false, classes: { destructive: 'confirm' } } };
/** Sessions that a test leaves do not keep its workers. */
const ENDING = { drain_timeout: 0.1 };
const REQUEST_NAMES = Object.keys(REQUEST_FACTS) as RequestName[];
/** What all nodes are asked for. */
const GATHERED = REQUEST_NAMES.filter((name) => REQUEST_FACTS[name].route === 'gather' && name !== 'subscribe');
/** More than a message between nodes may have, in characters. */
const TOO_LARGE = 64 * 1024 * 1024;

describe('a worker that is killed', () => {
  it('fails an input, an opening and a wait for a confirmation, and nothing of it runs after its next start', async () => {
    await using cluster = new TestCluster(ENDING);
    const gateway = await cluster.startGateway();
    const worker = await cluster.startWorker('worker-1', ASKING);
    await cluster.register(gateway, worker);
    await using client = await cluster.connect(gateway);
    const [reading, asking] = await Promise.all([client.openSession(), client.openSession()]);
    const { command_id } = await client.run('read -r line; sleep 600', reading, { background: true });
    const asked = client.run('rm -rf nothing', asking);
    await client.event('confirmation_required');
    const instance = instanceOf(worker.daemon.pid);
    worker.daemon.signal('SIGSTOP');
    const typed = client.request('send_input', { command_id, data: 'text\n' });
    const opened = client.request('open_session', { placement: { node: 'worker-1' } });
    // The gateway answers this itself, after it has sent on those before.
    await client.request('describe_access');
    worker.daemon.signal('SIGKILL');
    expect((await typed).error).toMatchObject({ code: 'NODE_LOST', details: { maybe_executed: true } });
    expect((await opened).error).toMatchObject({ code: 'NODE_LOST', details: { maybe_executed: true } });
    expect((await asked).error).toMatchObject({ code: 'NODE_LOST', details: { node: 'worker-1' } });
    await worker.daemon.exited;
    await cluster.startWorker('worker-1', ASKING, { given: worker.daemon.directory });
    expect(taggedProcesses(instance)).toEqual([]);
  });
});

describe('a worker that is frozen', () => {
  it('has no effect on the sessions of another one, and lists name it', async () => {
    await using cluster = new TestCluster(ENDING);
    const { gateway, workers } = await cluster.startWith('worker-1', 'worker-2');
    await using client = await cluster.connect(gateway);
    const id = await client.openSession({ placement: { node: 'worker-1' } });
    await client.openSession({ placement: { node: 'worker-2' } });
    const frozen = workers[1]!.daemon;
    frozen.signal('SIGSTOP');
    expect(await client.run('echo on', id)).toMatchObject({ stdout: 'on\n' });
    expect(await client.request('list_sessions')).toMatchObject({
      sessions: [{ session_id: id }],
      unreachable: [{ node: 'worker-2', code: 'NODE_UNREACHABLE' }],
    });
    await Promise.all(
      GATHERED.map(async (name) => {
        const { unreachable } = (await client.request(name, {})) as { unreachable?: unknown };
        expect(unreachable, name).toEqual([{ node: 'worker-2', code: 'NODE_UNREACHABLE' }]);
      }),
    );
    frozen.signal('SIGCONT');
    await eventually(async () => {
      expect((await client.request('list_sessions')).sessions).toHaveLength(2);
    });
  });
});

describe('a confirmation on a worker', () => {
  it('expires for its client at one gateway and the operator at another', async () => {
    await using cluster = new TestCluster(ENDING);
    const gateways = [await cluster.startGateway('gate-1'), await cluster.startGateway('gate-2')] as const;
    const confirmation = { ...ASKING.confirmation, expires: 1 };
    const worker = await cluster.startWorker('worker-1', { confirmation });
    for (const gateway of gateways) await cluster.register(gateway, worker);
    await using agent = await cluster.connect(gateways[0]);
    await using operator = await cluster.connect(gateways[1], 'operator');
    // The answer comes after the worker has been told of the operator.
    await operator.request('list_confirmations');
    const answer = await agent.run('rm -rf nothing');
    expect(answer.error?.code).toBe('COMMAND_DENIED');
    for (const each of [agent, operator])
      expect(await each.event('confirmation_resolved')).toMatchObject({ outcome: 'expired' });
  });

  it('is decided by another operator when the gateway of the first one dies', async () => {
    await using cluster = new TestCluster(ENDING);
    const gateways = [await cluster.startGateway('gate-1'), await cluster.startGateway('gate-2')] as const;
    const worker = await cluster.startWorker('worker-1', ASKING);
    for (const gateway of gateways) await cluster.register(gateway, worker);
    await using agent = await cluster.connect(gateways[0]);
    await using first = await cluster.connect(gateways[1], 'operator');
    await first.request('list_confirmations');
    const running = agent.run('rm -rf nothing');
    await first.event('confirmation_required');
    gateways[1].signal('SIGKILL');
    await gateways[1].exited;
    await using second = await cluster.connect(gateways[0], 'operator');
    const [asked] = (await second.request('list_confirmations')).confirmations;
    const { confirmation_id = '', command_sha256 } = asked ?? {};
    await second.request('confirm_command', { confirmation_id, command_sha256, decision: 'approve' });
    expect(await running).toMatchObject({ status: 'completed', exit_code: 0 });
  });
});

describe('the port for gateways', () => {
  it('ends a link with a message that is too large, and the others go on', async () => {
    await using cluster = new TestCluster(ENDING);
    const { gateway, workers } = await cluster.startWith('worker-1');
    await using client = await cluster.connect(gateway);
    const id = await client.openSession();
    const { socket } = await dialAs('gate-9', workers[0]!, cluster);
    const ended = new Promise((resolve) => socket.once('disconnect', resolve));
    socket.emit('request', { client: 'c', name: 'open_session', payload: { label: 'x'.repeat(TOO_LARGE) } });
    await ended;
    expect(await client.run('echo on', id)).toMatchObject({ stdout: 'on\n' });
  });
});

import { setTimeout as sleep } from 'node:timers/promises';

import type { Answer, RequestInput } from '../core/protocol/requests.js';
import type { NodeInfo } from '../core/protocol/requests/nodes.js';
import { type DaemonAddress, type DaemonOptions, findDaemon } from './connect/daemon-address.js';
import { DAEMON_OPTIONS, requesting } from './connect/requesting.js';
import { withDaemon } from './connect/with-daemon.js';
import type { Context } from './console/context.js';
import { CommandLineError, UsageError } from './console/failure.js';
import { formatSpan, table } from './console/style.js';
import { type Entry, JSON_OPTION, type JsonOption, printAnswer, type Subcommand } from './console/subcommand.js';

const OPTIONS: readonly Entry[] = [...DAEMON_OPTIONS, JSON_OPTION];

/** How often a node that is drained is looked at, in milliseconds. */
const LOOK_MS = 500;

const list = requesting('list_nodes', {
  summary: 'list the nodes',
  description: 'Lists the nodes: their states, what they carry, and where they are.',
  options: OPTIONS,
  examples: ['shell-adapter nodes list', "shell-adapter nodes list --json | jq -r '.nodes[].node'"],
  text: ({ nodes }) => renderNodes(nodes, Date.now()),
});

const register: Subcommand = {
  summary: 'add a worker to a gateway',
  description: 'Adds a worker to the nodes of a gateway, or changes it, and connects to it.',
  arguments: [
    ['<node>', 'cluster.name of the worker'],
    ['<url>', 'where its cluster.link_port is reached'],
  ],
  options: [
    ...OPTIONS,
    [
      '--label <name=value>',
      'a label, instead of those of its configuration; may be repeated',
      { read: (text, labels) => readLabel(text, labels as Labels | undefined) },
    ],
    ['--capacity <sessions>', 'most sessions; by default what the worker says itself'],
  ],
  examples: [
    'shell-adapter nodes register worker-1 https://10.0.0.7:8088',
    'shell-adapter nodes register vm-17 https://10.0.0.17:8088 --label sandbox=a1b2',
  ],
  run: registerNode,
};

type Labels = Readonly<Record<string, string>>;

/** Reads `NAME=VALUE`. */
function readLabel(text: string, labels: Labels = {}): Labels {
  const [name = '', ...value] = text.split('=');
  return { ...labels, [name]: value.join('=') };
}

const drain: Subcommand = {
  summary: 'have a node take no new sessions',
  description: 'Has a node take no new sessions and commands without one. What runs there goes on.',
  arguments: [['[node]', 'name of the node']],
  options: [
    ...OPTIONS,
    ['--self', 'the worker of this machine, at its own port, and not through a gateway'],
    ['--wait', 'wait until nothing runs there any more'],
  ],
  examples: [
    'shell-adapter nodes drain worker-1 --wait',
    'shell-adapter nodes drain --self --wait --config worker.yaml',
  ],
  run: drainNode,
};

const undrain: Subcommand = {
  summary: 'have a node take new sessions again',
  description: 'Has a node that was drained take new sessions again.',
  arguments: [['<node>', 'name of the node']],
  options: OPTIONS,
  examples: ['shell-adapter nodes undrain worker-1'],
  run: async (context, options: DaemonOptions & JsonOption, node: string) => {
    const answer = await withDaemon(options, context, (client) => client.request('drain_node', { node, drain: false }));
    await printAnswer(context, options, answer.node, () => `${answer.node.node} takes new sessions`);
  },
};

const remove = requesting('remove_node', {
  summary: 'remove a worker from a gateway',
  description: 'Removes a worker from the nodes of a gateway. What runs there counts as lost for its clients.',
  arguments: [['<node>', 'name of the node', { field: 'node' }]],
  options: OPTIONS,
  examples: ['shell-adapter nodes remove vm-17'],
  text: ({ node }) => `removed ${node}`,
});

export const nodesSubcommand: Subcommand = {
  summary: 'list, register, drain and remove the nodes of a cluster',
  description: 'Lists the nodes of a cluster, and adds and removes the workers of a gateway.',
  subcommands: { list, register, drain, undrain, remove },
};

function renderNodes(nodes: readonly NodeInfo[], now: number): string[] {
  const rows = nodes.map(({ node, role, state, sessions, capacity, version, seen_at: seenAt, url, problem }) => [
    node,
    role,
    state,
    role === 'gateway' ? '-' : `${sessions}/${capacity}`,
    version ?? '-',
    seenAt === null ? '-' : formatSpan(now - Date.parse(seenAt)),
    problem === null ? (url ?? '-') : `${url ?? '-'} (${problem})`,
  ]);
  const head = ['NAME', 'ROLE', 'STATE', 'SESSIONS', 'VERSION', 'SEEN', 'URL'];
  return table(head, rows, 'This daemon is not part of a cluster.');
}

/** @throws UsageError */
async function registerNode(
  context: Context,
  options: DaemonOptions & JsonOption & { readonly label?: Labels; readonly capacity?: string },
  name: string,
  url: string,
): Promise<void> {
  const { capacity, label: labels } = options;
  if (capacity !== undefined && !/^[1-9]\d{0,6}$/.test(capacity))
    throw new UsageError(`--capacity: ${JSON.stringify(capacity)} is no number of sessions`);
  const size = capacity === undefined ? {} : { capacity: Number(capacity) };
  const request = { node: name, url, ...(labels && { labels: { ...labels } }), ...size };
  const { node } = await withDaemon(options, context, (client) => client.request('register_node', request));
  const how = node.problem === null ? 'is connected' : `is registered, but not connected: ${node.problem}`;
  await printAnswer(context, options, node, () => `${node.node} ${how}`);
}

/** Makes one of the requests that a gateway and a worker on its own port answer alike. */
type AskNode = <N extends 'list_nodes' | 'drain_node'>(name: N, payload: RequestInput<N>) => Promise<Answer<N>>;

/** Drains a node; with `wait` returns when nothing runs there. */
async function drainNode(
  context: Context,
  options: DaemonOptions & JsonOption & { readonly wait?: boolean; readonly self?: boolean },
  name?: string,
): Promise<void> {
  if ((name === undefined) !== (options.self === true)) {
    throw new UsageError('give the name of a node, or --self for the worker of this machine');
  }
  const drained = async (ask: AskNode, node: string) => {
    const answer = await ask('drain_node', { node, drain: true });
    return options.wait === true ? untilEmpty(ask, answer.node) : answer.node;
  };
  const node =
    name === undefined
      ? await drainSelf(context, options, drained)
      : await withDaemon(options, context, (client) => drained((...request) => client.request(...request), name));
  const count = `${node.sessions} ${node.sessions === 1 ? 'session or command' : 'sessions and commands'}`;
  await printAnswer(context, options, node, () => `${node.node} takes no new sessions; ${count} there`);
}

/** Waits until a node carries nothing, or is lost. */
async function untilEmpty(ask: AskNode, drained: NodeInfo): Promise<NodeInfo> {
  let node = drained;
  while (node.sessions > 0 && node.state !== 'lost') {
    await sleep(LOOK_MS);
    const { nodes } = await ask('list_nodes', {});
    node = nodes.find((one) => one.node === drained.node) ?? { ...node, state: 'lost' };
  }
  return node;
}

/**
 * Drains the worker at the address, at its own port.
 * @throws CommandLineError when there is no worker
 */
async function drainSelf(
  context: Context,
  options: DaemonOptions,
  drained: (ask: AskNode, node: string) => Promise<NodeInfo>,
): Promise<NodeInfo> {
  const address = await findDaemon(options, context);
  if (!/^https?:/.test(address.url)) {
    throw new CommandLineError(`a worker is asked over HTTP, and not at ${address.url}`, {
      hint: 'Give --url http://…',
    });
  }
  const ask: AskNode = (name, payload) => askWorker(address, name, payload);
  const { nodes } = await ask('list_nodes', {});
  const [own] = nodes;
  if (own && own.role !== 'gateway') return drained(ask, own.node);
  throw new CommandLineError(`the daemon at ${address.url} runs no sessions of a cluster`, {
    hint: 'It needs cluster.enabled: true and cluster.role: worker, or node. Name its configuration file by --config.',
  });
}

async function askWorker<N extends 'list_nodes' | 'drain_node'>(
  { url, token }: DaemonAddress,
  name: N,
  payload: RequestInput<N>,
): Promise<Answer<N>> {
  const answered = await fetch(new URL(`/v1/requests/${name}`, url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(payload),
  }).catch((cause: unknown) => {
    throw new CommandLineError(`no daemon answers at ${url}`, { cause });
  });
  const answer = (await answered.json()) as Answer<N> & { readonly error?: { readonly message: string } };
  if (answer.error) throw new CommandLineError(answer.error.message);
  return answer;
}

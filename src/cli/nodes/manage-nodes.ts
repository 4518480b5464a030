import { setTimeout as sleep } from 'node:timers/promises';

import type { AdapterClient } from '../../client/index.js';
import type { NodeInfo } from '../../core/protocol/requests/nodes.js';
import { withDaemon } from '../connect/with-daemon.js';
import { alignColumns, formatSpan } from '../console/style.js';
import type { Context } from '../console/context.js';
import { UsageError } from '../console/failure.js';
import type { DrainOptions, NodesOptions, RegisterOptions } from './nodes.js';

/** How often a node that is drained is looked at, in milliseconds. */
export const LOOK_MS = 500;

/** Prints the nodes. */
export async function listNodes(context: Context, { json = false, ...options }: NodesOptions): Promise<void> {
  const { nodes } = await withDaemon(options, context, (client) => client.request('list_nodes', {}));
  const text = json ? JSON.stringify({ nodes }, null, 2) : renderNodes(nodes, Date.now());
  await context.stdout.write(`${text}\n`);
}

/**
 * Adds a worker, and prints how the connection went.
 * @throws UsageError
 */
export async function registerNode(
  context: Context,
  worker: { readonly node: string; readonly url: string },
  { json = false, label: labels, capacity, ...options }: RegisterOptions,
): Promise<void> {
  if (capacity !== undefined && !/^[1-9]\d{0,6}$/.test(capacity))
    throw new UsageError(`--capacity: ${JSON.stringify(capacity)} is no number of sessions`);
  const size = capacity === undefined ? {} : { capacity: Number(capacity) };
  const request = { ...worker, ...(labels && { labels }), ...size };
  const { node } = await withDaemon(options, context, (client) => client.request('register_node', request));
  const how = node.problem === null ? 'is connected' : `is registered, but not connected: ${node.problem}`;
  await print(context, json, node, `${node.node} ${how}`);
}

/** Drains a node, or ends that; with `wait` returns when nothing runs there. */
export async function drainNode(
  context: Context,
  request: { readonly node: string; readonly drain: boolean },
  { json = false, wait = false, ...options }: DrainOptions,
): Promise<void> {
  const node = await withDaemon(options, context, async (client) => {
    const { node: drained } = await client.request('drain_node', request);
    return wait ? untilEmpty(client, drained) : drained;
  });
  await printDrained(context, node, { json, drain: request.drain });
}

/** Says what a node that is drained, or no longer, still carries. */
export async function printDrained(
  context: Context,
  node: NodeInfo,
  { json = false, drain }: { readonly json?: boolean; readonly drain: boolean },
): Promise<void> {
  const count = `${node.sessions} ${node.sessions === 1 ? 'session or command' : 'sessions and commands'}`;
  const done = drain ? `takes no new sessions; ${count} there` : 'takes new sessions';
  await print(context, json, node, `${node.node} ${done}`);
}

/** Removes a worker. */
export async function removeNode(context: Context, node: string, { json = false, ...options }: NodesOptions) {
  const removed = await withDaemon(options, context, (client) => client.request('remove_node', { node }));
  await print(context, json, removed, `removed ${node}`);
}

const print = (context: Context, isJson: boolean, answer: object, text: string) =>
  context.stdout.write(`${isJson ? JSON.stringify(answer, null, 2) : text}\n`);

/** Waits until a node carries nothing, or is lost. */
async function untilEmpty(client: AdapterClient, drained: NodeInfo): Promise<NodeInfo> {
  let node = drained;
  while (node.sessions > 0 && node.state !== 'lost') {
    await sleep(LOOK_MS);
    const { nodes } = await client.request('list_nodes', {});
    node = nodes.find((one) => one.node === drained.node) ?? { ...node, state: 'lost' };
  }
  return node;
}

function renderNodes(nodes: readonly NodeInfo[], now: number): string {
  if (nodes.length === 0) return 'This daemon is not part of a cluster.';
  const rows = nodes.map(({ node, role, state, sessions, capacity, version, seen_at: seenAt, url, problem }) => [
    node,
    role,
    state,
    role === 'gateway' ? '-' : `${sessions}/${capacity}`,
    version ?? '-',
    seenAt === null ? '-' : formatSpan(now - Date.parse(seenAt)),
    problem === null ? (url ?? '-') : `${url ?? '-'} (${problem})`,
  ]);
  return alignColumns([['NAME', 'ROLE', 'STATE', 'SESSIONS', 'VERSION', 'SEEN', 'URL'], ...rows]).join('\n');
}

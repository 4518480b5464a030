import { setTimeout as sleep } from 'node:timers/promises';

import type { Answer, RequestInput } from '../../core/protocol/requests.js';
import type { NodeInfo } from '../../core/protocol/requests/nodes.js';
import { findDaemon } from '../connect/daemon-address.js';
import type { Context } from '../console/context.js';
import { CommandLineError } from '../console/failure.js';
import { LOOK_MS, printDrained } from './manage-nodes.js';
import type { DrainOptions } from './nodes.js';

/** The requests that a worker serves on its own port. */
type OwnRequest = 'list_nodes' | 'drain_node';

/** Where a worker is asked, and with which token. */
interface WorkerAddress {
  readonly url: string;
  readonly token: string | undefined;
}

/**
 * Drains the worker at the address, at its own port; with `wait` returns when nothing runs there.
 * @throws CommandLineError when there is no worker
 */
export async function drainSelf(context: Context, { wait = false, ...options }: DrainOptions): Promise<void> {
  const address = await findDaemon(options, context);
  if (!/^https?:/.test(address.url)) {
    throw new CommandLineError(`a worker is asked over HTTP, and not at ${address.url}`, {
      hint: 'Give --url http://…',
    });
  }
  const own = await ownNode(address);
  let { node } = await ask(address, 'drain_node', { node: own.node, drain: true });
  while (wait && node.sessions > 0) {
    await sleep(LOOK_MS);
    node = await ownNode(address);
  }
  await printDrained(context, node, { ...options, drain: true });
}

async function ownNode(address: WorkerAddress): Promise<NodeInfo> {
  const { nodes } = await ask(address, 'list_nodes', {});
  const [own] = nodes;
  if (own && own.role !== 'gateway') return own;
  throw new CommandLineError(`the daemon at ${address.url} runs no sessions of a cluster`, {
    hint: 'It needs cluster.enabled: true and cluster.role: worker, or node. Name its configuration file by --config.',
  });
}

async function ask<N extends OwnRequest>(
  { url, token }: WorkerAddress,
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

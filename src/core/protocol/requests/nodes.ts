import { z } from 'zod';

import { NODE_NAME, NODE_NAME_RULE } from '../../ids.js';
import { defineRequests } from '../define-requests.js';
import { label, optional, timestamp } from '../fields.js';

/** Most labels of a node. */
const MAX_LABELS = 32;
/** Most sessions and running one-shot commands that a node may be said to carry. */
const MAX_CAPACITY = 1_000_000;

const nodeName = z.string().regex(NODE_NAME, `must be ${NODE_NAME_RULE}`).describe(`Name of a node: ${NODE_NAME_RULE}`);

/** Labels of a node, name to value. */
const labels = z
  .record(label, label)
  .refine((given) => Object.keys(given).length <= MAX_LABELS, `must be at most ${MAX_LABELS} labels`);

/** The node that a request about a file or a machine is about. */
export const onNode = optional(nodeName).describe(
  'The node of a [cluster](../operate/cluster.md), if `session_id` names none; by default this one, or the only one that runs sessions',
);

/** The node whose machine or log a request is about. */
export const ofNode = optional(nodeName).describe(
  'The node of a [cluster](../operate/cluster.md); by default the one that the client is connected to',
);

/** Where a session is opened, or a command without one is run. */
export const placement = optional(
  z.strictObject({
    node: optional(nodeName).describe('On this node only'),
    labels: optional(labels).describe('Only on a node that has all these labels'),
  }),
).describe('Where in a [cluster](../operate/cluster.md); by default on the node with the least load');

/** Nodes of a cluster that have not answered. */
export const unreachable = optional(z.array(z.object({ node: nodeName, code: z.string() }))).describe(
  'Of a [cluster](../operate/cluster.md): nodes that have not answered, whose entries are missing; left out if there are none',
);

/** A node of a cluster. */
export const nodeInfo = z.object({
  node: nodeName,
  role: z.enum(['node', 'gateway', 'worker']),
  state: z
    .enum(['live', 'draining', 'suspect', 'lost'])
    .describe('`suspect`: its connection has broken, and it may come back; `lost`: what ran on it counts as lost'),
  problem: z.string().nullable().describe('Why there is no connection'),
  url: z.string().nullable().describe('Where other nodes reach it; null for the node that answers'),
  version: z.string().nullable().describe('Of the adapter; null before the first connection'),
  instance_id: z.string().nullable(),
  labels,
  sessions: z.int().describe('Open sessions and running one-shot commands'),
  capacity: z.int().describe('Most of them'),
  seen_at: timestamp.nullable().describe('When it has shown last that it runs: over its link, or by its lease'),
});

/** A node in wire format. */
export type NodeInfo = z.output<typeof nodeInfo>;

/** The requests about the nodes of a cluster. */
export const nodeRequests = defineRequests({
  list_nodes: {
    summary: 'Lists the nodes of the cluster. A daemon alone has none.',
    role: 'operator',
    recorded: 'refusals',
    route: 'here',
    repeat: 'safe',
    onWorkers: true,
    example: {},
    input: () => z.strictObject({}),
    output: () => z.object({ nodes: z.array(nodeInfo) }),
  },
  register_node: {
    summary:
      'Adds a worker to the nodes of this gateway, or changes it, and connects to it. It answers after the first attempt.',
    role: 'admin',
    recorded: 'each',
    route: 'here',
    repeat: 'never',
    example: { node: 'vm-17', url: 'https://10.0.0.17:8088', labels: { sandbox: 'a1b2' } },
    input: () =>
      z.strictObject({
        node: nodeName.describe('`cluster.name` of the worker'),
        url: z
          .url({ protocol: /^https?$/, error: 'must be an address such as https://10.0.0.7:8088' })
          .describe('Where its `cluster.link_port` is reached'),
        labels: optional(labels).describe('Besides those of its configuration, which they replace'),
        capacity: optional(z.int().min(1).max(MAX_CAPACITY)).describe('Most sessions; by default what it says itself'),
      }),
    output: () => z.object({ node: nodeInfo }),
  },
  remove_node: {
    summary: 'Removes a worker from the nodes of this gateway. What runs on it counts as lost for the clients here.',
    role: 'admin',
    recorded: 'each',
    route: 'here',
    repeat: 'never',
    example: { node: 'vm-17' },
    input: () => z.strictObject({ node: nodeName }),
    output: () => z.object({ node: nodeName }),
  },
  drain_node: {
    summary: 'Has a node take no new sessions and one-shot commands, or take them again. What runs there goes on.',
    role: 'admin',
    recorded: 'each',
    route: 'here',
    repeat: 'never',
    onWorkers: true,
    example: { node: 'worker-1', drain: true },
    input: () =>
      z.strictObject({
        node: nodeName,
        drain: z.boolean().describe('False ends it'),
      }),
    output: () => z.object({ node: nodeInfo }),
  },
});

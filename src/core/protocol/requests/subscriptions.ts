import { z } from 'zod';

import { ROLE_NAMES } from '../../principal.js';
import { defineRequests, UNTIL_CLOSED } from '../define-requests.js';
import { optional, timestamp } from '../fields.js';
import { hostEntry } from '../results.js';
import { ofNode } from './nodes.js';

/** Topics of `subscribe`. */
const TOPICS = ['sessions', 'commands', 'confirmations', 'llm', 'host', 'audit', 'nodes'] as const;

/** A topic of `subscribe`. */
export type Topic = (typeof TOPICS)[number];

/** Bounds of the interval between two events of a topic, and its default, in milliseconds. */
const MIN_INTERVAL_MS = 250;
const MAX_INTERVAL_MS = 60_000;
const DEFAULT_INTERVAL_MS = 1000;

const column = <T extends z.ZodType>(schema: T) => z.array(schema).describe(schema.description ?? '');

const { at, cpu_percent, load1, memory_used_bytes, disk_used_bytes, ...others } = hostEntry.shape;
const { net_rx_bytes_s, net_tx_bytes_s, sessions, commands_running, daemon_rss_bytes } = others;

/** The requests of clients that show the state of the daemon. */
export const subscriptionRequests = defineRequests({
  describe_access: {
    summary: 'Describes who this client is to the daemon, and which requests it may make.',
    role: 'viewer',
    recorded: 'refusals',
    route: 'here',
    repeat: 'safe',
    example: {},
    input: () => z.strictObject({}),
    output: () =>
      z.object({
        name: z.string().describe('Name of the token; `local` without one'),
        role: z.enum(ROLE_NAMES),
        is_local: z.boolean().describe('Accepted without a token: it may not decide as an operator'),
        token_id: optional(z.string()).describe('Left out without a token'),
        expires_at: optional(timestamp).describe('When the token ends; left out for one without an end'),
        node: optional(z.string()).describe(
          'Name of the node of a [cluster](../operate/cluster.md) that the client is connected to; left out by a daemon alone',
        ),
        may: z.array(z.string()).describe('Names of the requests that the role may make'),
        server_time: timestamp,
      }),
  },
  subscribe: {
    summary:
      'Subscribes to changes of everything that this client may see, instead of the topics before; see [Subscriptions](#subscriptions).',
    role: 'viewer',
    recorded: 'refusals',
    route: 'gather',
    repeat: 'safe',
    noSink: true,
    subscribesTo: ({ topics }) => ((topics as readonly unknown[]).length > 0 ? UNTIL_CLOSED : undefined),
    example: { topics: ['sessions', 'commands', 'host'], interval_ms: 1000 },
    input: () =>
      z.strictObject({
        topics: z
          .array(z.enum(TOPICS))
          .describe(
            'None ends the subscription. `audit` and `nodes` need the role operator or admin, `nodes` a [cluster](../operate/cluster.md) too',
          ),
        interval_ms: optional(z.int().min(MIN_INTERVAL_MS).max(MAX_INTERVAL_MS)).describe(
          `Between two events of a topic; ${DEFAULT_INTERVAL_MS} by default`,
        ),
      }),
    output: () =>
      z.object({
        topics: z.array(z.enum(TOPICS)).describe('Those granted: `audit` is left out if the daemon records nothing'),
        interval_ms: z.int(),
      }),
  },
  host_history: {
    summary: 'Returns the measured values of the machine in the last hour.',
    role: 'viewer',
    recorded: 'refusals',
    route: 'machine',
    repeat: 'safe',
    example: {},
    input: () =>
      z.strictObject({
        node: ofNode,
        since: optional(timestamp).describe('Only entries after this time; by default all'),
      }),
    output: () =>
      z.object({
        interval_ms: z.int().describe('Between two entries'),
        at: column(at),
        cpu_percent: column(cpu_percent),
        load1: column(load1),
        memory_used_bytes: column(memory_used_bytes),
        disk_used_bytes: column(disk_used_bytes),
        net_rx_bytes_s: column(net_rx_bytes_s),
        net_tx_bytes_s: column(net_tx_bytes_s),
        sessions: column(sessions),
        commands_running: column(commands_running),
        daemon_rss_bytes: column(daemon_rss_bytes),
        memory_bytes: z.int().describe('Memory of the machine, or the limit of the container'),
        disk_bytes: z.int().nullable().describe('Size of the file system of the workspace'),
        cpus: z.number().describe('CPUs of the machine, or the share of the container, which may be a fraction'),
      }),
  },
});

/** Interval of a subscription that names none, in milliseconds. */
export const DEFAULT_TICK_MS = DEFAULT_INTERVAL_MS;

import { isIP } from 'node:net';
import { z } from 'zod';

import { NODE_NAME, NODE_NAME_RULE } from '../../core/ids.js';
import { MAX_PORT } from '../../core/protocol/bounds.js';
import {
  choice,
  count,
  described,
  duration,
  flag,
  optionalCount,
  optionalPath,
  restarting,
  secret,
  text,
} from '../fields.js';

const nameError = `must be ${NODE_NAME_RULE}`;
const labelsError = 'must be a mapping of names to texts';
const linkUrlError = 'must be an address such as https://10.0.0.7:8088';

/** Prefix of the keys. The braces make one hash tag of it, so that all keys are in one slot of Redis Cluster. */
const KEY_PREFIX = '{shell-adapter}:';
const prefixError = `must begin with one hash tag in braces, such as ${KEY_PREFIX}`;

const tls = z
  .strictObject({
    cert: optionalPath('none', 'The certificate of this node with its chain, in PEM.'),
    key: optionalPath('none', 'Its private key, in PEM.'),
    ca: optionalPath('none', 'The certificate authority of all nodes, in PEM: one that signs nothing else.'),
  })
  .superRefine(({ cert, key, ca }, context) => {
    const missing = Object.entries({ cert, key, ca }).filter(([, file]) => file === undefined);
    if (missing.length === 0 || missing.length === 3) return;
    for (const [name] of missing) {
      context.addIssue({ code: 'custom', path: [name], message: 'is missing: nodes need cert, key and ca' });
    }
  });

/** `cluster`: this daemon as a node among others. */
export const clusterSection = restarting({
  enabled: flag(
    false,
    'Whether this daemon is a node of a cluster. Experimental; see [cluster](../operate/cluster.md).',
  ),
  role: choice(
    ['node', 'gateway', 'worker'],
    'worker',
    '`node`: takes clients, runs sessions, and knows the other nodes. `gateway`: takes clients, and sends their requests on to workers; it starts no shells. `worker`: runs sessions for the clients of gateways; its port serves health and metrics only.',
  ),
  name: described(z.string({ error: nameError }).regex(NODE_NAME, { error: nameError }).optional(), {
    text: `Name of the node in its cluster: ${NODE_NAME_RULE}.`,
    fallback: 'from the name of the machine',
  }),
  redis_url: secret(
    'none: workers are registered at each gateway',
    'The Redis in which nodes find each other, such as `redis://:PASSWORD@10.0.0.5:6379/0`; `rediss:` for TLS. Needs the package `ioredis`. The same for all nodes.',
  ),
  key_prefix: described(text.regex(/^\{[^{}]+\}[^{}]*$/, { error: prefixError }).default(KEY_PREFIX), {
    text: 'Prefix of all keys in Redis: clusters that share one need different ones.',
    fallback: `\`${KEY_PREFIX}\``,
  }),
  link_url: described(z.url({ protocol: /^https?$/, error: linkUrlError }).optional(), {
    text: 'Where other nodes reach the port for links of this node; they learn it from Redis.',
    fallback: 'from `link_host` and `link_port`',
  }),
  link_host: described(
    z
      .string({ error: 'must be an address' })
      .refine((host) => isIP(host) !== 0, { error: 'must be an IP address' })
      .default('127.0.0.1'),
    { text: 'The address on which a worker or node listens for other nodes.', fallback: '`127.0.0.1`' },
  ),
  link_port: count({ unit: 'port', min: 0, max: MAX_PORT }, 8088, 'The port for other nodes; 0 takes any free one.'),
  tls: tls.prefault({}),
  secret_file: optionalPath('none', 'A file with a secret that all nodes share: at least 32 characters.'),
  insecure_links: flag(
    false,
    'Whether nodes connect without TLS, by the shared secret alone: only for a network that encrypts.',
  ),
  lease: duration(
    'seconds',
    6,
    'How long a node that does not answer may come back before what runs there counts as lost. In Redis it is renewed three times as often.',
  ),
  window_kb: count(
    { unit: 'KB', min: 64, max: 65_536 },
    256,
    'Output of one client that may be under way between two nodes.',
  ),
  capacity: optionalCount(
    { unit: 'sessions', min: 1, max: 1_000_000 },
    '`adapter.max_sessions`',
    'Open sessions and running one-shot commands up to which this worker or node is chosen.',
  ),
  labels: described(z.record(z.string(), z.string({ error: labelsError }), { error: labelsError }).default({}), {
    text: 'Labels of this worker or node, by which sessions can choose it.',
    fallback: 'none',
  }),
  drain_timeout: duration(
    'seconds',
    300,
    'How long a worker or node that is stopped by SIGTERM waits for its sessions and commands to end.',
  ),
  tokens: choice(
    ['redis', 'files'],
    'redis',
    'Where gateways and nodes with Redis have their tokens. `redis`: a token counts at all of them. `files`: each has its own.',
  ),
  token_grace: duration('seconds', 600, 'How long shared tokens count while Redis does not answer; then none does.'),
  local_role: choice(
    ['viewer', 'agent', 'operator', 'admin'],
    'agent',
    'Highest role, on this worker or node, of programs that need no token at a gateway or at another node.',
  ),
});

/** Problems of the section as a whole: a node needs a secret, and certificates unless its network encrypts. */
export function clusterProblems({
  enabled,
  tls: { cert },
  secret_file: secretFile,
  insecure_links: isInsecure,
  redis_url: redisUrl,
  link_url: linkUrl,
}: z.output<typeof clusterSection>): readonly { readonly key: string; readonly message: string }[] {
  if (!enabled) return [];
  const noSecret = { key: 'secret_file', message: 'is missing: all nodes of a cluster share a secret' };
  const noTls = { key: 'tls', message: 'is missing: give cert, key and ca, or insecure_links: true' };
  const notRedis = {
    key: 'redis_url',
    message: 'must be an address such as redis://10.0.0.5:6379/0, or rediss: for TLS',
  };
  const notSecure = {
    key: 'link_url',
    message: `must begin with ${cert === undefined ? 'http' : 'https'}://, as tls says`,
  };
  return [
    ...(secretFile === undefined ? [noSecret] : []),
    ...(cert === undefined && !isInsecure ? [noTls] : []),
    ...(redisUrl !== undefined && !isRedisUrl(redisUrl) ? [notRedis] : []),
    ...(linkUrl !== undefined && linkUrl.startsWith('https:') !== (cert !== undefined) ? [notSecure] : []),
  ];
}

const isRedisUrl = (url: string): boolean =>
  URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol) && new URL(url).hostname !== '';

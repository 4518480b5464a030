import { z } from 'zod';

import { type AllowedDestination, parseAllowed } from '../../core/egress.js';
import { isMapping } from '../../core/json.js';
import { SANDBOX_PROFILES } from '../../core/sandbox-profiles.js';
import {
  choice,
  converted,
  described,
  flag,
  restarting,
  secondsToMs,
  textWhere,
  time,
  wholeNumber,
} from '../fields.js';

/** Bounds that hold unless others are given. */
const DEFAULT_CONNECTIONS = 64;
const DEFAULT_IDLE_SECONDS = 300;
/** Longest allow-list: each connection is compared with all of it. */
const MAX_ENTRIES = 1000;

const listError = `must be a list of up to ${MAX_ENTRIES} destinations, such as "example.com:443"`;

const destination = z.string({ error: 'must be a text' }).superRefine((text, context) => {
  const parsed = parseAllowed(text);
  if (typeof parsed === 'string') context.addIssue({ code: 'custom', message: parsed });
});

/** Undefined leaves the error of the key itself. */
const unknownKey = ({ code, keys }: { readonly code: string; readonly keys?: unknown }): string | undefined =>
  code === 'unrecognized_keys'
    ? `has an unknown key, ${String(keys)}; the keys are allow, max_connections, idle_timeout`
    : undefined;

const allowance = z.strictObject(
  {
    allow: z.array(destination, { error: listError }).max(MAX_ENTRIES, { error: listError }),
    max_connections: wholeNumber({ unit: 'connections', min: 1, max: 10_000 }).default(DEFAULT_CONNECTIONS),
    idle_timeout: time('seconds').default(DEFAULT_IDLE_SECONDS),
  },
  { error: unknownKey },
);

/** Checks the mapping separately, so that its errors name the entry that is wrong. */
const network = z.unknown().transform((value, context): boolean | z.output<typeof allowance> => {
  if (typeof value === 'boolean') return value;
  if (!isMapping(value)) {
    const message = 'must be true, false, or a mapping with `allow`: a list of destinations';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }
  const result = allowance.safeParse(value);
  if (result.success) return result.data;
  for (const { path, message } of result.error.issues) {
    context.issues.push({ code: 'custom', path, message, input: value });
  }
  return z.NEVER;
});

/**
 * What programs in a sandbox can connect to.
 * @public named in the type of the whole configuration
 */
export interface EgressSettings {
  readonly allow: readonly AllowedDestination[];
  readonly maxConnections: number;
  readonly idleTimeoutMs: number;
}

const sandboxNetwork = converted(
  network.default(true),
  {
    text: 'Whether the profile `workspace` shares the machine’s network. A mapping instead is an allow-list for both profiles: `allow` has what programs can connect to, as `HOST` or `HOST:PORT`. A host is a name (`example.com`), all names below one (`*.example.org`), an address or a range. `max_connections` (default 64) bounds the connections of a sandbox at once, `idle_timeout` (default 300 seconds) closes those without traffic.',
    fallback: '`true`',
  },
  (value: boolean | z.output<typeof allowance>): boolean | EgressSettings =>
    typeof value === 'boolean'
      ? value
      : {
          allow: value.allow.map((text) => parseAllowed(text) as AllowedDestination),
          maxConnections: value.max_connections,
          idleTimeoutMs: secondsToMs(value.idle_timeout),
        },
);

/** Files that make git run programs on its own initiative, later and outside of every sandbox. */
const DEFAULT_PROTECTED = [
  '.git/hooks/',
  '.git/config',
  '.git/config.worktree',
  '.git/commondir',
  '.git/info/attributes',
];

const PROTECTED_ERROR = 'must be a path within the workspace: relative, and without ".."';

/** `sandbox`: isolation of commands from the machine. */
export const sandboxSection = restarting({
  profile: choice(
    SANDBOX_PROFILES,
    'none',
    'What shells can reach: `none` (everything that the daemon can), `workspace` (the machine read-only, the workspace writable) or `strict` (the same without a network).',
  ),
  require: flag(
    false,
    'Whether the daemon refuses to start when the profile does not work, instead of using a weaker one.',
  ),
  network: sandboxNetwork,
  unix_sockets: flag(
    false,
    'Whether programs in the profile `strict` can use Unix sockets, those of the machine that they see included. Connected pairs always work.',
  ),
  protected_paths: described(
    z.array(textWhere(isWithin, PROTECTED_ERROR), { error: 'must be a list of paths' }).default(DEFAULT_PROTECTED),
    {
      text: 'Paths within the workspace that are read-only in a sandbox. Those below `.git/` hold for nested repositories, too.',
      fallback: DEFAULT_PROTECTED.map((path) => `\`${path}\``).join(', '),
    },
  ),
});

function isWithin(path: string): boolean {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  return names.length > 0 && !path.startsWith('/') && !names.includes('..') && !path.includes('\0');
}

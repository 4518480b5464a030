import { z } from 'zod';
import { SANDBOX_PROFILES } from '../../core/sandbox/profiles.js';
import { described, restarting } from '../fields/facts.js';
import { choice, flag } from '../fields/fields.js';
import { sandboxNetwork } from './sandbox-network.js';

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
    z
      .array(z.string({ error: PROTECTED_ERROR }).refine(isWithin, { error: PROTECTED_ERROR }), {
        error: 'must be a list of paths',
      })
      .default(DEFAULT_PROTECTED),
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

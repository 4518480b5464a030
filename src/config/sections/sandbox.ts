import { z } from 'zod';
import { SANDBOX_PROFILES } from '../../core/sandbox/profiles.js';
import { flag } from './fields.js';

/** Files that make git run programs on its own initiative, later and outside of every sandbox. */
const DEFAULT_PROTECTED = ['.git/hooks/', '.git/config'];

const PROTECTED_ERROR = 'must be a path within the workspace: relative, and without ".."';

/** `sandbox`: isolation of commands from the machine. */
export const sandboxSection = z.strictObject({
  profile: z
    .enum(SANDBOX_PROFILES, { error: `must be one of ${SANDBOX_PROFILES.join(', ')}` })
    .default('none')
    .describe(
      'What shells may reach: none (everything that the daemon may), workspace (the machine read-only, the workspace writable) or strict (the same, without a network). Default: none.',
    ),
  require: flag(
    false,
    'Whether the daemon refuses to start when the profile does not work, instead of using a weaker one.',
  ),
  network: flag(true, 'Whether the profile workspace shares the machine’s network.'),
  protected_paths: z
    .array(z.string({ error: PROTECTED_ERROR }).refine(isWithin, { error: PROTECTED_ERROR }), {
      error: 'must be a list of paths',
    })
    .default(DEFAULT_PROTECTED)
    .describe(`Paths within the workspace that are read-only in a sandbox. Default: ${DEFAULT_PROTECTED.join(', ')}.`),
});

function isWithin(path: string): boolean {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  return names.length > 0 && !path.startsWith('/') && !names.includes('..') && !path.includes('\0');
}

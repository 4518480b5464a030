import { z } from 'zod';

import { ROLE_NAMES } from '../../core/access/roles.js';
import { described } from '../fields/facts.js';
import { count, oneOf, path } from '../fields/fields.js';

const KIB = 1024;
const MIB = 1024 * KIB;
/** One TB: larger than any sensible value, so that only a mistake is rejected. */
const MAX_BYTES = 1024 ** 4;

/** `recording`: which sessions are recorded, and where. */
export const recordingSection = z
  .strictObject({
    roles: described(z.array(oneOf(ROLE_NAMES), { error: 'must be a list of roles' }).default([]), {
      text: 'Roles whose sessions are always recorded, whatever the client asks for. Only admins can delete these recordings.',
      fallback: 'none',
      reload: 'new_sessions',
    }),
    directory: path(
      'Directory of the recordings, which is created. Commands may not read it.',
      { in: 'state_directory', name: 'recordings' },
      'restart',
    ),
    max_bytes: count(
      { unit: 'bytes', min: 64 * KIB, max: MAX_BYTES },
      64 * MIB,
      'Size at which a recording ends early. The session goes on.',
      'new_sessions',
    ),
    max_total_bytes: count(
      { unit: 'bytes', min: 64 * KIB, max: MAX_BYTES },
      1024 * MIB,
      'Disk space of all recordings. Above it, the oldest of sessions that have ended are deleted.',
    ),
  })
  .superRefine(({ max_bytes: one, max_total_bytes: total }, context) => {
    if (total >= one) return;
    const message = `max_total_bytes (${total}) may not be less than max_bytes (${one}): a recording has to fit`;
    context.addIssue({ code: 'custom', path: ['max_total_bytes'], message });
  });

import { z } from 'zod';

import { MAX_DEBOUNCE_MS, MIN_DEBOUNCE_MS } from '../bounds.js';
import { defineRequests } from '../define-requests.js';
import * as field from '../fields.js';
import { onNode } from './nodes.js';

const { filePath, inSession, optional } = field;

const MAX_ID_LENGTH = 64;
/** Most paths of one `watch_paths`. */
const MAX_WATCHED_PATHS = 32;
/** Time between two events of a watch that names none, in milliseconds. */
export const DEFAULT_DEBOUNCE_MS = 100;

const watchId = z.string().min(1).max(MAX_ID_LENGTH).describe('Names the watch on this connection');

/** The requests that watch files and directories. */
export const watchingRequests = defineRequests({
  watch_paths: {
    summary:
      'Watches files and directories. Changes come as `paths_changed`, until `unwatch_paths` or the end of the connection.',
    role: 'agent',
    recorded: 'each',
    route: 'workspace',
    repeat: 'never',
    noSink: true,
    subscribesTo: ({ watch_id: id }) => String(id),
    example: { paths: ['src', 'package.json'], recursive: true },
    input: () =>
      z.strictObject({
        paths: z.array(filePath).min(1).max(MAX_WATCHED_PATHS),
        session_id: inSession,
        node: onNode,
        recursive: optional(z.boolean()).describe(
          'Whether to watch what is in the directories below, too, without `.git` and what a `.gitignore` excludes',
        ),
        debounce_ms: optional(z.int().min(MIN_DEBOUNCE_MS).max(MAX_DEBOUNCE_MS)).describe(
          `Shortest time between two events; ${DEFAULT_DEBOUNCE_MS} by default`,
        ),
      }),
    output: () =>
      z.object({
        watch_id: watchId,
        paths: z.array(z.string()).describe('The paths, absolute'),
        debounce_ms: z.int(),
      }),
  },
  unwatch_paths: {
    summary: 'Ends a watch of this connection.',
    role: 'agent',
    recorded: 'each',
    route: { object: 'watch_id' },
    repeat: 'never',
    noSink: true,
    example: { watch_id: 'watch_ID' },
    input: () => z.strictObject({ watch_id: watchId }),
    output: () => z.object({ watch_id: watchId }),
  },
});

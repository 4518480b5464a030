import { z } from 'zod';

import { count, described, duration, MAX_MB, optionalText, variables } from '../fields.js';

/** `checkpoints`: limits on a checkpoint of the workspace, and on the checkpoints that are kept. */
export const checkpointsSection = z
  .strictObject({
    max_files: count(
      { unit: 'files and directories', min: 1, max: 10_000_000 },
      200_000,
      'A workspace with more files and directories is refused.',
    ),
    max_workspace_mb: count(
      { unit: 'MB', min: 1, max: MAX_MB },
      2048,
      'A workspace whose files are larger together is refused.',
    ),
    max_file_mb: count(
      { unit: 'MB', min: 1, max: MAX_MB },
      256,
      'A larger file is left out, and the response says so.',
    ),
    max_count: count(
      { unit: 'checkpoints', min: 1, max: 10_000 },
      100,
      'Checkpoints that are kept; the oldest are removed first, those that no client requested before all others.',
    ),
    max_store_mb: count(
      { unit: 'MB', min: 1, max: MAX_MB },
      4096,
      'Disk space of the checkpoints of a workspace; above it, old ones are removed. The newest stays.',
    ),
  })
  .superRefine(({ max_workspace_mb: workspace, max_store_mb: store }, context) => {
    if (store >= workspace) return;
    const message = `max_store_mb (${store}) may not be less than max_workspace_mb (${workspace}): a checkpoint has to fit`;
    context.addIssue({ code: 'custom', path: ['max_store_mb'], message });
  });

const environment = z.strictObject(
  {
    init: optionalText(
      'none',
      'Shell text that is run in a session before it is handed over, such as `. .venv/bin/activate`.',
    ),
    env: described(variables('must be a mapping of variables to their values').default({}), {
      text: 'Variables of the session. What its client gives goes first.',
      fallback: 'none',
    }),
    timeout: duration('seconds', 30, 'How long `init`, and the startup files before it, may take.'),
  },
  { error: 'must be a mapping with init, env or timeout' },
);

/** `environments`: named environments, which clients choose when they open a session. */
export const environmentsSection = described(
  z
    .record(
      z.string().regex(/^[\w.-]{1,64}$/, { error: 'is no name: letters, digits, `.`, `_` and `-`, at most 64' }),
      environment,
      { error: 'must be a mapping of names to environments' },
    )
    .default({}),
  {
    text: 'Environments by name. A client opens a session in one of them, and its `init` needs no confirmation.',
    fallback: 'none',
    reload: 'new_sessions',
  },
);

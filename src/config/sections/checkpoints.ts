import { z } from 'zod';
import { count } from '../fields/fields.js';

/** One PB, in MB: larger than any machine has, so that only a mistake is rejected. */
const MAX_MB = 1024 ** 3;

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

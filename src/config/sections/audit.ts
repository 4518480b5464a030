import { z } from 'zod';
import { count, flag, path } from './fields.js';

const MIB = 1024 * 1024;
/** One TB: larger than any sensible value, so that only a mistake is rejected. */
const MAX_FILE_BYTES = 1024 ** 4;

/** `audit`: the audit log. */
export const auditSection = z.strictObject({
  enabled: flag(true, 'Whether requests that change something, verdicts, decisions and results are recorded.'),
  file: path(
    'audit.jsonl in state_directory; audit-2.jsonl and so on for further daemons that share it',
    'The audit log; its folder is created.',
  ),
  max_size: count(
    { unit: 'bytes', min: 4096, max: MAX_FILE_BYTES },
    10 * MIB,
    'An audit log that would grow beyond this is renamed and a new one begun, which goes on with the chain.',
  ),
  backups: count({ unit: 'files', min: 1, max: 1000 }, 10, 'Renamed audit logs (.1 is the newest) that are kept.'),
});

import { restarting } from '../fields/facts.js';
import { count, flag, path } from '../fields/fields.js';

const MIB = 1024 * 1024;
/** One TB: larger than any sensible value, so that only a mistake is rejected. */
const MAX_FILE_BYTES = 1024 ** 4;

/** `audit`: the audit log. */
export const auditSection = restarting({
  enabled: flag(true, 'Whether requests that change something, verdicts, decisions and results are recorded.'),
  file: path(
    'The audit log; its folder is created. A daemon that finds the default file in use takes `audit-2.jsonl` and so on.',
    { in: 'state_directory', name: 'audit.jsonl' },
  ),
  max_size: count(
    { unit: 'bytes', min: 4096, max: MAX_FILE_BYTES },
    10 * MIB,
    'Size at which the log is renamed and a new file is started, which continues the hash chain.',
  ),
  backups: count({ unit: 'files', min: 1, max: 1000 }, 10, 'Renamed logs that are kept; `.1` is the newest.'),
});

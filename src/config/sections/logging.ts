import { z } from 'zod';
import { count, path } from './fields.js';
import { type LogFormat, parseLogFormat } from './log-format.js';

/** Level names of Python's logging, from the least to the most severe. */
export const LOG_LEVELS = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'] as const;

/** 5 MiB, the value in the adapter's first sample configuration. */
const DEFAULT_LOG_BYTES = 5 * 1024 * 1024;

/** One TB: larger than any sensible value, so that only a mistake is rejected. */
const MAX_LOG_BYTES = 1024 ** 4;

const levelError = `must be one of ${LOG_LEVELS.join(', ')}`;

/** `logging`: destination, level, format and rotation of the log. */
export const loggingSection = z.strictObject({
  logging_level: z
    .string({ error: levelError })
    .toUpperCase()
    .pipe(z.enum(LOG_LEVELS, { error: levelError }))
    .default('INFO')
    .describe('The least grave records that are written: DEBUG, INFO, WARNING, ERROR or CRITICAL. Default: INFO.'),
  log_file_path: path('shell_adapter.log in state_directory', 'The log file; its folder is created.'),
  log_format: z
    .string({ error: "must be a format in Python's style" })
    .transform(readLogFormat)
    .prefault('%(asctime)s - %(name)s - %(levelname)s - %(message)s')
    .describe("A record, in Python's style. Default: `%(asctime)s - %(name)s - %(levelname)s - %(message)s`."),
  max_log_size: count(
    { unit: 'bytes', min: 1, max: MAX_LOG_BYTES },
    DEFAULT_LOG_BYTES,
    'A log file that would grow beyond this is renamed and a new one begun.',
  ),
  backup_count: count({ unit: 'files', min: 0, max: 1000 }, 3, 'Renamed log files (.1 is the newest) that are kept.'),
});

function readLogFormat(text: string, context: z.RefinementCtx): LogFormat {
  const format = parseLogFormat(text);
  if (!('problem' in format)) return format;
  context.addIssue({ code: 'custom', message: format.problem });
  return z.NEVER;
}

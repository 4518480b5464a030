import { z } from 'zod';
import { converted, described } from '../fields/facts.js';
import { count, path } from '../fields/fields.js';
import { type LogFormat, parseLogFormat } from './log-format.js';

const DEFAULT_FORMAT = '%(asctime)s - %(name)s - %(levelname)s - %(message)s';

/** Level names of Python's logging, from the least to the most severe. */
const LOG_LEVELS = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'] as const;

/** 5 MiB, the value in the adapter's first sample configuration. */
const DEFAULT_LOG_BYTES = 5 * 1024 * 1024;

/** One TB: larger than any sensible value, so that only a mistake is rejected. */
const MAX_LOG_BYTES = 1024 ** 4;

const levelError = `must be one of ${LOG_LEVELS.join(', ')}`;

/** `logging`: destination, level, format and rotation of the log. */
export const loggingSection = z.strictObject({
  logging_level: described(
    z
      .string({ error: levelError })
      .toUpperCase()
      .pipe(z.enum(LOG_LEVELS, { error: levelError }))
      .default('INFO'),
    { text: 'The least severe records that are written: DEBUG, INFO, WARNING, ERROR or CRITICAL.', fallback: '`INFO`' },
  ),
  log_file_path: path('The log file; its folder is created.', { in: 'state_directory', name: 'shell_adapter.log' }),
  log_format: converted(
    z.string({ error: "must be a format in Python's style" }).superRefine(checkLogFormat).default(DEFAULT_FORMAT),
    { text: "Format of a record, in Python's style.", fallback: `\`${DEFAULT_FORMAT}\`` },
    (text) => parseLogFormat(text) as LogFormat,
  ),
  max_log_size: count(
    { unit: 'bytes', min: 1, max: MAX_LOG_BYTES },
    DEFAULT_LOG_BYTES,
    'Size at which the log file is renamed and a new one is started.',
  ),
  backup_count: count(
    { unit: 'files', min: 0, max: 1000 },
    3,
    'Renamed log files that are kept; `.1` is the newest. With 0 a full log is emptied.',
  ),
});

function checkLogFormat(text: string, context: z.RefinementCtx): void {
  const format = parseLogFormat(text);
  if ('problem' in format) context.addIssue({ code: 'custom', message: format.problem });
}

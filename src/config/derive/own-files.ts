import type { Configuration } from '../model/configuration.js';

/**
 * Files that the daemon writes on its own initiative, wherever they are configured to be: the log, the audit log, and
 * their rotated files.
 */
export const ownFiles = ({ logging, audit }: Pick<Configuration, 'logging' | 'audit'>): readonly string[] => [
  ...withBackups(logging.logFilePath, logging.backupCount),
  ...withBackups(audit.file, audit.backups),
  ...['.head', '.lock'].map((suffix) => audit.file + suffix),
];

const withBackups = (path: string, count: number): string[] => [
  path,
  ...Array.from({ length: count }, (_, index) => `${path}.${index + 1}`),
];

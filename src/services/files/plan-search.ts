import { DEFAULT_FILE_ENTRIES, DEFAULT_FILE_MATCHES } from '../../core/files/limits.js';
import { type FilePlanner, pathsOf } from './file-plan.js';

/** Plans a search by name. */
export const planFind: FilePlanner<'find_files'> = async (request, { place }) => {
  const at = await place.locate(request.path ?? '.', true);
  const paths = pathsOf(at);
  const { pattern, type, include_ignored: includeIgnored = false, limit = DEFAULT_FILE_ENTRIES } = request;
  return {
    at,
    judgedAs: { command: 'find', args: paths },
    shown: { command: 'find_files', args: [...paths, ...(pattern === undefined ? [] : [`pattern: ${pattern}`])] },
    writes: 0,
    perform: async (performer) => {
      const found = await performer.perform({ kind: 'find', at, pattern, type, includeIgnored, limit });
      const matches = found.matches.map(({ mtimeMs, size, ...match }) => ({
        ...match,
        size: size ?? null,
        mtime_ms: mtimeMs,
      }));
      return { path: found.path, matches, skipped: found.skipped, stopped: found.stopped ?? null };
    },
    nothing: { path: at.path, matches: [], skipped: 0, stopped: null },
  };
};

/** Plans a search of contents. */
export const planSearch: FilePlanner<'search_files'> = async (request, { place }) => {
  const at = await place.locate(request.path ?? '.', true);
  const paths = pathsOf(at);
  const { pattern, regex, ignore_case, glob, include_ignored: includeIgnored = false } = request;
  const limit = request.limit ?? DEFAULT_FILE_MATCHES;
  return {
    at,
    judgedAs: { command: 'grep', args: ['-r', '-e', pattern, '--', ...paths] },
    shown: {
      command: 'search_files',
      args: [...paths, `pattern: ${pattern}`, ...(glob === undefined ? [] : [`glob: ${glob}`])],
    },
    writes: 0,
    perform: async (performer) => {
      const job = { kind: 'search', at, pattern, regex, ignore_case, glob, includeIgnored, limit } as const;
      const { matches, stopped, ...end } = await performer.perform(job);
      return { ...end, matches: [...matches], stopped: stopped ?? null };
    },
    nothing: { path: at.path, matches: [], searched: 0, skipped: 0, stopped: null },
  };
};

import { DEFAULT_FILE_ENTRIES, DEFAULT_FILE_MATCHES } from '../../core/file-edit.js';
import type { FileResult, ListedEntry } from '../../engine/files/file-job.js';
import { type FilePlanner, modeText, pathsOf, permissionsOf } from './file-plan.js';

const renderEntry = ({ type, size, mode, mtimeMs, target }: Omit<ListedEntry, 'name'>) => ({
  type,
  size: size ?? null,
  mode: modeText(mode),
  mtime_ms: mtimeMs,
  ...(target !== undefined && { target }),
});

export const planList: FilePlanner<'list_directory'> = async ({ path = '.', after, limit }, place) => {
  const at = await place.locate(path, true);
  const paths = pathsOf(at);
  return {
    at,
    judgedAs: { command: 'ls', args: ['-la', '--', ...paths] },
    shown: { command: 'list_directory', args: paths },
    writes: 0,
    perform: async (performer) => {
      const listed = await performer.perform({ kind: 'list', at, after, limit: limit ?? DEFAULT_FILE_ENTRIES });
      const entries = listed.entries.map(({ name, ...entry }) => ({ name, ...renderEntry(entry) }));
      return { path: listed.path, entries, next: listed.next ?? null };
    },
    nothing: { path: at.path, entries: [], next: null },
  };
};

const renderPath = ({ path, realPath, uid, gid, sha256, ...entry }: FileResult<'describe'>) => ({
  path,
  real_path: realPath,
  ...renderEntry(entry),
  uid,
  gid,
  ...(sha256 !== undefined && { sha256 }),
});

/** Plans a description. */
export const planStat: FilePlanner<'stat_path'> = async ({ path, hash = false }, place) => {
  const at = await place.locate(path, true);
  const paths = pathsOf(at);
  return {
    at,
    // A hash tells whether the content is one that is known.
    judgedAs: { command: hash ? 'cat' : 'stat', args: ['--', ...paths] },
    shown: { command: 'stat_path', args: paths },
    writes: 0,
    perform: async (performer) => renderPath(await performer.perform({ kind: 'describe', at, hash })),
    nothing: { path: at.path, real_path: at.path, type: 'other', size: null, mode: '', uid: 0, gid: 0, mtime_ms: 0 },
  };
};

/** Plans the making of a directory. */
export const planMakeDirectory: FilePlanner<'make_directory'> = async (request, place) => {
  const at = await place.locate(request.path, true);
  const paths = pathsOf(at);
  const { parents = false, permissions } = request;
  return {
    at,
    judgedAs: { command: 'mkdir', args: ['-p', '--', ...paths] },
    shown: { command: 'make_directory', args: paths },
    writes: 0,
    perform: (performer) =>
      performer.perform({ kind: 'makeDirectory', at, parents, permissions: permissionsOf(permissions) }),
    nothing: { path: at.path, created: false },
  };
};

export const planMove: FilePlanner<'move_path'> = async (request, place) => {
  const at = await place.locate(request.path, false);
  const to = await place.locate(request.to, false);
  const { overwrite = false } = request;
  const from = at.real ?? at.path;
  const there = to.real ?? to.path;
  return {
    at,
    judgedAs: { command: 'mv', args: ['-T', ...(overwrite ? [] : ['-n']), '--', from, there] },
    shown: {
      command: 'move_path',
      args: [...pathsOf(at), 'to', ...pathsOf(to), ...(overwrite ? ['overwrite'] : [])],
    },
    writes: 0,
    perform: (performer) => performer.perform({ kind: 'move', at, to, overwrite }),
    nothing: { path: at.path, replaced: false },
  };
};

export const planRemove: FilePlanner<'remove_path'> = async ({ path, recursive = false }, place) => {
  const at = await place.locate(path, false);
  const paths = pathsOf(at);
  return {
    at,
    judgedAs: { command: 'rm', args: [...(recursive ? ['-r'] : []), '--', ...paths] },
    shown: { command: 'remove_path', args: [...paths, ...(recursive ? ['recursive'] : [])] },
    writes: 0,
    perform: (performer) => performer.perform({ kind: 'remove', at, recursive }),
    nothing: { removed: 0 },
  };
};

/** Plans a search by name. */
export const planFind: FilePlanner<'find_files'> = async (request, place) => {
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
export const planSearch: FilePlanner<'search_files'> = async (request, place) => {
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

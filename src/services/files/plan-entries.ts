import { DEFAULT_FILE_ENTRIES } from '../../core/files/limits.js';
import type { FileResult, ListedEntry } from '../../engine/files/file-job.js';
import { type FilePlanner, modeText, pathsOf, permissionsOf } from './file-plan.js';

const renderEntry = ({ type, size, mode, mtimeMs, target }: Omit<ListedEntry, 'name'>) => ({
  type,
  size: size ?? null,
  mode: modeText(mode),
  mtime_ms: mtimeMs,
  ...(target !== undefined && { target }),
});

/** Plans a listing. */
export const planList: FilePlanner<'list_directory'> = async ({ path = '.', after, limit }, { place }) => {
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
export const planStat: FilePlanner<'stat_path'> = async ({ path, hash = false }, { place }) => {
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
export const planMakeDirectory: FilePlanner<'make_directory'> = async (request, { place }) => {
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

/** Plans a move. */
export const planMove: FilePlanner<'move_path'> = async (request, { place }) => {
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

/** Plans a removal. */
export const planRemove: FilePlanner<'remove_path'> = async ({ path, recursive = false }, { place }) => {
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

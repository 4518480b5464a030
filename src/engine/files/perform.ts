import { makeDirectory, movePath, removePath } from './change-entries.js';
import { editFile } from './edit-file.js';
import { fileError } from './file-errors.js';
import type { FileJob, FileJobKind, FileJobOf, FilePerformer, FileResult, Target } from './file-job.js';
import type { Directories } from '../platform/contract/directories.js';
import { findFiles, searchFiles } from './find-files.js';
import { holderOf, type HoldPath } from './held-path.js';
import { describePath, listDirectory } from './look-at.js';
import { readLines, readPart } from './read-file.js';
import { openToSend } from './send-file.js';
import { PathsWatch } from './watch/paths-watch.js';
import { writeFile } from './write-file.js';

const NOTHING = new Uint8Array();

/** Returns what does jobs in this process, with its rights. */
export function performerWith(directories: Directories): FilePerformer {
  const hold = holderOf(directories);
  return {
    perform: (job, content = NOTHING) => naming(job.at, () => start(job as FileJob, hold, content)) as Promise<never>,
    send: (at) => naming(at, () => openToSend(at, hold)),
    receive: (job, content, digest) => naming(job.at, () => writeFile(job, hold, content, digest)),
    watch: async (job, onBatch) => {
      const watch = await PathsWatch.start(job, onBatch, directories);
      return {
        ended: new Promise(() => undefined),
        [Symbol.asyncDispose]: () => {
          watch[Symbol.dispose]();
          return Promise.resolve();
        },
      };
    },
  };
}

/** Does work on a path, and converts the errors of the file system. */
async function naming<T>({ path }: Target, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileError(error, path);
  }
}

function start(job: FileJob, hold: HoldPath, content: Uint8Array): Promise<FileResult> {
  const perform = PERFORM[job.kind] as (job: FileJob, hold: HoldPath, content: Uint8Array) => Promise<FileResult>;
  return perform(job, hold, content);
}

const PERFORM: {
  readonly [K in FileJobKind]: (job: FileJobOf<K>, hold: HoldPath, content: Uint8Array) => Promise<FileResult<K>>;
} = {
  read: readPart,
  lines: readLines,
  write: writeFile,
  edit: editFile,
  list: listDirectory,
  describe: describePath,
  makeDirectory,
  move: movePath,
  remove: removePath,
  find: findFiles,
  search: searchFiles,
};

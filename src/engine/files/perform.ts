import { makeDirectory, movePath, removePath } from './change-entries.js';
import { editFile } from './edit-file.js';
import { fileError } from './file-errors.js';
import type { FileJob, FileJobKind, FileJobOf, FilePerformer, FileResult } from './file-job.js';
import { findFiles, searchFiles } from './find-files.js';
import { describePath, listDirectory } from './look-at.js';
import { readLines, readPart } from './read-file.js';
import { openToSend } from './send-file.js';
import { PathsWatch } from './watch/paths-watch.js';
import { writeFile } from './write-file.js';

const NOTHING = new Uint8Array();

/** Does jobs in this process, with its rights. */
export const here: FilePerformer = {
  perform: async <K extends FileJobKind>(job: FileJobOf<K>, content: Uint8Array = NOTHING) => {
    try {
      return await start(job as FileJob, content);
    } catch (error) {
      throw fileError(error, job.at.path);
    }
  },
  send: async (at) => {
    try {
      return await openToSend(at);
    } catch (error) {
      throw fileError(error, at.path);
    }
  },
  receive: async (job, content, digest) => {
    try {
      return await writeFile(job, content, digest);
    } catch (error) {
      throw fileError(error, job.at.path);
    }
  },
  watch: async (job, onBatch) => {
    const watch = await PathsWatch.start(job, onBatch);
    return {
      ended: new Promise(() => undefined),
      [Symbol.asyncDispose]: () => {
        watch[Symbol.dispose]();
        return Promise.resolve();
      },
    };
  },
};

function start(job: FileJob, content: Uint8Array): Promise<FileResult> {
  const perform = PERFORM[job.kind] as (job: FileJob, content: Uint8Array) => Promise<FileResult>;
  return perform(job, content);
}

const PERFORM: {
  readonly [K in FileJobKind]: (job: FileJobOf<K>, content: Uint8Array) => Promise<FileResult<K>>;
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

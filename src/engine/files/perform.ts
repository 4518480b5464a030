import { makeDirectory, movePath, removePath } from './change-entries.js';
import { editFile } from './edit-file.js';
import { fileError } from './file-errors.js';
import type { FileJob, FileJobKind, FileJobOf, FilePerformer, FileResult } from './file-job.js';
import { describePath, listDirectory } from './look-at.js';
import { readLines, readPart } from './read-file.js';
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
};

function start(job: FileJob, content: Uint8Array): Promise<FileResult> {
  switch (job.kind) {
    case 'read':
      return readPart(job);
    case 'lines':
      return readLines(job);
    case 'write':
      return writeFile(job, content);
    case 'edit':
      return editFile(job);
    case 'list':
      return listDirectory(job);
    case 'describe':
      return describePath(job);
    case 'makeDirectory':
      return makeDirectory(job);
    case 'move':
      return movePath(job);
    case 'remove':
      return removePath(job);
  }
}

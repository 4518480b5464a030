import { defineErrors } from './entry.js';

/** Error codes of the requests about files. */
export const FILE_ERRORS = defineErrors({
  FILE_NOT_FOUND: {
    meaning: 'There is no such file or directory, or none above it.',
    status: 404,
    retry: 'changed',
    next: 'List the directory above it with `list_directory`; `create_directories` makes missing ones.',
  },
  FILE_EXISTS: {
    meaning: 'There is something of that name already, and the request does not say that it may be replaced.',
    status: 409,
    retry: 'changed',
    next: 'Choose another name, or allow it with `mode: "overwrite"` or `overwrite: true`.',
  },
  FILE_CHANGED: {
    meaning:
      'The file is not what the request expects, or its path leads elsewhere than when it was judged. Nothing was changed.',
    status: 412,
    retry: 'changed',
    next: 'Read the file again: `details` has its present `sha256` and `mtime_ms`.',
  },
  FILE_ACCESS_DENIED: {
    meaning: 'The operating system or the sandbox does not allow it: permissions, a read-only place, or a mount point.',
    status: 403,
    retry: 'changed',
    next: 'Use a place that the session may write to, or change the permissions.',
  },
  FILE_TOO_LARGE: {
    meaning: 'The file, or what is to be written, is larger than a request or a limit allows.',
    status: 413,
    retry: 'changed',
    next: 'Read or write it in parts, or edit it by a command.',
  },
  FILE_FAILED: {
    meaning: 'The operating system could not do it: `details.errno` says why.',
    status: 500,
    retry: 'check',
    next: 'Look at the path with `stat_path`, then try again.',
  },
  NOT_A_FILE: {
    meaning:
      'It is a directory, a pipe, a socket, a device, or a file of the kernel, where the content of a file is wanted.',
    status: 409,
    retry: 'changed',
    next: 'Use `list_directory` for a directory, and a command for the others.',
  },
  NOT_A_DIRECTORY: {
    meaning: 'It is a file, or a file is above it, where a directory is wanted.',
    status: 409,
    retry: 'changed',
    next: 'Look at the path with `stat_path`.',
  },
  DIRECTORY_NOT_EMPTY: {
    meaning: 'The directory has entries, and the request does not say that they may be removed.',
    status: 409,
    retry: 'changed',
    next: 'Remove it with `recursive: true`.',
  },
  NOT_TEXT: {
    meaning: 'The file is not text in UTF-8.',
    status: 415,
    retry: 'changed',
    next: 'Read it with `encoding: "bytes"` or `"base64"`.',
  },
  TEXT_NOT_FOUND: {
    meaning: 'The text to replace (`old_text`) is not in the file. Nothing was changed.',
    status: 409,
    retry: 'changed',
    next: 'Read the file again, and give the text exactly, with its spaces and line ends.',
  },
  TEXT_NOT_UNIQUE: {
    meaning:
      'The text to replace (`old_text`) is in the file more than once: `details` has how often, and the lines. Nothing was changed.',
    status: 409,
    retry: 'changed',
    next: 'Give more of the text around it, or `all: true`.',
  },
  DISK_FULL: {
    meaning:
      'There is no space left on the disk, in its quota, or above the free space that has to stay. Nothing was changed.',
    status: 507,
    retry: 'changed',
    next: 'Remove something, or write elsewhere.',
  },
});

import type { ErrorCode } from '../../core/errors.js';
import { AdapterError } from '../../core/errors.js';

/** What the errors of the kernel mean for a file. Source: errno(3), and the pages of the calls. */
const MEANINGS: Readonly<Record<string, readonly [code: ErrorCode, words: string]>> = {
  ENOENT: ['FILE_NOT_FOUND', 'there is no such file or directory'],
  ENOTDIR: ['NOT_A_DIRECTORY', 'a part of it is no directory'],
  EISDIR: ['NOT_A_FILE', 'it is a directory'],
  ENXIO: ['NOT_A_FILE', 'it is a pipe, a socket or a device'],
  ENODEV: ['NOT_A_FILE', 'it is a device'],
  EEXIST: ['FILE_EXISTS', 'there is something of that name already'],
  ENOTEMPTY: ['DIRECTORY_NOT_EMPTY', 'the directory is not empty'],
  EACCES: ['FILE_ACCESS_DENIED', 'permission denied'],
  EPERM: ['FILE_ACCESS_DENIED', 'the operation is not permitted'],
  EROFS: ['FILE_ACCESS_DENIED', 'the place is read-only'],
  EBUSY: ['FILE_ACCESS_DENIED', 'it is a mount point, or in use'],
  ELOOP: ['FILE_NOT_FOUND', 'it is a symbolic link that leads nowhere'],
  ENAMETOOLONG: ['INVALID_REQUEST', 'the name is too long'],
  EINVAL: ['INVALID_REQUEST', 'the file system does not take that'],
  EXDEV: ['INVALID_REQUEST', 'the two paths are on different file systems: move it by a command'],
  EFBIG: ['FILE_TOO_LARGE', 'the file would become larger than the limit'],
  ENOSPC: ['DISK_FULL', 'no space is left on the disk'],
  EDQUOT: ['DISK_FULL', 'the disk quota is exceeded'],
};

/** Errors of an exhausted machine, which the caller reports. */
const EXHAUSTED: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']);

/** Converts an error of the file system. */
export function fileError(error: unknown, path: string): unknown {
  if (error instanceof AdapterError) return error;
  const { code, message }: NodeJS.ErrnoException = error instanceof Error ? error : new Error(String(error));
  if (code !== undefined && EXHAUSTED.has(code)) return error;
  const [meaning, words] = MEANINGS[code ?? ''] ?? ['FILE_FAILED', message];
  return new AdapterError(meaning, `${path}: ${words}`, { details: { path, errno: code ?? null }, cause: error });
}

/** The error for a path that leads elsewhere than when it was judged. */
export const movedPath = (path: string): AdapterError =>
  new AdapterError('FILE_CHANGED', `${path} leads elsewhere than when the request was judged: nothing was changed`, {
    details: { path },
  });

/** The error for something that is no regular file. */
export const notAFile = (path: string, isDirectory: boolean): AdapterError =>
  new AdapterError('NOT_A_FILE', `${path}: it is ${isDirectory ? 'a directory' : 'a pipe, a socket or a device'}`, {
    details: { path, is_directory: isDirectory },
  });

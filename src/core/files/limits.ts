/** Longest path in a request, in characters; the kernel's PATH_MAX is in bytes. */
export const MAX_PATH_LENGTH = 4096;

/** Most bytes that one `read_file` returns. */
export const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** Default length of a `read_file`, in bytes. */
export const DEFAULT_FILE_BYTES = 256 * 1024;

/** Largest file whose SHA-256 is computed for an answer, in bytes: about 20 ms of work. */
export const MAX_HASHED_BYTES = 16 * 1024 * 1024;

/** Largest file that can be edited, in bytes: it is held in memory with its new content. */
export const MAX_EDITED_BYTES = 8 * 1024 * 1024;

/** Longest diff in an answer, in characters. */
export const MAX_DIFF_CHARACTERS = 16_000;

/** Most entries that one `list_directory` returns. */
export const MAX_FILE_ENTRIES = 10_000;

/** Most lines that one `search_files` returns. */
export const MAX_FILE_MATCHES = 2000;

/** Default number of lines of a `search_files`. */
export const DEFAULT_FILE_MATCHES = 200;

/** Longest glob, in characters. */
export const MAX_GLOB_LENGTH = 1024;

/** Default number of entries of a `list_directory`. */
export const DEFAULT_FILE_ENTRIES = 1000;

/** Kinds of directory entries. */
export const ENTRY_TYPES = ['file', 'directory', 'link', 'other'] as const;

/** Kind of a directory entry. */
export type EntryType = (typeof ENTRY_TYPES)[number];

/** Longest time of one `find_files` or `search_files`, in milliseconds. */
export const MAX_FIND_MS = 5000;

/** Most bytes that one `search_files` searches. */
export const MAX_LINE_BYTES_SEARCHED = 512 * 1024 * 1024;

/** Largest file that `search_files` searches, in bytes. */
export const MAX_SEARCHED_FILE_BYTES = 32 * 1024 * 1024;

/** Why a search has stopped before its end. */
export const STOP_REASONS = ['limit', 'time', 'bytes'] as const;

/** Why a search has stopped before its end. */
export type StopReason = (typeof STOP_REASONS)[number];

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

/** Default number of entries of a `list_directory`. */
export const DEFAULT_FILE_ENTRIES = 1000;

/** Kinds of directory entries. */
export const ENTRY_TYPES = ['file', 'directory', 'link', 'other'] as const;

/** Kind of a directory entry. */
export type EntryType = (typeof ENTRY_TYPES)[number];

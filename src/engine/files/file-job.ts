import type { EntryType, StopReason } from '../../core/file-edit.js';
import type { LineMatch, LinePattern } from '../../core/output/line-search.js';
import type { OnBatch } from './watch.js';

/** What is watched. */
export interface WatchJob {
  readonly at: readonly Target[];
  readonly isRecursive: boolean;
  /** Shortest time between two batches, in milliseconds. */
  readonly debounceMs: number;
}

/** A watch under way. */
export interface PathWatcher extends AsyncDisposable {
  /** Resolves with the reason when it ends before it is disposed. */
  readonly ended: Promise<string>;
}

/** A path of a job. */
export interface Target {
  /** Absolute, as it was asked for. */
  readonly path: string;
  /** The path after all links, when the job was judged: it must not lead elsewhere by now. Undefined to follow them now. */
  readonly real?: string | undefined;
}

/** What a file has to be before it is changed. */
export interface Expected {
  readonly sha256?: string | undefined;
  readonly mtimeMs?: number | undefined;
  /** One of these, see `versionOf`; `any` for any file that exists. */
  readonly versions?: readonly string[] | 'any' | undefined;
  /** In bytes; 0 also for a file that does not exist. */
  readonly size?: number | undefined;
}

/** Facts about a file that every answer has. */
export interface FileState {
  readonly size: number;
  /** Undefined for a file above `MAX_HASHED_BYTES`. */
  readonly sha256: string | undefined;
  readonly mtimeMs: number;
  /** See `versionOf`. */
  readonly version: string;
}

/** A part of a file. */
export interface ReadPart extends FileState {
  readonly data: Uint8Array;
  /** Where the part begins, in bytes. */
  readonly offset: number;
}

/** Lines of a file. */
export interface ReadLines extends ReadPart {
  readonly firstLine: number;
  readonly lines: number;
}

/** A directory entry. */
export interface ListedEntry {
  readonly name: string;
  readonly type: EntryType;
  readonly size: number | undefined;
  readonly mode: number;
  readonly mtimeMs: number;
  readonly target: string | undefined;
}

/** A described path. */
interface DescribedPath extends Omit<ListedEntry, 'name'> {
  readonly path: string;
  readonly realPath: string;
  readonly uid: number;
  readonly gid: number;
}

/** How a file is written. */
type WriteMode = 'create' | 'overwrite' | 'append';

/** What is done with files: each kind with its arguments and its result. */
interface FileJobs {
  read: {
    readonly job: { readonly at: Target; readonly offset: number; readonly length: number };
    readonly result: ReadPart;
  };
  lines: {
    readonly job: { readonly at: Target; readonly from: number; readonly count: number; readonly maxBytes: number };
    readonly result: ReadLines;
  };
  write: {
    readonly job: {
      readonly at: Target;
      readonly mode: WriteMode;
      readonly createDirectories: boolean;
      readonly permissions: number | undefined;
      readonly expected: Expected;
      /** SHA-256 that the content must have, as hexadecimal digits. */
      readonly digest?: string | undefined;
      /** Goes on with an earlier attempt of the same key, of which so many bytes are there. */
      readonly resume?: { readonly key: string; readonly from: number } | undefined;
    };
    readonly result: FileState & { readonly created: boolean };
  };
  edit: {
    readonly job: {
      readonly at: Target;
      readonly oldText: string;
      readonly newText: string;
      readonly all: boolean;
      readonly expected: Expected;
    };
    readonly result: FileState & { readonly replaced: number; readonly diff: string; readonly isTruncated: boolean };
  };
  list: {
    readonly job: { readonly at: Target; readonly after: string | undefined; readonly limit: number };
    readonly result: {
      readonly path: string;
      readonly entries: readonly ListedEntry[];
      readonly next: string | undefined;
    };
  };
  describe: {
    readonly job: { readonly at: Target; readonly hash: boolean };
    readonly result: DescribedPath & { readonly sha256: string | undefined };
  };
  makeDirectory: {
    readonly job: { readonly at: Target; readonly parents: boolean; readonly permissions: number | undefined };
    readonly result: { readonly path: string; readonly created: boolean };
  };
  move: {
    readonly job: { readonly at: Target; readonly to: Target; readonly overwrite: boolean };
    readonly result: { readonly path: string; readonly replaced: boolean };
  };
  remove: {
    readonly job: { readonly at: Target; readonly recursive: boolean };
    readonly result: { readonly removed: number };
  };
  find: {
    readonly job: {
      readonly at: Target;
      readonly pattern: string | undefined;
      readonly type: EntryType | undefined;
      readonly includeIgnored: boolean;
      readonly limit: number;
    };
    readonly result: SearchEnd & { readonly matches: readonly FoundEntry[] };
  };
  search: {
    readonly job: LinePattern & {
      readonly at: Target;
      readonly glob: string | undefined;
      readonly includeIgnored: boolean;
      readonly limit: number;
    };
    readonly result: SearchEnd & { readonly matches: readonly FoundLine[]; readonly searched: number };
  };
}

/** An entry that was found. */
export interface FoundEntry {
  /** Relative to the directory of the search. */
  readonly path: string;
  readonly type: EntryType;
  readonly size: number | undefined;
  readonly mtimeMs: number;
}

/** A line that was found. */
export interface FoundLine extends LineMatch {
  readonly path: string;
}

/** How far a search has come. */
interface SearchEnd {
  readonly path: string;
  /** Directories and files that could not be searched. */
  readonly skipped: number;
  /** Undefined when all was searched. */
  readonly stopped: StopReason | undefined;
}

/** Kind of a job. */
export type FileJobKind = keyof FileJobs;

/** A job of one kind. */
export type FileJobOf<K extends FileJobKind> = FileJobs[K]['job'] & { readonly kind: K };

/** A job about files. */
export type FileJob = { [K in FileJobKind]: FileJobOf<K> }[FileJobKind];

/** Result of a job. */
export type FileResult<K extends FileJobKind = FileJobKind> = FileJobs[K]['result'];

/** Does jobs about files, with the rights of one user in one sandbox. */
export interface FilePerformer {
  /**
   * Does a job.
   * @param content of a job that writes
   * @throws AdapterError, and system errors of an exhausted machine
   */
  perform<K extends FileJobKind>(job: FileJobOf<K>, content?: Uint8Array): Promise<FileResult<K>>;
  /**
   * Opens a file to send it.
   * @throws as `perform`
   */
  send(at: Target): Promise<SentFile>;
  /**
   * Writes a file whose content comes piece by piece. When the content fails, nothing is changed.
   * @param digest SHA-256 of the whole file, if it comes after the content
   * @throws as `perform`, and the error of the content
   */
  receive(
    job: FileJobOf<'write'>,
    content: AsyncIterable<Uint8Array>,
    digest?: LateDigest,
  ): Promise<FileResult<'write'>>;
  /**
   * Watches paths until it is disposed.
   * @throws as `perform`
   */
  watch(job: WatchJob, onBatch: OnBatch): Promise<PathWatcher>;
}

/** A file that is open to be sent. */
export interface SentFile extends Pick<FileState, 'size' | 'mtimeMs' | 'version'>, AsyncDisposable {
  /**
   * Reads a range, once.
   * @param onDigest gets the SHA-256 of the whole file at the end of a range that ends with it; undefined when the file
   * has changed meanwhile
   * @throws AdapterError FILE_CHANGED when the file ends before it
   */
  read(offset: number, length: number, onDigest?: OnDigest): AsyncIterable<Uint8Array>;
}

/** Gives the SHA-256 of a content after it, as hexadecimal digits; undefined for none. */
export type LateDigest = () => Promise<string | undefined>;

/** Gets a SHA-256, as hexadecimal digits. */
export type OnDigest = (sha256: string | undefined) => void;

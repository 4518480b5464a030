import type { Argument } from './argument.js';
import { literal } from './argument.js';
import type { Directory } from '../model/facts.js';
import { baseName, resolvePath } from '../paths/paths.js';
import { plainName } from './program-name.js';

/** What a text that is judged has put into a file: text, another program, or what a program has printed or fetched. */
export type WrittenFile =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'copy'; readonly of: string }
  | { readonly kind: 'unknown'; readonly by: string };

/** Programs that bring files from other machines. */
const FETCHERS = new Set(
  'curl wget http https xh aria2c nc ncat netcat ftp lftp scp sftp rsync socat aws gsutil'.split(' '),
);

/** Whether a file came from another machine. */
export const isFetched = (file: WrittenFile | undefined): boolean => file?.kind === 'unknown' && FETCHERS.has(file.by);

/** The files that a text has written before it comes to run them: what they hold is judged then, or asked about. */
export class WrittenFiles {
  readonly #files = new Map<string, WrittenFile>();
  /** Those that were run before anything was written to them, as far as the order of the text tells. */
  readonly #run = new Set<string>();

  /** A file is written; of what it had before, a part may still be there. */
  note({ value, isProcess }: Argument, directories: readonly Directory[], file: WrittenFile): void {
    if (value === undefined || isProcess) return;
    for (const path of resolvePath(value, directories)) {
      if (path === undefined) continue;
      const known = this.#files.get(path);
      this.#files.set(path, known ? join(known, file) : file);
    }
  }

  /** A file is run: what is written to it later may be there by then, in a loop, or from the background. */
  noteRun({ value }: Argument, directories: readonly Directory[]): void {
    for (const path of value === undefined ? [] : resolvePath(value, directories)) if (path) this.#run.add(path);
  }

  /** Whether a file was run. */
  wasRun({ value }: Argument, directories: readonly Directory[]): boolean {
    if (value === undefined || this.#run.size === 0) return false;
    return resolvePath(value, directories).some((path) => path !== undefined && this.#run.has(path));
  }

  /** A file is copied, linked or moved: to a file, or into a directory. */
  noteCopy(source: Argument, target: Argument, directories: readonly Directory[]): void {
    if (source.value === undefined || target.value === undefined) return;
    const known = this.find(source, directories);
    const file: WrittenFile = known ?? { kind: 'copy', of: source.value };
    this.note(target, directories, file);
    this.note(literal(`${target.value}/${baseName(source.value)}`), directories, file);
  }

  /** What is known of a file; undefined when the text has not written it. */
  find({ value }: Argument, directories: readonly Directory[]): WrittenFile | undefined {
    if (value === undefined || this.#files.size === 0) return undefined;
    const found = resolvePath(value, directories).flatMap((path) => this.#files.get(path ?? '') ?? []);
    return found.length > 1 ? found.reduce(join) : found[0];
  }
}

function join(one: WrittenFile, other: WrittenFile): WrittenFile {
  if (one.kind === 'text' && other.kind === 'text') return { kind: 'text', text: `${one.text}\n${other.text}` };
  const unknown = [one, other].find(({ kind }) => kind === 'unknown');
  return unknown ?? { kind: 'unknown', by: 'several commands' };
}

/** The program for which a script is meant; undefined for text without a first line that tells. */
export function interpreterOf(text: string): string | undefined {
  const [, first = '', second = ''] = /^#!\s*(\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?/.exec(text) ?? [];
  if (first === '') return undefined;
  return plainName(baseName(first) === 'env' ? second : first);
}

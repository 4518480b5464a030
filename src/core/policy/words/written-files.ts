import { type Argument, literal } from './argument.js';
import type { Directory } from '../model.js';
import { baseName, resolvePath } from '../paths.js';

/** Known content of a file that the judged text has written: text, another program, or output of a program. */
export type WrittenFile =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'copy'; readonly of: string }
  | { readonly kind: 'unknown'; readonly by: string };

/**
 * The files that a text has written before it runs them. Their content is judged when it is known; otherwise a
 * confirmation is required.
 */
export class WrittenFiles {
  readonly #files = new Map<string, WrittenFile>();
  /** Files that were run before they were written, as far as the order of the text shows. */
  readonly #run = new Set<string>();

  /** Records a write to a file. A part of its earlier content may still be there. */
  note({ value, isProcess }: Argument, directories: readonly Directory[], file: WrittenFile): void {
    if (value === undefined || isProcess) return;
    for (const path of resolvePath(value, directories)) {
      if (path === undefined) continue;
      const known = this.#files.get(path);
      this.#files.set(path, known ? join(known, file) : file);
    }
  }

  /** Records that a file is run. In a loop or from the background, a later write may precede the run. */
  noteRun({ value }: Argument, directories: readonly Directory[]): void {
    for (const path of value === undefined ? [] : resolvePath(value, directories)) if (path) this.#run.add(path);
  }

  /** Whether a file was run. */
  wasRun({ value }: Argument, directories: readonly Directory[]): boolean {
    if (value === undefined || this.#run.size === 0) return false;
    return resolvePath(value, directories).some((path) => path !== undefined && this.#run.has(path));
  }

  /** Records that a file is copied, linked or moved: to a file, or into a directory. */
  noteCopy(source: Argument, target: Argument, directories: readonly Directory[]): void {
    if (source.value === undefined || target.value === undefined) return;
    const known = this.find(source, directories);
    const file: WrittenFile = known ?? { kind: 'copy', of: source.value };
    this.note(target, directories, file);
    this.note(literal(`${target.value}/${baseName(source.value)}`), directories, file);
  }

  /** Known content of a file; undefined when the text has not written it. */
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

/** The interpreter in the first line of a script, without its directory; undefined for text without such a line. */
export function interpreterOf(text: string): string | undefined {
  const [, first = '', second = ''] = /^#!\s*(\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?/.exec(text) ?? [];
  if (first === '') return undefined;
  return baseName(baseName(first) === 'env' ? second : first);
}

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../corpus', import.meta.url));
/** Enough digits of a hash to tell the failures of one folder apart. */
const NAME_DIGITS = 12;

/** A form of inputs in files: `read` gives what `write` has written. */
export interface Form<T> {
  /** Of the files, with its dot. */
  readonly extension: string;
  readonly read: (text: string) => T;
  readonly write: (input: T) => string;
}

/** An input in the corpus. */
export interface Entry<T> {
  /** Name of its file. */
  readonly name: string;
  readonly input: T;
}

/** Inputs as they stand in JSON. */
export const asJson = <T>(): Form<T> => ({
  extension: '.json',
  read: (text) => JSON.parse(text) as T,
  write: (input) => `${JSON.stringify(input, null, 2)}\n`,
});

/** Texts, each a file with one newline at its end that is not part of it. */
export const asText: Form<string> = {
  extension: '.sh',
  read: (text) => text.replace(/\n$/, ''),
  write: (input) => `${input}\n`,
};

/** Reads every input of a folder of the corpus, in the order of their names. */
export function readCorpus<T>(folder: string, { extension, read }: Form<T>): readonly Entry<T>[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith(extension))
    .sort()
    .map((name) => ({ name, input: read(readFileSync(join(ROOT, folder, name), 'utf8')) }));
}

/** Writes an input that fails into the corpus, under a name made from its content; gives the file's path. */
export function saveFailure<T>(folder: string, { extension, write }: Form<T>, input: T): string {
  const text = write(input);
  const digits = createHash('sha256').update(text).digest('hex').slice(0, NAME_DIGITS);
  const path = join(ROOT, folder, `failure-${digits}${extension}`);
  writeFileSync(path, text);
  return path;
}

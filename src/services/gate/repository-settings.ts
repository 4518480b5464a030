import { dirname, join, resolve } from 'node:path';

import type { Finding } from '../../core/policy/model/finding.js';
import { readRegularFile, statOf } from '../../engine/system/local-files.js';

/** Most directories that are searched for a repository, upwards. */
const MAX_DEPTH = 64;
/** Largest file of settings that is read, in bytes; a larger one counts as running programs. */
const MAX_BYTES = 256 * 1024;
/** Read of a file, in bytes: of a larger one more than the characters that count, which have up to four bytes each. */
const MAX_READ_BYTES = 4 * (MAX_BYTES + 1);

/** Settings with which git runs a program though it is only asked to show something. Source: git-config(1). */
const RUNNING =
  /^(?:diff\.external|diff\..*\.(?:command|textconv)|filter\..*\.(?:clean|smudge|process)|gpg\.(?:.*\.)?program|include\.path|includeif\..*\.path)$/;
/** Values that are programs of git itself. */
const HARMLESS = /^git-lfs (?:clean|smudge|filter-process)\b[^;&|<>$`]*$/;

/** Returns what is to be asked before git looks at the repository of a directory; undefined when there is nothing. */
export function judgeRepository(directory: string): Finding | undefined {
  const setting = runningSetting(directory);
  if (setting === undefined) return undefined;
  const reason = `git runs a program that a repository names in its settings: ${setting}`;
  return { class: 'obfuscated', reason, isOfProgram: false };
}

/** The first setting of a repository that makes git run a program, with the file in which it is. */
function runningSetting(directory: string): string | undefined {
  const gitDirectory = findGitDirectory(directory);
  if (gitDirectory === undefined) return undefined;
  const common = resolve(gitDirectory, readText(join(gitDirectory, 'commondir'))?.trim() ?? '');
  for (const file of [join(common, 'config'), join(gitDirectory, 'config.worktree')]) {
    const text = readText(file);
    const found = text === undefined ? undefined : settingsIn(text).find(isRunning);
    if (found) return `${found.key} in ${file}`;
  }
  return undefined;
}

/** The directory with the data of the repository that contains a directory, as git finds it. */
function findGitDirectory(directory: string): string | undefined {
  let place = directory;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const candidate = join(place, '.git');
    const stat = statOf(candidate);
    if (stat?.isDirectory()) return candidate;
    const [, target] = /^gitdir: (.+)$/m.exec((stat && readText(candidate)) ?? '') ?? [];
    if (target !== undefined) return resolve(place, target);
    if (place === '/') return undefined;
    place = dirname(place);
  }
  return undefined;
}

interface Setting {
  readonly key: string;
  readonly value: string;
}

const isRunning = ({ key, value }: Setting): boolean => RUNNING.test(key) && !HARMLESS.test(value);

/** The settings of a file: sections and subsections before the names, in lower case. Source: git-config(1), Syntax. */
function settingsIn(text: string): readonly Setting[] {
  if (text.length > MAX_BYTES) return [{ key: 'include.path', value: '' }];
  let section = '';
  return text
    .replaceAll(/\\\r?\n/g, '')
    .split('\n')
    .flatMap((line) => {
      const [header, name = '', subsection] = /^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line) ?? [];
      if (header !== undefined) section = subsection === undefined ? name : `${name}.${subsection}`;
      const rest = header === undefined ? line : line.slice(header.length);
      const [, key, value = ''] = /^\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$/.exec(rest) ?? [];
      return key === undefined ? [] : [{ key: `${section}.${key}`.toLowerCase(), value: value.trim() }];
    });
}

/** A file's text; undefined when there is none. */
function readText(path: string): string | undefined {
  // EACCES and EISDIR: git cannot read it either.
  return readRegularFile(path, MAX_READ_BYTES)?.toString('utf8');
}

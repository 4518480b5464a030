import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

import type { PolicyRequest } from '../../core/policy/analysis/inspect.js';
import { addFinding, decide, type Policy, type PolicyVerdict } from '../../core/policy/policy.js';
import type { FileFacts, Finding, PolicyFacts } from '../../core/policy/model.js';
import { isWithin } from '../../core/policy/paths.js';
import { followLinks, readRegularFile, statOf } from '../../engine/system/local-files.js';
import { slowMounts } from '../../engine/system/mounts.js';

/** Bytes at the start of a file in which a key is searched. */
const HEAD_BYTES = 4_096;
/** Views of processes and devices: their links lead elsewhere in each process. */
const VIEWS = ['/proc', '/dev', '/sys'] as const;
/** Lines with which private keys begin. Source: RFC 7468, RFC 9580, and the formats of PuTTY and age. */
const KEY = /^(?:-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d|AGE-SECRET-KEY-1)/m;

/** One buffer is enough: reads are synchronous. */
const head = Buffer.allocUnsafeSlow(HEAD_BYTES);

/** The directories with which the policy compares paths. */
type ComparedFacts = Pick<PolicyFacts, 'workspace' | 'home' | 'scratch'>;

/**
 * Looks at files: where links lead, and whether the content is a private key. Files that are what their paths say are left
 * out, and so are file systems that may not answer.
 * @param paths absolute; of a pattern, the links of its directory are found
 */
function lookAtFiles(paths: readonly string[], facts: ComparedFacts): ReadonlyMap<string, FileFacts> {
  const found = new Map<string, FileFacts>();
  const slow = slowMounts();
  const nameOf = namesOf(facts, slow);
  for (const path of paths.filter((each) => !isView(each))) {
    const real = followLinks(path, slow);
    if (real === undefined) continue;
    const target = nameOf(real);
    const entry = target === path ? path : nameOf(entryOf(path, slow));
    const isKey = holdsKey(real);
    if (isKey || target !== path) found.set(path, { target, entry, isKey });
  }
  return found;
}

const isView = (path: string): boolean =>
  !isWithin(path, '/dev/shm') && VIEWS.some((directory) => isWithin(path, directory));

/** The directory entry that a path names; it may be a link itself. */
const entryOf = (path: string, slow: readonly string[]): string =>
  join(followLinks(dirname(path), slow) ?? dirname(path), basename(path));

/** Returns a function that gives a real path the name by which the policy knows its directory, which may be a link. */
function namesOf({ workspace, home, scratch }: ComparedFacts, slow: readonly string[]): (real: string) => string {
  const known = [workspace, ...(home === undefined ? [] : [home]), ...scratch]
    .map((name) => ({ name, real: followLinks(name, slow) ?? name }))
    .filter(({ name, real }) => name !== real);
  return (path) => {
    const directory = known.find(({ real }) => isWithin(path, real));
    return directory ? join(directory.name, path.slice(directory.real.length)) : path;
  };
}

/** Whether a regular file begins like a private key. */
function holdsKey(path: string): boolean {
  let fd: number;
  try {
    // A named pipe would wait for a writer.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    // Missing, not readable for the daemon, or exchanged for a link: commands of the same user cannot read it either.
    return false;
  }
  try {
    return fstatSync(fd).isFile() && KEY.test(head.toString('latin1', 0, readSync(fd, head, 0, HEAD_BYTES, 0)));
  } catch {
    // EIO: a command cannot read it either.
    return false;
  } finally {
    closeSync(fd);
  }
}

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
function judgeRepository(directory: string): Finding | undefined {
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

/** Most paths of one command at which the policy looks: a look takes about 30 microseconds. */
const MAX_FILES = 1_000;

const TOO_MANY_FILES: Finding = {
  class: 'obfuscated',
  reason: `names more than ${MAX_FILES} files: too many to look where links lead and which are keys; name fewer at once, or their directory`,
  isOfProgram: false,
};

/**
 * Decides on a request with what lies on this machine: the files that it names, and the settings of the repositories in which
 * it runs git.
 */
export function decideHere(policy: Policy, request: PolicyRequest, facts: PolicyFacts): PolicyVerdict {
  const verdict = decideOnFiles(policy, request, facts);
  return verdict.repositories
    .flatMap((directory) => judgeRepository(directory) ?? [])
    .reduce((judged, finding) => addFinding(policy, judged, finding), verdict);
}

/** Decides on a request; decides again if files that it names are not what their paths say. */
function decideOnFiles(policy: Policy, request: PolicyRequest, facts: PolicyFacts): PolicyVerdict {
  const verdict = decide(policy, request, facts);
  if (verdict.paths.length === 0 || verdict.action === 'deny') return verdict;
  if (verdict.paths.length > MAX_FILES) return addFinding(policy, verdict, TOO_MANY_FILES);
  const files = lookAtFiles(verdict.paths, facts);
  return files.size === 0 ? verdict : decide(policy, request, { ...facts, files });
}

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../../../../src/', import.meta.url));

/** Folders and files of `src` that may name /proc, and why. */
const MAY_READ: Readonly<Record<string, string>> = {
  'core/': 'rules about paths, and parsers: pure text',
  'engine/platform/': 'the platforms themselves',
  'engine/system/memory-files.ts': 'files in memory: platforms with `openFiles`',
  'engine/sandbox/': 'bubblewrap, namespaces and other users: platforms with `sandbox` or `otherUsers`',
  'engine/system/mounts.ts': 'a hint: none is slow where there is no table of mounts',
  'doctor/engine.ts': 'looks for what Linux has',
  'engine/shells/drivers/driver.sh': 'the process id of a subshell; another way follows where it is not shown',
};

/** A path below /proc in code: not in a comment, and not a list of names for people. */
const READS = /[`'"(< ]\/proc(?:\/|['"`])/;
const COMMENT = /^\s*(?:\*|\/\/|\/\*|#)/;
/** Tells commands and people what is there, and reads nothing. */
const NAMES_ONLY = ['engine/files/held-path.ts', 'services/gate/decide-here.ts', 'doctor/doctor.ts'];

const readers = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(?:tsx?|bash|zsh|sh|fish|ps1)$/.test(file))
  .filter((file) => {
    const lines = readFileSync(SRC + file, 'utf8').split('\n');
    return lines.some((line) => READS.test(line) && !COMMENT.test(line));
  });

it('nothing but the platform of Linux, and what is named here, reads /proc', () => {
  const allowed = [...Object.keys(MAY_READ), ...NAMES_ONLY];
  expect(readers.filter((file) => !allowed.some((place) => file.startsWith(place)))).toEqual([]);
});

it('every exception is needed', () => {
  expect(Object.keys(MAY_READ).filter((place) => !readers.some((file) => file.startsWith(place)))).toEqual([]);
});

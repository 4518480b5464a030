import { describe, expect, it } from 'vitest';

import { factsOfFreshShell } from '../../../../../src/core/policy/model.js';
import { inspect } from '../../../../../src/core/policy/analysis/inspect.js';

const classesOf = (command: string, args?: readonly string[]) => {
  const { commands, notes } = inspect({ command, args, stdin_stream: true }, factsOfFreshShell('/w'));
  return [...notes, ...commands.flatMap(({ findings }) => findings)].map((finding) => finding.class);
};

describe('a streamed standard input', () => {
  it.each([
    'bash',
    'sh -s',
    'zsh',
    'cd /w; bash',
    'python3',
    'python3 -',
    'node',
    'perl',
    'psql',
    'ssh host',
    'cat | sh',
    'env bash',
    'xargs sh -c',
  ])('of %j cannot be judged', (command) => {
    expect(classesOf(command)).toContain('obfuscated');
  });

  it('of a shell that is run as a program cannot be judged', () => {
    expect(classesOf('bash', [])).toContain('obfuscated');
  });

  it.each(['cat', 'tar x', 'sha256sum', 'wc -c', 'bash -c "cat >x"', 'python3 script.py', 'bash </dev/null'])(
    'of %j is data',
    (command) => {
      expect(classesOf(command)).not.toContain('obfuscated');
    },
  );

  it.each(['ssh host cat', 'nc host 1'])('of %j is no data of this machine', (command) => {
    expect(classesOf(command)).not.toContain('exfiltration');
  });
});

import { describe, expect, it } from 'vitest';

import {
  isHarmlessTyping,
  languageOf,
  startedLanguages,
  unfinishedLine,
} from '../../../../src/core/policy/typed-input.js';

describe('what is typed', () => {
  it.each([
    ['bash', ['bash'], 'shell'],
    ['bash', ['-bash'], 'shell'],
    ['bash', ['bash', '--norc', '-i'], 'shell'],
    ['sh', ['/bin/sh'], 'shell'],
    ['bash', ['bash', 'script.sh'], undefined],
    ['bash', ['bash', '-c', 'read x'], undefined],
    ['bash', ['bash', '-i', 'script.sh'], 'shell'],
    ['python3', ['python3'], 'code'],
    ['python3.11', ['python3', '-q'], 'code'],
    ['python3', ['python3', 'script.py'], undefined],
    ['python3', ['python3', '-i', 'script.py'], 'code'],
    ['node', ['node'], 'code'],
    ['node-MainThread', ['node'], 'code'],
    ['psql', ['psql', 'db'], 'code'],
    ['ssh', ['ssh', 'host'], 'shell'],
    ['sudo', ['sudo', '-i'], 'shell'],
    ['docker', ['docker', 'exec', '-it', 'c', 'sh'], 'shell'],
    ['vim', ['vim', 'f'], 'code'],
    ['cat', ['cat'], undefined],
    ['myapp', ['./myapp'], undefined],
    ['bash', [], 'shell'],
    ['bash', ['bash', '/dev/stdin'], 'shell'],
    ['bash', ['bash', '/dev/tty'], 'shell'],
    ['python3', ['python3', '/dev/fd/0'], 'code'],
    ['awk', ['awk', '-f', '/dev/stdin'], 'code'],
    ['awk', ['awk', '-f-', 'f'], 'code'],
    ['awk', ['awk', '{print}', '/dev/stdin'], undefined],
    ['make', ['make', '-f', '-'], 'code'],
    ['make', ['make', '--file=-'], 'code'],
    ['make', ['make', '-f', 'Makefile'], undefined],
    ['sed', ['sed', '--file', '/proc/self/fd/0'], 'code'],
  ])('into %s %j is taken as: %s', (name, args, language) => {
    expect(languageOf(name, args)).toBe(language);
  });

  it.each([
    ['sleep 1; bash', ['shell']],
    ['cat | python3', ['code']],
    ['read -p "name? " name', []],
    ['bash script.sh', []],
    ['sudo -i', ['shell']],
    ['npm test', []],
  ])('while %j runs may meet: %j', (command, languages) => {
    expect(startedLanguages({ command })).toEqual(languages);
  });

  it.each([
    ['', true],
    ['\x03', true],
    ['\x04', true],
    ['\r\n', true],
    ['y', false],
    ['\x1b[A', false],
    ['\t', false],
    ['\x10\n', false],
  ])('%j is harmless: %s', (text, expected) => {
    expect(isHarmlessTyping(text)).toBe(expected);
  });

  it.each([
    ['rm -rf', 'rm -rf'],
    ['ls\nrm', 'rm'],
    ['ls\n', ''],
    ['ls\rrm', 'rm'],
    ['rm\x03', ''],
  ])('%j leaves the beginning of a line: %j', (text, rest) => {
    expect(unfinishedLine(text)).toBe(rest);
  });
});

import { execFileSync } from 'node:child_process';

import { describe, expect, it } from 'vitest';

import { formatted } from '../../../../../src/core/policy/programs/builtins.js';
import { outcomeOf } from '../support.js';

/** What printf prints, by sh and by bash. */
const printedBy = (shell: string, format: string, args: readonly string[]): string =>
  execFileSync(shell, ['-c', 'printf "$@"', shell, format, ...args], { encoding: 'latin1' });

describe('the output of printf', () => {
  it.each([
    ['plain', []],
    ['', ['a']],
    ['%s\\0', ['/a', '/b c']],
    ['%s-%s\\n', ['a', 'b', 'c']],
    ['%s', []],
    ['\\01623', []],
    ['100%%\\n', ['unused']],
    ['\\162m\\t\\\\x\\0571\\a\\b\\f\\r\\v', []],
  ])('%j with %j is what shells print', (format, args) => {
    const text = formatted(format, args);
    for (const shell of ['sh', 'bash']) expect(text).toBe(printedBy(shell, format, args));
  });

  it.each([['%d'], ['%b'], ['%5s'], ['%'], ['\\x72'], ['\\u0072'], ['\\c'], ['\\377'], ['\\']])(
    '%j is not worked out',
    (format) => {
      expect(formatted(format, ['1'])).toBeUndefined();
    },
  );

  it('is not worked out where it is very long', () => {
    expect(formatted(`%s${'x'.repeat(1000)}`, new Array<string>(100).fill('y'))).toBeUndefined();
  });

  it('is judged where a shell reads it', () => {
    expect(outcomeOf("printf 'r%s build\\n' 'm -rf' | sh")).toBe('confirm destructive');
    // sh reads no comment there, and runs the rest.
    expect(outcomeOf("printf '\\x23; rm -rf build' | sh")).toBe('confirm obfuscated');
  });
});

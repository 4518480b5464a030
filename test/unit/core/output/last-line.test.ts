import { describe, expect, test } from 'vitest';

import { lastLine } from '../../../../src/core/output/output-window.js';
import { ESC } from './byte-streams.js';

describe('lastLine', () => {
  test.each([
    { text: '', max: 200, line: '', title: 'no output' },
    { text: 'done\n', max: 200, line: '', title: 'nothing after a line feed' },
    { text: 'hello\nPassword: ', max: 200, line: 'Password: ', title: 'a prompt' },
    { text: `hello\n${ESC}[1m?${ESC}[0m Name: `, max: 200, line: '? Name: ', title: 'without its colours' },
    { text: '50%\r100%\r', max: 200, line: '100%', title: 'as overwritten' },
    { text: `Overwrite?\r${ESC}[Ky/n `, max: 200, line: 'y/n ', title: 'as erased and overwritten' },
    { text: 'abcdef', max: 3, line: 'def', title: 'the end of a longer one' },
    { text: 'a😀😀😀', max: 2, line: '😀😀', title: 'never half a character' },
    { text: '😀a', max: 1, line: 'a', title: 'nor one more' },
    { text: 'abc', max: 0, line: '', title: 'nothing of it' },
  ])('$title', ({ text, max, line }) => {
    expect(lastLine(text, max)).toBe(line);
  });
});

import { describe, expect, it } from 'vitest';

import { RawLine } from '../../../../src/cli/run/interactive-terminal.js';

describe('a line that is read from a raw terminal', () => {
  it('is edited, echoed, and ended by Enter', async () => {
    let shown = '';
    const line = new RawLine((text) => (shown += text));
    for (const keys of ['ye', '\x7f', '\b\b', 'no', '\r']) expect(line.take(keys)).toBe('');
    expect(await line.done).toBe('no');
    expect(shown).toBe('ye\b \b\b \bno');
  });

  it.each(['\x03', '\x04', '\x1b'])('is empty after %j', async (key) => {
    const line = new RawLine(() => undefined);
    line.take(`yes${key}`);
    expect(await line.done).toBe('');
  });

  it('gives back the keys after its end', async () => {
    const line = new RawLine(() => undefined);
    expect(line.take('y\recho 😀\r')).toBe('echo 😀\r');
    expect(line.take('more')).toBe('more');
    expect(await line.done).toBe('y');
  });
});

import { describe, expect, it } from 'vitest';

import { commandLineFor } from '../../../../src/cli/console/context.js';

describe('a command line in a hint', () => {
  it.each([
    [{}, 'shell-adapter confirm ID'],
    [{ url: 'http://127.0.0.1:9' }, 'shell-adapter confirm ID --url http://127.0.0.1:9'],
    [{ config: "/a b/c's.yaml" }, "shell-adapter confirm ID --config '/a b/c'\\''s.yaml'"],
    [{ url: 'unix:/s', token: 'secret' }, 'shell-adapter confirm ID --url unix:/s'],
  ])('repeats %j, and no token', (options, expected) => {
    expect(commandLineFor({ programName: 'shell-adapter' }, options)('confirm ID')).toBe(expected);
  });
});

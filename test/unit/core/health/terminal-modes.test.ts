import { describe, expect, it } from 'vitest';

import { disturbedModes } from '../../../../src/core/health.js';

const SANE = '500:5:bf:8a3b:3:1c:7f:15:4:0:1:0:11:13:1a:0:12:f:17:16:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0';
/** `stty raw -echo`. */
const RAW = '0:4:bf:8a30:3:1c:7f:15:1:0:1:0:11:13:1a:0:12:f:17:16:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0';
const NO_ECHO = SANE.replace('8a3b', '8a33');

describe('disturbedModes', () => {
  it.each([
    ['a terminal in order', SANE, []],
    ['raw mode', RAW, ['-icrnl', '-opost', '-isig', '-icanon', '-echo']],
    ['no echo', NO_ECHO, ['-echo']],
    ['what was put in order meanwhile', `${NO_ECHO}\n${SANE}\n`, ['-echo']],
    ['nothing', '', []],
    ['what another stty prints', 'gfmt1:cflag=4b00:iflag=2b02:lflag=200005cb', []],
    ['half of a line', '500:5', []],
  ])('%s', (_, text, modes) => {
    expect(disturbedModes(text)).toEqual(modes);
  });
});

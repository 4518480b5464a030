import { describe, expect, it } from 'vitest';

import { Player } from '../../../../src/cli/sessions/replay-recording.js';
import { type CastEvent, Timeline } from '../../../../src/core/recording.js';

/** A recording of an hour: no test waits for what is not moved to. */
const EVENTS: readonly CastEvent[] = [
  [0, 'm', 'first'],
  [0, 'o', 'a'],
  [1000, 'm', 'second'],
  [1000, 'o', 'b'],
  [1004, 'o', 'c'],
  [3600, 'o', 'd'],
];

function play(speed: number) {
  const written: string[] = [];
  let onWritten: () => void = () => undefined;
  const player = new Player(new Timeline(EVENTS), {
    speed,
    write: (text) => {
      written.push(text);
      onWritten();
      return Promise.resolve();
    },
  });
  const until = (text: string): Promise<void> =>
    new Promise((resolve) => {
      onWritten = () => {
        if (written.at(-1) === text) resolve();
      };
      onWritten();
    });
  return { player, written, until, ended: player.play() };
}

describe('a player', () => {
  it('plays to the end', async () => {
    const { written, ended } = play(1_000_000);
    await ended;
    expect(written.join('')).toBe('abcd');
  });

  it('jumps to commands, moves by steps, and is ended by a key', async () => {
    const { player, written, until, ended } = play(0.01);
    await until('a');
    player.press('n');
    await until('b');
    player.press('\x1b[C');
    await until('c');
    player.press('p');
    await until('ab');
    player.press('x');
    player.press('q');
    await ended;
    expect(written).toEqual(['a', 'b', 'c', '\x1bc', 'ab']);
  });

  it('pauses, and can be moved and ended meanwhile', async () => {
    const { player, written, until, ended } = play(0.01);
    await until('a');
    player.press(' ');
    player.press('n');
    await until('b');
    player.press(' ');
    player.press('\x03');
    await ended;
    expect(written).toEqual(['a', 'b']);
  });
});

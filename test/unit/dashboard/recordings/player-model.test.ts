import { describe, expect, it } from 'vitest';

import type { CastEvent } from '../../../../src/core/recording.js';
import { formatPosition } from '../../../../src/dashboard/format.js';
import { PlayerModel } from '../../../../src/dashboard/pages/recordings/player-model.js';

const EVENTS: readonly CastEvent[] = [
  [0, 'm', 'first'],
  [0, 'o', 'a'],
  [2, 'r', '40x10'],
  [10, 'm', 'second'],
  [10, 'o', 'b'],
  [20, 'o', 'c'],
];

function open(events = EVENTS) {
  const shown: string[] = [];
  const model = new PlayerModel({ header: { version: 2, width: 80, height: 24 }, events });
  model.attach({
    write: (text) => shown.push(text),
    reset: () => shown.push('reset'),
    resize: (cols, rows) => shown.push(`${cols}x${rows}`),
  });
  return { model, shown };
}

describe('playing a recording', () => {
  it('shows what is due, at the speed that was chosen', () => {
    const { model, shown } = open();
    expect(shown).toEqual(['reset', '80x24', 'a']);
    model.toggle();
    model.speed.value = 2;
    model.tick(1000);
    model.tick(2000);
    expect(model.position.value).toBe(2000);
    model.tick(7000);
    expect(shown.slice(3)).toEqual(['40x10', '40x10', 'b']);
    model.tick(60_000);
    expect([model.position.value, model.isPlaying.value, shown.at(-1)]).toEqual([20_000, false, 'c']);
    model.toggle();
    expect([model.position.value, model.isPlaying.value]).toEqual([0, true]);
  });

  it('goes back by showing it again, with the size of that time', () => {
    const { model, shown } = open();
    model.seek(15_000);
    shown.length = 0;
    model.seek(5000);
    expect(shown).toEqual(['reset', '40x10', 'a']);
    model.seek(-1);
    expect([model.position.value, shown.slice(-2)]).toEqual([0, ['80x24', 'a']]);
    model.seek(Infinity);
    expect(model.position.value).toBe(20_000);
  });

  it('jumps between commands', () => {
    const { model } = open();
    expect(model.currentMark).toBe(0);
    model.jump(true);
    expect([model.position.value, model.currentMark]).toEqual([10_000, 1]);
    model.jump(true);
    expect(model.position.value).toBe(20_000);
    model.jump(false);
    expect(model.position.value).toBe(10_000);
    model.jump(false);
    expect(model.position.value).toBe(0);
  });

  it('shows the end of much output, from a line end on', () => {
    const { model, shown } = open([[1, 'o', `${'x'.repeat(50)}\n`.repeat(50_000)]]);
    model.seek(1000);
    expect(shown.at(-1)?.length).toBeLessThanOrEqual(1024 * 1024);
    expect(shown.at(-1)?.startsWith('xx')).toBe(true);
  });

  it.each([
    [0, '0:00'],
    [61_999, '1:01'],
    [3_723_000, '1:02:03'],
  ])('%s ms is shown as %s', (ms, text) => {
    expect(formatPosition(ms)).toBe(text);
  });
});

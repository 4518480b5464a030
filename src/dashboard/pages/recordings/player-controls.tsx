import type { JSX } from 'preact';

import { Button } from '../../components/button.js';
import { Icon } from '../../components/icon.js';
import { formatPosition } from '../../format/position.js';
import type { PlayerModel } from './player-model.js';

const SPEEDS = [0.5, 1, 2, 4, 8, 16] as const;
const PERCENT = 100;
/** Distance between two places of the time line, in milliseconds. */
const GRAIN_MS = 100;

/** Play and pause, the time line with marks of the commands, and the speed. */
export function PlayerControls({ model }: { readonly model: PlayerModel }): JSX.Element {
  const isPlaying = model.isPlaying.value;
  return (
    <div class="player-controls" role="group" aria-label="Playing">
      <Button tone="primary" label={isPlaying ? 'Pause' : 'Play'} onPress={() => model.toggle()}>
        <Icon name={isPlaying ? 'stop' : 'play'} />
      </Button>
      <TimeLine model={model} />
      <label>
        Speed{' '}
        <select
          value={String(model.speed.value)}
          onChange={({ currentTarget }) => (model.speed.value = Number(currentTarget.value))}
        >
          {SPEEDS.map((speed) => (
            <option key={speed} value={String(speed)}>{`${speed} ×`}</option>
          ))}
        </select>
      </label>
    </div>
  );
}

function TimeLine({ model }: { readonly model: PlayerModel }): JSX.Element {
  const { durationMs, marks } = model.timeline;
  const position = model.position.value;
  const shown = `${formatPosition(position)} / ${formatPosition(durationMs)}`;
  return (
    <>
      <div class="player-line">
        <input
          type="range"
          aria-label="Position"
          aria-valuetext={`${formatPosition(position)} of ${formatPosition(durationMs)}`}
          min={0}
          max={Math.ceil(durationMs / GRAIN_MS) * GRAIN_MS}
          step={GRAIN_MS}
          value={position}
          onInput={({ currentTarget }) => model.seek(Number(currentTarget.value))}
        />
        {/* The list of commands has the same for keyboards and screen readers. */}
        <div class="player-marks" aria-hidden="true">
          {marks.map(({ atMs, label }, index) => (
            <span
              key={index}
              title={label}
              style={{ left: `${(atMs / Math.max(1, durationMs)) * PERCENT}%` }}
              onClick={() => model.seek(atMs)}
            />
          ))}
        </div>
      </div>
      <span class="player-time">{shown}</span>
    </>
  );
}

import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';

import type { Cast } from '../../../core/recording.js';
import { Button, Reload } from '../../components/button.js';
import { Icon } from '../../components/icon.js';
import { Panel } from '../../components/panel.js';
import { Empty } from '../../components/states.js';
import { formatPosition } from '../../format.js';
import { useCode } from '../../state/code.js';
import { useDashboard } from '../../state/context.js';
import { PlayerModel } from './player-model.js';
import type { XtermScreen } from './xterm-screen.js';

const SPEEDS = [0.5, 1, 2, 4, 8, 16] as const;
const PERCENT = 100;
/** Distance between two places of the time line, in milliseconds. */
const GRAIN_MS = 100;

/** Play and pause, the time line with marks of the commands, and the speed. */
function PlayerControls({ model }: { readonly model: PlayerModel }): JSX.Element {
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

/** How far the arrow keys move, in milliseconds. */
const STEP_MS = 5000;

interface PlayerViewProps {
  readonly cast: Cast;
  /** Further controls. */
  readonly children: ComponentChildren;
}

/** Plays a recording: screen, controls, and the list of its commands. */
export function PlayerView({ cast, children }: PlayerViewProps): JSX.Element {
  const model = useMemo(() => new PlayerModel(cast), [cast]);
  const element = useRef<HTMLDivElement>(null);
  const isMissing = useScreen(model, element);
  usePlaying(model);
  return (
    <div class="player">
      <section class="panel player-panel" aria-label="Player">
        <div class="player-head">{children}</div>
        <div
          class="player-frame"
          role="region"
          tabIndex={0}
          aria-label="Screen. Space plays, arrows move, n and p jump between commands."
          onKeyDown={(event) => onKey(event, model)}
        >
          <div ref={element} class="player-screen" />
          {isMissing ? <Reload what="The screen" /> : null}
        </div>
        <PlayerControls model={model} />
      </section>
      <Panel title="Commands">
        <CommandList model={model} />
      </Panel>
    </div>
  );
}

/** Loads the terminal into an element, and shows the recording in it. Returns whether that was not possible. */
function useScreen(model: PlayerModel, element: RefObject<HTMLDivElement | null>): boolean {
  const { theme } = useDashboard();
  const screen = useSignal<XtermScreen | undefined>(undefined);
  const { code, isMissing } = useCode(() => import('./xterm-screen.js'));
  useEffect(() => {
    if (!code || !element.current) return undefined;
    const shown = new code.XtermScreen(element.current);
    screen.value = shown;
    model.attach(shown);
    return () => shown[Symbol.dispose]();
  }, [code, model]);
  const { isDark } = theme;
  useEffect(() => {
    if (screen.value) screen.value.isDark = isDark;
  }, [screen.value, isDark]);
  return isMissing;
}

/** Ticks with the frames of the browser while it plays. */
function usePlaying(model: PlayerModel): void {
  const isPlaying = model.isPlaying.value;
  useEffect(() => {
    if (!isPlaying) return undefined;
    const tick = (now: number) => {
      model.tick(now);
      frame = requestAnimationFrame(tick);
    };
    let frame = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(frame);
  }, [model, isPlaying]);
}

function onKey(event: KeyboardEvent, model: PlayerModel): void {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const now = model.position.peek();
  const action = {
    ' ': () => model.toggle(),
    ArrowLeft: () => model.seek(now - STEP_MS),
    ArrowRight: () => model.seek(now + STEP_MS),
    Home: () => model.seek(0),
    End: () => model.seek(Infinity),
    n: () => model.jump(true),
    p: () => model.jump(false),
  }[event.key];
  if (!action) return;
  action();
  event.preventDefault();
}

/** The commands of the recording; each leads to its time. */
function CommandList({ model }: { readonly model: PlayerModel }): JSX.Element {
  const { marks } = model.timeline;
  const current = model.currentMark;
  if (marks.length === 0) return <Empty title="No commands">Nothing was run in this session.</Empty>;
  return (
    <ol class="player-commands">
      {marks.map(({ atMs, label }, index) => (
        <li key={index}>
          <button
            type="button"
            data-row
            aria-current={index === current ? 'step' : undefined}
            onClick={() => model.seek(atMs)}
          >
            <span class="player-time">{formatPosition(atMs)}</span>
            <code>{label}</code>
          </button>
        </li>
      ))}
    </ol>
  );
}

import { signal } from '@preact/signals';

import { type Cast, Timeline } from '../../../core/recording.js';

/** Most characters that are shown at once after a jump: what is older has left the screen. */
const MAX_JUMP_CHARACTERS = 1024 * 1024;

/** A terminal that shows a recording. */
export interface PlayerScreen {
  write(text: string): void;
  /** Empties it. */
  reset(): void;
  resize(cols: number, rows: number): void;
}

/** Size of a terminal, in characters. */
interface Size {
  readonly cols: number;
  readonly rows: number;
}

/** Plays a recording on a screen: at each tick it shows what is due. */
export class PlayerModel {
  /** In milliseconds. */
  readonly position = signal(0);
  readonly isPlaying = signal(false);
  readonly speed = signal(1);
  readonly timeline: Timeline;
  readonly #cast: Cast;
  #screen: PlayerScreen | undefined;
  #size: Size;
  /** Index of the next event. */
  #next = 0;
  /** Time of the last tick; undefined before the first one of a stretch. */
  #tickAt: number | undefined;

  constructor(cast: Cast) {
    this.#cast = cast;
    this.#size = this.#firstSize;
    this.timeline = new Timeline(cast.events);
  }

  /** Shows the recording on a screen, from its current position. */
  attach(screen: PlayerScreen): void {
    this.#screen = screen;
    this.#next = 0;
    this.seek(this.position.peek());
  }

  /** Plays or pauses. At the end it begins again. */
  toggle(): void {
    this.isPlaying.value = !this.isPlaying.peek();
    this.#tickAt = undefined;
    if (this.isPlaying.peek() && this.position.peek() >= this.timeline.durationMs) this.seek(0);
  }

  /** Goes to a position, in milliseconds. */
  seek(ms: number): void {
    const target = Math.min(Math.max(0, ms), this.timeline.durationMs);
    const until = this.timeline.indexAfter(target);
    if (until < this.#next || this.#next === 0) {
      this.#screen?.reset();
      this.#next = 0;
      this.#size = this.#firstSize;
    }
    this.#show(until);
    this.position.value = target;
    this.#tickAt = undefined;
  }

  /** Jumps to the next or previous command. */
  jump(isForwards: boolean): void {
    const { marks, durationMs } = this.timeline;
    const now = this.position.peek();
    const next = isForwards
      ? (marks.find(({ atMs }) => atMs > now)?.atMs ?? durationMs)
      : (marks.findLast(({ atMs }) => atMs < now - JUST_NOW_MS)?.atMs ?? 0);
    this.seek(next);
  }

  /** Shows what is due. @param now milliseconds, on any clock */
  tick(now: number): void {
    const elapsed = this.#tickAt === undefined ? 0 : now - this.#tickAt;
    this.#tickAt = now;
    const { durationMs } = this.timeline;
    const target = Math.min(this.position.peek() + elapsed * this.speed.peek(), durationMs);
    this.#show(this.timeline.indexAfter(target));
    this.position.value = target;
    if (target >= durationMs) this.isPlaying.value = false;
  }

  /** Index of the command at the current position; -1 before the first one. */
  get currentMark(): number {
    const now = this.position.value;
    return this.timeline.marks.findLastIndex(({ atMs }) => atMs <= now);
  }

  #show(until: number): void {
    if (until <= this.#next && this.#next > 0) return;
    const output = this.timeline.outputOf(this.#next, until);
    this.#size = this.#sizeIn(this.#next, until) ?? this.#size;
    this.#next = until;
    this.#screen?.resize(this.#size.cols, this.#size.rows);
    if (output !== '') this.#screen?.write(lastLines(output));
  }

  get #firstSize(): Size {
    const { width, height } = this.#cast.header;
    return { cols: width, rows: height };
  }

  #sizeIn(from: number, until: number): Size | undefined {
    const resized = this.#cast.events.slice(from, until).findLast(([, code]) => code === 'r')?.[2];
    const [cols = NaN, rows = NaN] = (resized ?? '').split('x').map(Number);
    return cols > 0 && rows > 0 ? { cols, rows } : undefined;
  }
}

/** A mark that was passed just now does not count as the previous one, in milliseconds. */
const JUST_NOW_MS = 1000;

/** The end of a long text, from the beginning of a line. */
function lastLines(text: string): string {
  if (text.length <= MAX_JUMP_CHARACTERS) return text;
  const end = text.slice(-MAX_JUMP_CHARACTERS);
  return end.slice(end.indexOf('\n') + 1);
}

import { type ReadonlySignal, signal, type Signal } from '@preact/signals';

import { ClientError } from '../../../../client/index.js';
import { saveFile } from '../../../components/button.js';
import { hrefOf } from '../../../route.js';
import type { Dashboard } from '../../../state/dashboard.js';
import { ScreenFeed, TextLog } from './screen-feed.js';
import { SeenOutput, SessionWatcher } from './session-watcher.js';
import type { ScreenListener, TerminalScreen } from './terminal-screen.js';

const STORAGE_KEY = 'terminal-font-size';

/** Sizes in CSS pixels. */
const DEFAULT_PX = 13;
const MIN_PX = 8;
const MAX_PX = 32;

/** A change of the size: by pixels, or back to the default. */
export type FontSizeChange = 1 | -1 | 'default';

const KEYS: { readonly [key: string]: FontSizeChange } = { '+': 1, '=': 1, '-': -1, '0': 'default' };

/** The change that a key press in the terminal asks for, as in a browser; undefined for none. */
export const fontSizeChangeOf = ({ key, ctrlKey, altKey, metaKey }: KeyboardEvent): FontSizeChange | undefined =>
  (ctrlKey || metaKey) && !altKey ? KEYS[key] : undefined;

/** Size of the text of terminals, which this browser keeps. */
class FontSize {
  readonly #px = signal(stored());

  /** The size in CSS pixels. */
  get px(): ReadonlySignal<number> {
    return this.#px;
  }

  /** Changes the size, within its bounds. */
  change(change: FontSizeChange): void {
    this.#px.value = change === 'default' ? DEFAULT_PX : bounded(this.#px.peek() + change);
    localStorage.setItem(STORAGE_KEY, String(this.#px.peek()));
  }
}

const bounded = (px: number): number => Math.min(MAX_PX, Math.max(MIN_PX, px));

function stored(): number {
  const found = Number(localStorage.getItem(STORAGE_KEY) ?? DEFAULT_PX);
  return Number.isInteger(found) ? bounded(found) : DEFAULT_PX;
}

/** Keys for a terminal: in order, one request under way; what is typed meanwhile is joined into the next one. */
export class InputQueue {
  readonly #send: (data: string) => Promise<unknown>;
  readonly #onProblem: (error: unknown) => void;
  #waiting = '';
  #isBusy = false;

  /**
   * @param send sends keys; the next ones wait for it
   * @param onProblem gets the error of a request that failed: what waited then is dropped, since it was typed for
   * something else
   */
  constructor(send: (data: string) => Promise<unknown>, onProblem: (error: unknown) => void) {
    this.#send = send;
    this.#onProblem = onProblem;
  }

  /** Sends keys after those before. */
  type(data: string): void {
    this.#waiting += data;
    if (!this.#isBusy) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isBusy = true;
    try {
      while (this.#waiting !== '') {
        const data = this.#waiting;
        this.#waiting = '';
        await this.#send(data);
      }
    } catch (error) {
      this.#waiting = '';
      this.#onProblem(error);
    } finally {
      this.#isBusy = false;
    }
  }
}

/** Most output that waits to be shown, in bytes. */
const MAX_WAITING_BYTES = 256 * 1024;

/** The terminal of one session: what is shown, and what is typed. */
export class TerminalModel implements Disposable {
  readonly isFollowing = signal(true);
  readonly isTyping = signal(false);
  /** Prompt of the command that waits for input; undefined while none does. */
  readonly prompt: Signal<string | undefined> = signal(undefined);
  /** What went wrong, for people; empty for nothing. */
  readonly problem = signal('');
  /** A text of several lines that was pasted, and is typed once it is confirmed. */
  readonly pasted: Signal<string | undefined> = signal(undefined);
  /** Rises with each change of the log. */
  readonly shown = signal(0);
  readonly screen: Signal<TerminalScreen | undefined> = signal(undefined);
  readonly log = new TextLog();
  readonly fontSize = new FontSize();
  readonly #dashboard: Dashboard;
  readonly #sessionId: string;
  readonly #feed = new ScreenFeed(MAX_WAITING_BYTES);
  readonly #seen = new SeenOutput();
  readonly #watcher: SessionWatcher;
  readonly #keys: InputQueue;
  #watching: Promise<void> | undefined;
  #isDisposed = false;

  constructor(dashboard: Dashboard, sessionId: string) {
    this.#dashboard = dashboard;
    this.#sessionId = sessionId;
    const { client } = dashboard.connection;
    this.#watcher = new SessionWatcher({
      client,
      sessionId,
      feed: this.#feed,
      find: (id) => {
        const commands = [...(dashboard.live.commands.peek()?.values() ?? [])];
        return commands.find((info) => info.session_id === sessionId && info.command_id === id);
      },
      onFed: () => this.screen.peek()?.pump(),
      onPrompt: (prompt) => {
        this.prompt.value = prompt;
      },
      // What was typed for one command must not reach the next one.
      onEnded: () => {
        this.setTyping(false);
      },
    });
    this.#keys = new InputQueue(
      // The answer has no time limit: a person may have to confirm it.
      (data) => client.request('send_input', { session_id: sessionId, data }, { timeoutMs: Infinity }).then(refuse),
      this.onProblem,
    );
  }

  /** Puts the terminal into an element, which shows the session from then on. */
  async start(element: HTMLElement, Screen: typeof TerminalScreen): Promise<void> {
    if (this.#isDisposed) return;
    const source = { feed: this.#feed, isTty: (id: string) => this.#watcher.isTty(id) };
    const screen = new Screen(element, source, this.#listener());
    screen.isDark = this.#dashboard.theme.isDark;
    this.screen.value = screen;
    await this.watch();
    screen.pump();
  }

  /** Begins to observe the session, if that has not begun. What comes before there is a screen waits for it. */
  watch(): Promise<void> {
    this.#watching ??= this.#watcher.start().catch(this.onProblem);
    return this.#watching;
  }

  /** Sends keys. */
  type(data: string): void {
    this.problem.value = '';
    this.#keys.type(data);
  }

  /** Switches typing on or off. */
  setTyping(isTyping: boolean): void {
    const screen = this.screen.peek();
    if (!screen) return;
    this.isTyping.value = isTyping;
    screen.isTyping = isTyping;
    if (isTyping) screen.focus();
  }

  /** Types a text that was pasted, if it is confirmed. */
  answerPaste(isConfirmed: boolean): void {
    const text = this.pasted.peek();
    this.pasted.value = undefined;
    const screen = this.screen.peek();
    if (isConfirmed && text !== undefined) screen?.paste(text);
    screen?.focus();
  }

  /** Saves what was shown as an asciicast file. */
  save(title: string): void {
    if (this.#seen.isEmpty) this.problem.value = 'Nothing was shown yet that could be saved.';
    else saveFile(`${this.#sessionId}.cast`, new Blob([this.#seen.toCast(title)], { type: 'application/x-asciicast' }));
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#watcher.stop();
    this.screen.peek()?.[Symbol.dispose]();
    this.screen.value = undefined;
  }

  #listener(): ScreenListener {
    return {
      onKeys: (data) => {
        this.type(data);
      },
      onFollowing: (isFollowing) => {
        this.isFollowing.value = isFollowing;
      },
      onGap: ({ commandId, stream, offset }) => {
        const query = { view: 'timeline', command: commandId, stream, offset: String(offset) };
        this.#dashboard.router.go(hrefOf('sessions', [this.#sessionId], query));
      },
      onLeave: () => {
        document.querySelector<HTMLElement>('.terminal-tools button')?.focus();
      },
      onFontSize: (change) => {
        this.fontSize.change(change);
      },
      onShown: (piece, bytes) => {
        this.log.add(piece);
        this.#seen.add(bytes, now());
        this.shown.value += 1;
      },
      onResize: (size) => {
        this.#seen.resize(size, now());
      },
    };
  }

  /** Shows what went wrong. */
  readonly onProblem = (error: unknown): void => {
    this.problem.value = error instanceof ClientError ? `${error.message} (${error.code})` : String(error);
  };
}

/** Milliseconds since the epoch, by a clock that is never set back. */
const now = (): number => performance.timeOrigin + performance.now();

/** Answers about input are no errors when the input has to be confirmed first: here they are. */
function refuse(answer: { readonly status?: string | undefined; readonly reasons?: string[] | undefined }): void {
  if (answer.status !== 'confirmation_required') return;
  const why = (answer.reasons ?? []).join('; ');
  throw new Error(`Nothing was typed: it has to be confirmed first, on the page Confirmations. ${why}`);
}

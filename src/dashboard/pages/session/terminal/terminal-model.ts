import { type Signal, signal } from '@preact/signals';

import { ClientError } from '../../../../client/index.js';
import { saveFile } from '../../../components/save-file.js';
import { hrefOf } from '../../../router/route.js';
import type { Dashboard } from '../../../state/dashboard.js';
import { FontSize } from './font-size.js';
import { InputQueue } from './input-queue.js';
import { ScreenFeed } from './screen-feed.js';
import { SeenOutput } from './seen-output.js';
import { SessionWatcher } from './session-watcher.js';
import { TextLog } from './text-log.js';
import type { ScreenListener, TerminalScreen } from './terminal-screen.js';

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

import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';

import '@xterm/xterm/css/xterm.css';

import { useCurrentWidths } from './character-width.js';
import { type FontSizeChange, fontSizeChangeOf } from './terminal-model.js';
import { paletteOf } from './palette.js';
import { parseGapLink, renderGap, renderMark, renderOutput } from './render-piece.js';
import type { ScreenFeed, ScreenPiece } from './screen-feed.js';
import type { TerminalSize } from './session-watcher.js';
import { selectMatch } from './terminal-search.js';

/** Most bytes that xterm.js has not yet parsed: little, since what waits there cannot be dropped. */
const MAX_IN_FLIGHT_BYTES = 64 * 1024;
const SCROLLBACK_LINES = 5000;
const LF = 10;

/** Callbacks of a `TerminalScreen`. */
export interface ScreenListener {
  /** Keys, while typing is on. */
  onKeys(data: string): void;
  /** Whether the newest line is in sight. */
  onFollowing(isFollowing: boolean): void;
  /** The link of a gap was opened. */
  onGap(gap: { readonly commandId: string; readonly stream: string; readonly offset: number }): void;
  /** The keys for leaving the terminal were pressed. */
  onLeave(): void;
  /** The keys for larger or smaller text were pressed. */
  onFontSize(change: FontSizeChange): void;
  /** Something was shown; `bytes` are what the terminal got. */
  onShown(piece: ScreenPiece, bytes: Uint8Array): void;
  /** The terminal has another size. */
  onResize(size: TerminalSize): void;
}

/** What a screen shows. */
export interface ScreenSource {
  readonly feed: ScreenFeed;
  readonly isTty: (commandId: string) => boolean;
}

/** A terminal of xterm.js that shows what a feed has. */
export class TerminalScreen implements Disposable {
  readonly #terminal: Terminal;
  readonly #fit = new FitAddon();
  readonly #source: ScreenSource;
  readonly #listener: ScreenListener;
  #inFlight = 0;
  #isAtLineStart = true;
  #isTyping = false;
  #isFollowing = true;

  constructor(element: HTMLElement, source: ScreenSource, listener: ScreenListener) {
    this.#source = source;
    this.#listener = listener;
    const fontFamily = getComputedStyle(element).fontFamily;
    this.#terminal = new Terminal({
      allowProposedApi: true,
      disableStdin: true,
      fontFamily,
      scrollback: SCROLLBACK_LINES,
      scrollOnUserInput: true,
      minimumContrastRatio: 4.5,
      linkHandler: { allowNonHttpProtocols: true, activate: this.#onLink },
    });
    this.#terminal.loadAddon(this.#fit);
    useCurrentWidths(this.#terminal);
    this.#terminal.attachCustomKeyEventHandler(this.#onKey);
    this.#terminal.onData((data) => {
      if (this.#isTyping) listener.onKeys(data);
    });
    this.#terminal.onRender(this.#lookWhetherFollowing);
    this.#terminal.onScroll(this.#lookWhetherFollowing);
    this.#terminal.onResize((size) => {
      listener.onResize(size);
    });
    this.#terminal.open(element);
  }

  /** Shows what the feed has, as fast as it can be drawn. */
  pump(): void {
    while (this.#inFlight < MAX_IN_FLIGHT_BYTES) {
      const piece = this.#source.feed.take();
      if (!piece) return;
      const bytes = this.#render(piece);
      this.#inFlight += bytes.length;
      this.#terminal.write(bytes, () => {
        this.#inFlight -= bytes.length;
        this.pump();
      });
      this.#listener.onShown(piece, bytes);
    }
  }

  /** Whether keys go to the command. */
  set isTyping(isTyping: boolean) {
    this.#isTyping = isTyping;
    // The cursor does not blink: while anything moves, Chromium handles no message between a key and the next frame.
    this.#terminal.options.disableStdin = !isTyping;
  }

  /** Whether a screen reader reads the screen itself. */
  set isReaderMode(isOn: boolean) {
    this.#terminal.options.screenReaderMode = isOn;
  }

  /** Sets the colours. */
  set isDark(isDark: boolean) {
    this.#terminal.options.theme = paletteOf(isDark);
  }

  /** Sets the size of the text, in CSS pixels. */
  set fontSize(px: number) {
    this.#terminal.options.fontSize = px;
  }

  /** The size for which there is room; undefined before the element is shown. */
  get room(): TerminalSize | undefined {
    const { cols, rows } = this.#fit.proposeDimensions() ?? {};
    return cols === undefined || rows === undefined || !Number.isFinite(cols) ? undefined : { cols, rows };
  }

  /** Sets the size. */
  resize(cols: number, rows: number): void {
    if (cols !== this.#terminal.cols || rows !== this.#terminal.rows) this.#terminal.resize(cols, rows);
  }

  /** Scrolls to the newest line, and follows it. */
  follow(): void {
    this.#terminal.scrollToBottom();
  }

  /** Finds the next or previous place of a text. Returns whether there is one. */
  search(text: string, isBackwards: boolean): boolean {
    return selectMatch(this.#terminal, text, isBackwards);
  }

  /** Gives it the keys. */
  focus(): void {
    this.#terminal.focus();
  }

  /** Types a text, bracketed if the program has asked for that. */
  paste(text: string): void {
    this.#terminal.paste(text);
  }

  [Symbol.dispose](): void {
    this.#terminal.dispose();
  }

  #render(piece: ScreenPiece): Uint8Array {
    const isAtLineStart = this.#isAtLineStart;
    this.#isAtLineStart = piece.kind !== 'output' || piece.data.at(-1) === LF;
    if (piece.kind === 'mark') return renderMark(piece.text, isAtLineStart);
    if (piece.kind === 'gap') return renderGap(piece, isAtLineStart);
    return renderOutput(piece, this.#source.isTty(piece.commandId));
  }

  readonly #onLink = (_event: MouseEvent, uri: string): void => {
    const gap = parseGapLink(uri);
    // Other links come from the output of commands: they are not followed.
    if (gap) this.#listener.onGap(gap);
  };

  /** Whether xterm.js handles a key. While nothing is typed, keys are those of the page and of the browser. */
  readonly #onKey = (event: KeyboardEvent): boolean => {
    if (event.type !== 'keydown') return this.#isTyping;
    if (event.key === 'Escape' && event.ctrlKey && event.shiftKey) {
      event.preventDefault();
      this.#listener.onLeave();
      return false;
    }
    const change = fontSizeChangeOf(event);
    if (change !== undefined) {
      event.preventDefault();
      this.#listener.onFontSize(change);
      return false;
    }
    if (!this.#isTyping) this.#scrollBy(event);
    return this.#isTyping;
  };

  #scrollBy(event: KeyboardEvent): void {
    const scroll = {
      End: () => this.#terminal.scrollToBottom(),
      Home: () => this.#terminal.scrollToTop(),
      PageUp: () => this.#terminal.scrollPages(-1),
      PageDown: () => this.#terminal.scrollPages(1),
      ArrowUp: () => this.#terminal.scrollLines(-1),
      ArrowDown: () => this.#terminal.scrollLines(1),
    }[event.key];
    if (!scroll) return;
    scroll();
    event.preventDefault();
  }

  readonly #lookWhetherFollowing = (): void => {
    const { viewportY, baseY } = this.#terminal.buffer.active;
    const isFollowing = viewportY >= baseY;
    if (isFollowing === this.#isFollowing) return;
    this.#isFollowing = isFollowing;
    this.#listener.onFollowing(isFollowing);
  };
}

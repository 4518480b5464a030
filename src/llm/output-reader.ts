import { Answer } from '../core/llm/answer.js';
import { isTornEvent, type JsonObject, JsonEvents } from '../core/llm/json-events.js';
import { lastBlock } from '../core/llm/last-block.js';
import type { OutputMode } from '../core/llm/settings.js';
import type { CliDriver } from './drivers/driver.js';

/** Of an output that cannot be read, so much is shown, in characters. */
const MAX_SHOWN = 200;

/** Makes an answer of what a tool prints on standard output. */
export interface OutputReader {
  readonly answer: Answer;
  /** What was printed beside the answer, its end. */
  readonly noise: string;
  /** Whether the answer is what was printed, and not what a tool says is its answer. */
  readonly isText: boolean;
  push(text: string): void;
  /** Nothing more comes. */
  end(): void;
}

/**
 * The reader for a tool's output.
 * @param hasOwnArgs whether its arguments are not the driver's, so that it may print something else than the driver knows
 */
export function outputReader(
  { readEvent }: Pick<CliDriver, 'readEvent'>,
  mode: OutputMode,
  hasOwnArgs: boolean,
): OutputReader {
  if (mode === 'last_block') return new LastBlockReader();
  if (mode === 'text' || !readEvent) return new TextReader();
  return hasOwnArgs ? new GuessingReader(readEvent) : new EventReader(readEvent);
}

/** All that is printed is the answer. */
class TextReader implements OutputReader {
  readonly answer = new Answer();
  readonly noise = '';
  readonly isText = true;

  push(text: string): void {
    this.answer.delta(text);
  }

  end(): void {
    this.answer.settle(this.answer.text.trim());
  }
}

/** The last paragraph is the answer: for tools that print what they do first. It cannot be streamed. */
class LastBlockReader implements OutputReader {
  readonly answer = new Answer();
  readonly noise = '';
  readonly isText = true;
  #text = '';

  push(text: string): void {
    this.#text += text;
  }

  end(): void {
    this.answer.propose(lastBlock(this.#text));
  }
}

type EventSink = (event: JsonObject, answer: Answer) => void;

/** The answer is in events. A tool that has printed none has printed text. */
class EventReader implements OutputReader {
  readonly answer = new Answer();
  readonly #events: JsonEvents;
  /** All that came, as long as there was no event in it. */
  #text = '';

  constructor(readEvent: EventSink) {
    this.#events = new JsonEvents((event) => {
      readEvent(event, this.answer);
    });
  }

  get noise(): string {
    return this.isText ? '' : this.#events.noise;
  }

  get isText(): boolean {
    return !this.#events.hasEvents;
  }

  push(text: string): void {
    this.#events.push(text);
    this.#text = this.isText ? this.#text + text : '';
  }

  end(): void {
    this.#events.end();
    if (!this.isText) return;
    const text = this.#text.trim();
    if (isTornEvent(text)) this.answer.fail(`its output is no JSON that can be read: ${text.slice(0, MAX_SHOWN)}`);
    else this.answer.propose(text);
  }
}

/** Decides by the first character whether there are events or text. */
class GuessingReader implements OutputReader {
  readonly #readEvent: EventSink;
  #reader: OutputReader = new TextReader();
  #hasBegun = false;

  constructor(readEvent: EventSink) {
    this.#readEvent = readEvent;
  }

  get answer(): Answer {
    return this.#reader.answer;
  }

  get noise(): string {
    return this.#reader.noise;
  }

  get isText(): boolean {
    return this.#reader.isText;
  }

  push(text: string): void {
    const first = text.trimStart().charAt(0);
    if (!this.#hasBegun && first !== '') {
      this.#hasBegun = true;
      if (first === '{' || first === '[') this.#reader = new EventReader(this.#readEvent);
    }
    this.#reader.push(text);
  }

  end(): void {
    this.#reader.end();
  }
}

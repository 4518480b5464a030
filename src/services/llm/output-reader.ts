import { type JsonObject } from '../../core/json.js';
import { Answer, isTornEvent, JsonEvents, lastBlock } from '../../core/llm/answer.js';
import type { OutputMode } from '../../core/llm/settings.js';
import type { CliDriver } from './drivers/driver.js';

/** Longest excerpt of unreadable output in an error, in characters. */
const MAX_SHOWN = 200;

/** Extracts the answer from a tool's standard output. */
export interface OutputReader {
  readonly answer: Answer;
  /** The end of the output beside the answer. */
  readonly noise: string;
  /** True when the answer is the raw output; false when the tool has marked its answer. */
  readonly isText: boolean;
  push(text: string): void;
  end(): void;
}

/**
 * Returns the reader for a tool's output.
 * @param hasOwnArgs true when its arguments are not the driver's, so that its output may have a format unknown to the
 *   driver
 */
export function outputReader({ readEvent }: CliDriver, mode: OutputMode, hasOwnArgs: boolean): OutputReader {
  if (mode === 'last_block') return new LastBlockReader();
  if (mode === 'text' || !readEvent) return new TextReader();
  return hasOwnArgs ? new GuessingReader(readEvent) : new EventReader(readEvent);
}

/** The whole output is the answer. */
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

/** The last paragraph is the answer: for tools that print their progress first. It cannot be streamed. */
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

/** The answer is in events. Output without any event is text. */
class EventReader implements OutputReader {
  readonly answer = new Answer();
  readonly #events: JsonEvents;
  /** All output, until the first event. */
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

/** Decides by the first character whether the output is events or text. */
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

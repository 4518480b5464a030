/** An object as JSON gives it. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** An object, or an empty one for anything else. */
export const objectOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

/** A list, or an empty one for anything else. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A text, or undefined for anything else. */
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** A number, or undefined for anything else, such as one that is too large to be one. */
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** Other text that is kept, for messages: the last characters. */
const MAX_NOISE_CHARACTERS = 4096;

/**
 * Whether an object is an event of a tool, and not JSON that a model has answered: the tools' all say their type, or are the one
 * document of a session, or a response beside what became of it.
 */
const isEvent = (value: unknown): value is JsonObject => {
  const { type, session_id: session, response, error, stats } = objectOf(value);
  const isDocument = typeof response === 'string' && typeof (error ?? stats) === 'object';
  return typeof type === 'string' || typeof session === 'string' || isDocument;
};

/** How an event begins, whole or not. */
const EVENT_BEGINS = /^\s*\[?\s*\{\s*"(?:type|session_id)"\s*:/;

/** Whether a text is an event, or a list of them, that has no end. */
export const isTornEvent = (text: string): boolean => EVENT_BEGINS.test(text);

/**
 * Finds the events in the output of a tool: objects, one a line, or all that is printed as one object or list. Everything
 * else is noise.
 */
export class JsonEvents {
  readonly #onEvent: (event: JsonObject) => void;
  #line = '';
  /** All that was no event, as long as there has been none: it may be one document over many lines. */
  #document = '';
  #noise = '';
  #hasEvents = false;

  constructor(onEvent: (event: JsonObject) => void) {
    this.#onEvent = onEvent;
  }

  /** Whether there was an event. */
  get hasEvents(): boolean {
    return this.#hasEvents;
  }

  /** The end of what was no event. */
  get noise(): string {
    return this.#noise;
  }

  push(text: string): void {
    const lines = text.split('\n');
    lines[0] = this.#line + (lines[0] ?? '');
    this.#line = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
  }

  /** Nothing more comes. */
  end(): void {
    const rest = this.#line;
    this.#line = '';
    if (rest !== '') this.#take(rest);
    if (!this.#hasEvents && this.#giveOut(this.#document.trim())) this.#noise = '';
    this.#document = '';
  }

  #take(line: string): void {
    if (line.trimStart().startsWith('{') && this.#giveOut(line)) {
      this.#document = '';
      return;
    }
    if (line.trim() === '') return;
    this.#noise = `${this.#noise}${line}\n`.slice(-MAX_NOISE_CHARACTERS);
    if (!this.#hasEvents) this.#document += `${line}\n`;
  }

  /** Gives out what a text holds, if it is an object or a list of objects. */
  #giveOut(text: string): boolean {
    const events = parse(text);
    for (const event of events) {
      this.#hasEvents = true;
      this.#onEvent(event);
    }
    return events.length > 0;
  }
}

function parse(text: string): JsonObject[] {
  if (!/^\s*[{[]/.test(text)) return [];
  try {
    const value = JSON.parse(text) as unknown;
    return [value].flat().filter(isEvent);
  } catch {
    // A SyntaxError: a line that only begins like an object.
    return [];
  }
}

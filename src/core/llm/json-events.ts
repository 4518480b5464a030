/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value if it is an object, otherwise an empty object. */
export const objectOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

/** The value if it is a list, otherwise an empty list. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The value if it is a text, otherwise undefined. */
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The value if it is a finite number, otherwise undefined; a JSON number beyond the range of a double is infinite. */
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** Most characters of other output that are kept for messages; the last ones are kept. */
const MAX_NOISE_CHARACTERS = 4096;

/**
 * Whether an object is an event of a tool, rather than JSON in a model's answer. Events of tools have a type, or are
 * the single document of a session, or a response with its outcome.
 */
const isEvent = (value: unknown): value is JsonObject => {
  const { type, session_id: session, response, error, stats } = objectOf(value);
  const isDocument = typeof response === 'string' && typeof (error ?? stats) === 'object';
  return typeof type === 'string' || typeof session === 'string' || isDocument;
};

/** Beginning of a complete or incomplete event. */
const EVENT_BEGINS = /^\s*\[?\s*\{\s*"(?:type|session_id)"\s*:/;

/** Whether a text is an incomplete event, or an incomplete list of events. */
export const isTornEvent = (text: string): boolean => EVENT_BEGINS.test(text);

/**
 * Extracts the events from the output of a tool: objects, one per line, or the whole output as one object or list.
 * Everything else is noise.
 */
export class JsonEvents {
  readonly #onEvent: (event: JsonObject) => void;
  #line = '';
  /** All non-event output, as long as no event has been found: it may be one document over many lines. */
  #document = '';
  #noise = '';
  #hasEvents = false;

  constructor(onEvent: (event: JsonObject) => void) {
    this.#onEvent = onEvent;
  }

  /** Whether any event has been found. */
  get hasEvents(): boolean {
    return this.#hasEvents;
  }

  /** The last part of the non-event output. */
  get noise(): string {
    return this.#noise;
  }

  /** Processes the next part of the output; an unfinished line waits for the part after it. */
  push(text: string): void {
    const lines = text.split('\n');
    lines[0] = this.#line + (lines[0] ?? '');
    this.#line = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
  }

  /** Signals the end of the output. */
  end(): void {
    const rest = this.#line;
    this.#line = '';
    if (rest !== '') this.#take(rest);
    if (!this.#hasEvents && this.#emit(this.#document.trim())) this.#noise = '';
    this.#document = '';
  }

  #take(line: string): void {
    if (line.trimStart().startsWith('{') && this.#emit(line)) {
      this.#document = '';
      return;
    }
    if (line.trim() === '') return;
    this.#noise = `${this.#noise}${line}\n`.slice(-MAX_NOISE_CHARACTERS);
    if (!this.#hasEvents) this.#document += `${line}\n`;
  }

  /** Emits the events in a text, if it is an object or a list of objects. */
  #emit(text: string): boolean {
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
    // A SyntaxError: the line only begins like an object.
    return [];
  }
}

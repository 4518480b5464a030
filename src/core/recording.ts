/** Key of the header with what the adapter itself knows about a recording; players ignore it. */
export const OWN_KEY = 'shell_adapter';

/** What the adapter notes about a recording, in its header. */
export interface RecordingOrigin {
  readonly recording_id: string;
  readonly session_id: string;
  /** Id of the principal that owns the session. */
  readonly owner: string;
  /** Its name, for people. */
  readonly owner_name: string;
  /** Why the session is recorded: the client asked for it, or the configuration says so for its role. */
  readonly reason: 'request' | 'configuration';
}

/** Header of an asciicast file, version 2: https://docs.asciinema.org/manual/asciicast/v2/. */
export interface CastHeader {
  readonly version: 2;
  /** Columns of the terminal. */
  readonly width: number;
  /** Rows of the terminal. */
  readonly height: number;
  /** Start of the recording, in seconds since 1970. */
  readonly timestamp?: number | undefined;
  readonly title?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly [OWN_KEY]?: RecordingOrigin | undefined;
}

/**
 * Kind of an event: output, input, marker, resize as `COLSxROWS`, and the end of the recording. Players ignore kinds that
 * they do not know, such as the last one.
 */
export type CastCode = 'o' | 'i' | 'm' | 'r' | 'x';

/** An event: seconds since the start, kind, data. */
export type CastEvent = readonly [seconds: number, code: string, data: string];

export interface Cast {
  readonly header: CastHeader;
  readonly events: readonly CastEvent[];
}

/** Decimal places of a time: microseconds say nothing more. */
const TIME_PLACES = 1000;

/** Renders the first line of a file, with its line end. */
export const renderHeader = (header: CastHeader): string => `${JSON.stringify(header)}\n`;

/** Renders an event as a line of a file, with its line end. */
export const renderEvent = (seconds: number, code: CastCode, data: string): string =>
  `${JSON.stringify([Math.round(seconds * TIME_PLACES) / TIME_PLACES, code, data])}\n`;

/** Parses the first line of a file; undefined unless it is a header of version 2. */
export function parseHeader(line: string): CastHeader | undefined {
  const header = parseJson(line);
  if (typeof header !== 'object' || header === null || !('version' in header) || header.version !== 2) return undefined;
  const { width, height } = header as Partial<CastHeader>;
  return isCells(width) && isCells(height) ? (header as CastHeader) : undefined;
}

/** Parses a line with an event; undefined for any other line. */
export function parseEvent(line: string): CastEvent | undefined {
  const event = parseJson(line);
  if (!Array.isArray(event) || event.length < 3) return undefined;
  const [seconds, code, data] = event as readonly unknown[];
  const isValid = typeof seconds === 'number' && seconds >= 0 && typeof code === 'string' && typeof data === 'string';
  return isValid ? [seconds, code, data] : undefined;
}

/**
 * Parses a file. A torn last line, which a killed daemon leaves, is left out.
 * @throws Error that says which line is wrong
 */
export function parseCast(text: string): Cast {
  const [first = '', ...lines] = text.split('\n');
  const header = parseHeader(first);
  if (!header) throw new Error('line 1 is not the header of an asciicast file of version 2');
  const events: CastEvent[] = [];
  for (const [index, line] of lines.entries()) {
    const event = parseEvent(line);
    if (event) events.push(event);
    else if (line.trim() !== '' && index < lines.length - 1) {
      throw new Error(`line ${index + 2} is not an event: [seconds, "o", "text"]`);
    }
  }
  return { header, events };
}

/** Length of a recording in seconds: the time of its last event. */
export const durationOf = ({ events }: Cast): number => events.at(-1)?.[0] ?? 0;

const isCells = (value: unknown): boolean => typeof value === 'number' && Number.isInteger(value) && value > 0;

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // A SyntaxError: the line is torn, or not of this format.
    return undefined;
  }
}

/** Longest label of a marker, in characters. */
const MAX_LABEL = 200;

/** Control characters, which could change the screen of a player. */
const CONTROL = /[^\P{Cc}\t\n]/gu;

/** Label of the marker of a command: one line. */
export function markerLabel(command: string): string {
  const line = command.replaceAll(/\s+/gu, ' ').replaceAll(CONTROL, '\ufffd').trim();
  const characters = Array.from(line);
  return characters.length > MAX_LABEL ? `${characters.slice(0, MAX_LABEL - 1).join('')}…` : line;
}

/** A command as a terminal would have shown it, had it been typed: commands of a session are not typed. */
export function promptLine(command: string): string {
  const shown = command.replaceAll('\r\n', '\n').replaceAll(CONTROL, '\ufffd').replaceAll('\n', '\r\n> ');
  return `\x1b[1m$\x1b[0m ${shown}\r\n`;
}

/**
 * Converts output of a pipe for a terminal, which needs a carriage return before each line feed. Lines may be cut
 * anywhere.
 */
export class TerminalText {
  #last = '';

  /** Returns the text with complete line ends. */
  convert(text: string): string {
    if (text === '') return text;
    const converted = text.replaceAll(/(\r?)\n/gu, (_end, carriageReturn: string, offset: number) =>
      carriageReturn === '' && !(offset === 0 && this.#last === '\r') ? '\r\n' : `${carriageReturn}\n`,
    );
    this.#last = text.at(-1) ?? '';
    return converted;
  }
}

/** Times at which events are shown, in milliseconds, with pauses that may be shorter than they were. */
export class Timeline {
  readonly events: readonly CastEvent[];
  /** Commands: the label of each marker with its time. */
  readonly marks: readonly { readonly atMs: number; readonly label: string }[];
  readonly #times: readonly number[];

  /** @param maxPauseMs longest pause between two events; by default as it was */
  constructor(events: readonly CastEvent[], maxPauseMs = Infinity) {
    this.events = events;
    let at = 0;
    let before = 0;
    this.#times = events.map(([seconds]) => {
      const ms = Math.max(before, seconds * 1000);
      at += Math.min(maxPauseMs, ms - before);
      before = ms;
      return at;
    });
    this.marks = events.flatMap(([, code, label], index) =>
      code === 'm' ? [{ atMs: this.timeOf(index), label }] : [],
    );
  }

  get durationMs(): number {
    return this.#times.at(-1) ?? 0;
  }

  /** Time of an event; that of the last one for an index beyond it. */
  timeOf(index: number): number {
    return this.#times[index] ?? this.durationMs;
  }

  /** Index of the first event after a time. */
  indexAfter(ms: number): number {
    let low = 0;
    let high = this.#times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.timeOf(middle) <= ms) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** What the terminal gets from one event up to another, that one not included. */
  outputOf(from: number, to: number): string {
    return this.events
      .slice(from, to)
      .flatMap(([, code, data]) => (code === 'o' ? [data] : []))
      .join('');
  }
}

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** Longest wait for stty(1), in milliseconds: it takes one or two. */
const LOOK_MS = 1000;
/** How long the helper waits for the next look, in milliseconds: keys of a person come faster. */
const IDLE_MS = 10_000;

/** Whether `stty -a` prints a setting among others; with a dash before it, it is off. */
const has = (settings: string, setting: string): boolean => settings.split(/\s+/u).includes(setting);

/**
 * Reads paths of terminals, and prints the settings of each and a line `.`. The process that becomes stty(1) is there before it is
 * asked: only its program has to be started. Starting it from the daemon takes ten times as long, since Node.js is a large process.
 * Ends with its input.
 */
const HELPER = `while :; do
  ( IFS= read -r terminal || exit 99; exec stty -a <"$terminal" 2>/dev/null )
  [ $? -eq 99 ] && exit
  echo .
done`;

/** What the helper prints after each answer. */
const END = /(?:^|\n)\.\n/u;

type Helper = ChildProcessByStdio<Writable, Readable, null>;

/**
 * Tells whether terminals echo what is typed, and take whole lines: passwords are read without an echo. A helper process looks, which is started when it is first
 * asked and ends a while after it was asked last.
 */
export class TerminalEcho implements Disposable {
  readonly #searchPath: string;
  readonly #asked: ((settings: string) => void)[] = [];
  #helper: Helper | undefined;
  #answer = '';
  #timer: NodeJS.Timeout | undefined;

  /** @param searchPath PATH with sh(1) and stty(1) */
  constructor(searchPath: string) {
    this.#searchPath = searchPath;
  }

  /** Whether a terminal echoes what is typed now. False as well when that cannot be determined. */
  async showsTyped(path: string): Promise<boolean> {
    return has(await this.#settingsOf(path), 'echo');
  }

  /** Whether a terminal takes a line without echo now, as for a password. False as well when that cannot be determined. */
  async takesSecret(path: string): Promise<boolean> {
    const settings = await this.#settingsOf(path);
    return has(settings, 'icanon') && has(settings, '-echo');
  }

  /** What `stty -a` prints; empty when it cannot tell. */
  #settingsOf(path: string): Promise<string> {
    const helper = (this.#helper ??= this.#start());
    const answer = new Promise<string>((resolve) => this.#asked.push(resolve));
    helper.stdin.write(`${path}\n`);
    this.#wait(LOOK_MS);
    return answer;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    const helper = this.#helper;
    this.#helper = undefined;
    this.#answer = '';
    for (const settle of this.#asked.splice(0)) settle('');
    helper?.kill('SIGKILL');
    // The process that waits for the next path ends with its input.
    helper?.stdin.destroy();
  }

  #start(): Helper {
    const env = { PATH: this.#searchPath, LC_ALL: 'C' };
    const helper = spawn('sh', ['-c', HELPER], { stdio: ['pipe', 'pipe', 'ignore'], env, cwd: '/' });
    const onEnd = () => {
      if (this.#helper === helper) this[Symbol.dispose]();
    };
    helper.on('error', onEnd).on('exit', onEnd);
    // EPIPE: `exit` follows.
    helper.stdin.on('error', () => undefined);
    helper.stdout.setEncoding('latin1').on('data', (text: string) => {
      if (this.#helper === helper) this.#take(text);
    });
    return helper;
  }

  #take(text: string): void {
    this.#answer += text;
    for (let end = END.exec(this.#answer); end; end = END.exec(this.#answer)) {
      this.#asked.shift()?.(this.#answer.slice(0, end.index));
      this.#answer = this.#answer.slice(end.index + end[0].length);
    }
    this.#wait(this.#asked.length > 0 ? LOOK_MS : IDLE_MS);
  }

  /** Ends the helper, unless it answers or is asked within a time. */
  #wait(timeMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this[Symbol.dispose]();
    }, timeMs).unref();
  }
}

/**
 * Extracts a command's output from the stream of its terminal: the part between two marks that the driver prints, which
 * carry the command's 128-bit nonce. Only used for `tty` commands; all others have their own pipes.
 */
export class TerminalFence {
  readonly #opening: Buffer;
  readonly #closing: Buffer;
  #held: Buffer = Buffer.alloc(0);
  #state: 'before' | 'inside' | 'after' = 'before';

  constructor(nonce: string) {
    this.#opening = Buffer.from(fenceMark('a', nonce));
    this.#closing = Buffer.from(fenceMark('z', nonce));
  }

  /** Whether the closing mark has been read. */
  get isClosed(): boolean {
    return this.#state === 'after';
  }

  /** Takes terminal output, and returns the part that belongs to the command. */
  push(chunk: Buffer): Buffer {
    const nothing = chunk.subarray(0, 0);
    if (this.#state === 'after') return nothing;
    let data = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    if (this.#state === 'before') {
      const start = data.indexOf(this.#opening);
      if (start === -1) {
        this.#held = Buffer.from(data.subarray(-this.#opening.length));
        return nothing;
      }
      this.#state = 'inside';
      data = data.subarray(start + this.#opening.length);
    }
    return this.#untilClosing(data);
  }

  /** Returns the data that was held back as a possible start of the closing mark. */
  flush(): Buffer {
    const held = this.#state === 'inside' ? this.#held : Buffer.alloc(0);
    this.#state = 'after';
    return held;
  }

  #untilClosing(data: Buffer): Buffer {
    const end = data.indexOf(this.#closing);
    if (end !== -1) {
      this.#state = 'after';
      return data.subarray(0, end);
    }
    const kept = partialMatch(data, this.#closing);
    this.#held = Buffer.from(data.subarray(data.length - kept));
    return data.subarray(0, data.length - kept);
  }
}

/** The mark is an OSC string, which terminals do not display. */
const fenceMark = (side: 'a' | 'z', nonce: string): string => `\x1b]7711;${side}${nonce}\x07`;

/** Returns the length of the longest suffix of `data` that is a prefix of `mark`. */
function partialMatch(data: Buffer, mark: Buffer): number {
  for (let length = Math.min(data.length, mark.length - 1); length > 0; length--) {
    if (data.subarray(data.length - length).equals(mark.subarray(0, length))) return length;
  }
  return 0;
}

/** A request as it goes to `emit`. */
export interface FuzzedRequest {
  readonly name: string;
  readonly args: readonly unknown[];
}

/** Names of fields that requests have, so that the random ones meet what is behind them. */
const FIELDS =
  'session_id command_id command args cwd env stdin timeout_ms no_output_timeout_ms tty stream background output shell label data eof signal offset length from_seq cols rows sandbox request_id'.split(
    ' ',
  );

/** Commands that may run: a fuzzed request can be a valid one. */
const COMMANDS = ['true', 'echo x', 'exit 3', 'cat', '(', '', ' ', 'sleep 0.01', 'kill -INT $$', ': >&9'];

/** Makes random requests, the same ones for the same seed: wrong types, missing and unknown fields, huge and tiny values. */
export class PayloadGenerator {
  readonly #names: readonly string[];
  #state: number;

  constructor(seed: number, names: readonly string[]) {
    this.#state = seed >>> 0;
    this.#names = names;
  }

  next(): FuzzedRequest {
    const name = this.#chance(0.95)
      ? this.#pick(this.#names)
      : this.#pick(['', 'x', 'constructor', '__proto__', 'toString']);
    const count = this.#chance(0.9) ? 1 : this.#integer(4);
    return { name, args: Array.from({ length: count }, () => (this.#chance(0.8) ? this.#fields() : this.#value(4))) };
  }

  #fields(): Record<string, unknown> {
    const payload: Record<string, unknown> = {};
    for (let left = this.#integer(6); left > 0; left -= 1) {
      const field = this.#pick(FIELDS);
      // Commands come from the list alone: no random text may run.
      payload[field] = field === 'command' ? this.#command() : this.#value(3);
    }
    return payload;
  }

  #command(): unknown {
    return this.#chance(0.7) ? this.#pick(COMMANDS) : this.#pick([1, null, true, [], {}, ['true'], 'a\0b', '\uD800']);
  }

  #value(depth: number): unknown {
    const kinds = depth > 0 ? 9 : 7;
    switch (this.#integer(kinds)) {
      case 0:
        return this.#pick([null, true, false]);
      case 1:
        return this.#pick([0, -1, 1, 1.5, 1e9, -1e308, 2 ** 53, 1e21, NaN, Infinity]);
      case 2:
        return this.#pick([
          '',
          ' ',
          'a\0b',
          '\uD800',
          '../../etc',
          '/nonexistent',
          '/etc/passwd',
          'x'.repeat(5000),
          'SIGKILL',
        ]);
      case 3:
        return this.#integer(10_000);
      case 4:
        return Buffer.from([this.#integer(256), this.#integer(256)]);
      case 5:
        return this.#pick(['/', '/tmp', 'bash', 'none', 'stdout', 'utf8', 'SIGINT']);
      case 6:
        return this.#chance(0.5);
      case 7:
        return Array.from({ length: this.#integer(4) }, () => this.#value(depth - 1));
      default:
        return Object.fromEntries(
          Array.from({ length: this.#integer(4) }, () => [
            this.#pick([...FIELDS, '__proto__', 'constructor', 'A B', '1X', 'PATH']),
            this.#value(depth - 1),
          ]),
        );
    }
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#integer(items.length)]!;
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  #integer(below: number): number {
    return Math.floor(this.#random() * below);
  }

  /** mulberry32: small, and good enough to spread. */
  #random(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

import type { Principal } from '../../core/principal.js';
import { AdapterError } from '../../core/errors.js';
import type { Answer, CommandRequest, Request } from '../../core/protocol/requests.js';
import type { StdinPipe, StdinPipes } from '../../engine/output/stdin-pipe.js';
import type { EventSink } from '../registry/caller.js';

/**
 * Upper bound of the grace period for a client that disconnects without ending its input, in milliseconds: clients try
 * to reconnect for that long.
 */
const MAX_GRACE_MS = 30_000;

/** A standard input that a client streams. */
export interface StreamedInput {
  readonly commandId: string;
  /** Id of the principal that owns the command. */
  readonly ownerId: string;
  /** The session of the command; undefined without one. */
  readonly sessionId: string | undefined;
  readonly pipe: StdinPipe;
  /** The connection that feeds the input; undefined after a disconnect, and for callers without a connection. */
  sink: EventSink | undefined;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Standard inputs that clients stream, from the command's request until its end. Chunks that arrive before the command
 * has started, during policy checks, confirmation or queueing, are buffered here.
 */
export class StreamedInputs {
  readonly #pipesOf: (owner: Principal) => StdinPipes;
  /** Grace period for a disconnected client to reconnect, in milliseconds; bounded by 30 s. */
  readonly #graceMs: () => number;
  /** Called when the client of an input is lost: the rest of the input will never arrive. */
  readonly #onLost: (input: StreamedInput) => void;
  readonly #inputs = new Map<string, StreamedInput>();

  constructor(
    pipesOf: (owner: Principal) => StdinPipes,
    graceMs: () => number,
    onLost: (input: StreamedInput) => void,
  ) {
    this.#pipesOf = pipesOf;
    this.#graceMs = graceMs;
    this.#onLost = onLost;
  }

  /**
   * Runs a command with a streamed input. The input is open at once: its first chunk may be the client's next request.
   * If the command is not run in the end, its input is closed.
   * @param fate state of the command: the promise of a pending confirmation, `accepted`, or undefined when it is
   *   unknown
   * @throws AdapterError INVALID_REQUEST when the request also has `stdin`, or no `command_id`
   */
  async accompany<T>(
    { command_id: commandId, session_id: sessionId, stdin }: CommandRequest,
    owner: Principal,
    sink: EventSink | undefined,
    { fate, run }: { readonly fate: () => 'accepted' | Promise<unknown> | undefined; readonly run: () => Promise<T> },
  ): Promise<T> {
    const { id: ownerId } = owner;
    if (commandId === undefined) throw invalid('stdin_stream needs a command_id, by which send_input feeds it');
    if (stdin !== undefined) throw invalid('give stdin or stdin_stream, not both');
    if (this.find(commandId, ownerId)) this.adopt(commandId, ownerId, sink);
    else if (fate() === undefined) this.#open({ commandId, sessionId, sink }, owner);
    if (sink?.isGone === true) this.detach(sink);
    const settle = () => {
      const known = fate();
      if (known instanceof Promise) void known.then(settle, settle);
      else if (known === undefined) this.close(commandId, ownerId);
    };
    try {
      return await run();
    } finally {
      settle();
    }
  }

  #open(opened: Pick<StreamedInput, 'commandId' | 'sessionId' | 'sink'>, owner: Principal): void {
    const { id: ownerId } = owner;
    const pipe = this.#pipesOf(owner).next();
    this.#inputs.set(keyOf(opened.commandId, ownerId), { ...opened, ownerId, pipe, timer: undefined });
  }

  /** True when no input is open. */
  get isEmpty(): boolean {
    return this.#inputs.size === 0;
  }

  /**
   * Returns the open input of a command.
   * @param sessionId the session of the command; without one, it may be of any session, or of none
   */
  find(commandId: string, ownerId: string, sessionId?: string): StreamedInput | undefined {
    const input = this.#inputs.get(keyOf(commandId, ownerId));
    return sessionId === undefined || input?.sessionId === sessionId ? input : undefined;
  }

  /** Sets the connection that feeds an input from now on. */
  adopt(commandId: string, ownerId: string, sink: EventSink | undefined): void {
    const input = this.find(commandId, ownerId);
    if (!input) return;
    clearTimeout(input.timer);
    input.timer = undefined;
    input.sink = sink;
  }

  /** Closes an input when its command has ended, or does not run. */
  close(commandId: string, ownerId: string): void {
    const input = this.find(commandId, ownerId);
    if (!input) return;
    clearTimeout(input.timer);
    input.pipe.close();
    this.#inputs.delete(keyOf(commandId, ownerId));
  }

  /** Handles the end of a connection: the inputs it feeds wait for a reconnect. A complete input does not wait. */
  detach(sink: EventSink): void {
    const grace = Math.min(this.#graceMs(), MAX_GRACE_MS);
    for (const input of this.#inputs.values()) {
      if (input.sink !== sink || input.pipe.hasEnded) continue;
      input.sink = undefined;
      input.timer = setTimeout(() => {
        this.#onLost(input);
      }, grace).unref();
    }
  }

  /**
   * Accepts a chunk; resolves when there is room for another one (backpressure).
   * @throws AdapterError INVALID_REQUEST for a chunk that leaves a gap, or arrives after the end; INPUT_FULL for a
   *   client that does not wait for the answers
   */
  async feed(
    input: StreamedInput,
    { data = '', offset = input.pipe.bytes, eof = false }: Request<'send_input'>,
    sink: EventSink | undefined,
  ): Promise<Answer<'send_input'>> {
    const { pipe } = input;
    this.adopt(input.commandId, input.ownerId, sink);
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    const fresh = bytes.subarray(freshFrom(input, offset));
    if (fresh.length > 0) assertTakes(pipe);
    if (pipe.isClosed) return { accepted_bytes: 0, stdin_bytes: pipe.bytes, stdin_closed: true };
    pipe.write(fresh);
    if (eof) pipe.end();
    const room = await pipe.whenRoom();
    return {
      accepted_bytes: bytes.length,
      stdin_bytes: pipe.bytes,
      ...(room === 'closed' && { stdin_closed: true }),
    };
  }
}

const keyOf = (commandId: string, ownerId: string): string => `${ownerId} ${commandId}`;

const invalid = (message: string): AdapterError => new AdapterError('INVALID_REQUEST', message);

/** Throws unless a pipe takes more bytes. */
function assertTakes(pipe: StdinPipe): void {
  if (pipe.hasEnded) throw invalid('the standard input was ended by an earlier `eof`');
  if (!pipe.isFull) return;
  const message = 'the command does not read its input: wait for the answers to what was sent';
  throw new AdapterError('INPUT_FULL', message, { details: { stdin_bytes: pipe.bytes } });
}

/** Number of bytes of a chunk that were accepted already, when it was sent before over a connection that broke. */
function freshFrom({ pipe: { bytes } }: StreamedInput, offset: number): number {
  if (offset <= bytes) return bytes - offset;
  throw new AdapterError('INVALID_REQUEST', `offset ${offset} leaves a gap: the next byte of this input is ${bytes}`, {
    details: { field: 'offset', stdin_bytes: bytes },
  });
}

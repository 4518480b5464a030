import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import type { RequestInput } from '../../../src/core/protocol/requests.js';
import type { CommandResult } from '../../../src/core/protocol/results.js';
import type { WireAnswer, WireClient } from '../../support/wire.js';
import type { TrapContext } from '../harness/context.js';
import { remainingWith } from '../harness/leftovers.js';
import { NotApplicable, type PeerResult, type PeerRunOptions, type PeerSession } from './peer.js';

/** How long output must have been still before something is typed: peers do not tell that a program waits for input. */
const STILL_MS = 600;
/** The same for peers that show no output before the end. */
const BLIND_WAIT_MS = 1500;
const POLL_MS = 20;
/** Longest wait for output that should come at once. */
const OUTPUT_TIMEOUT_MS = 8000;
/** Time that processes get to end after the end of their session. */
const CLOSE_GRACE_MS = 4000;

const NO_OPTIONS: PeerRunOptions = {
  isAlone: false,
  timeoutMs: undefined,
  stdin: undefined,
  isAttended: false,
  isOnTerminal: false,
  cwd: undefined,
  env: undefined,
  args: undefined,
};

/** What a row's functions get when the row runs at a peer: what a client of ours can do, as far as the peer can. */
export class PeerContext implements Omit<TrapContext, 'client'> {
  readonly url = '';
  readonly daemon = undefined;
  readonly mark = String(randomInt(10 ** 12, 10 ** 13));
  readonly directory: string;
  readonly marginMs: number;
  sessionId = '';
  commandId = '';
  #session: PeerSession | undefined;

  constructor(root: string, marginMs: number) {
    this.marginMs = marginMs;
    this.directory = join(root, `row-${this.mark}`);
    mkdirSync(this.directory);
  }

  /** The connection; set once the peer is open. */
  set session(session: PeerSession) {
    this.#session = session;
  }

  get client(): WireClient {
    throw new NotApplicable('by requests of our protocol');
  }

  get sleep(): string {
    return `sleep 300.${this.mark}`;
  }

  newCommandId(): string {
    return '';
  }

  /** Gives what a result of ours would be: fields that peers do not have are as after an ordinary command. */
  async run(command: string, { timeout_ms }: Partial<RequestInput<'execute_command'>> = {}): Promise<CommandResult> {
    const result = await this.runAtPeer(command, { ...NO_OPTIONS, timeoutMs: timeout_ms ?? undefined });
    return asCommandResult(result);
  }

  async runAtPeer(command: string, options: PeerRunOptions): Promise<PeerResult> {
    return this.#opened.run(command, options);
  }

  async awaitInput(): Promise<void> {
    if (!this.#opened.output) return sleep(BLIND_WAIT_MS);
    let last = '';
    for (let stillMs = 0; stillMs < STILL_MS; stillMs += POLL_MS) {
      await sleep(POLL_MS);
      const now = this.#opened.output();
      if (now !== last) stillMs = 0;
      last = now;
    }
  }

  async input(data: string, eof = false): Promise<WireAnswer<'send_input'>> {
    if (!this.#opened.input) throw new NotApplicable('cannot type into a running command');
    await this.#opened.input(data, eof);
    return { accepted_bytes: Buffer.byteLength(data) };
  }

  async signal(signal: string): Promise<WireAnswer<'signal_command'>> {
    if (!this.#opened.signal) throw new NotApplicable('cannot interrupt a running command');
    await this.#opened.signal(signal);
    return {} as WireAnswer<'signal_command'>;
  }

  async output(text: string): Promise<void> {
    if (!this.#opened.output) return sleep(BLIND_WAIT_MS);
    const deadline = performance.now() + OUTPUT_TIMEOUT_MS;
    while (!this.#opened.output().includes(text)) {
      if (performance.now() > deadline) throw new Error(`no output ${JSON.stringify(text)} while the command runs`);
      await sleep(POLL_MS);
    }
  }

  streamed(): Buffer {
    if (!this.#opened.output) throw new NotApplicable('shows no output before the end');
    return Buffer.from(this.#opened.output());
  }

  wholeOutput(): Promise<Buffer> {
    return Promise.reject(new NotApplicable('output by command_id is our protocol’s'));
  }

  async elsewhere(command: string): Promise<string> {
    const { stdout } = await promisify(execFile)('bash', ['-c', command]);
    return stdout;
  }

  async close(): Promise<void> {
    await this.#opened.close();
    await remainingWith(this.mark, CLOSE_GRACE_MS);
  }

  get #opened(): PeerSession {
    if (!this.#session) throw new Error('the peer is not open');
    return this.#session;
  }
}

function asCommandResult({ stdout, stderr = '', exitCode = 0 }: PeerResult): CommandResult {
  const said = { stdout, stderr, exit_code: exitCode, status: 'completed', session_state: 'alive', killed_by: null };
  return said as unknown as CommandResult;
}

import { randomBytes, randomInt } from 'node:crypto';

import type { RequestInput } from '../../../src/core/protocol/requests.js';
import type { CommandResult } from '../../../src/core/protocol/results.js';
import type { TestDaemon } from '../../support/daemon.js';
import { PROCESS_HANG_MS } from '../../support/hang.js';
import type { WireAnswer, WireClient } from '../../support/wire.js';

/** Most bytes that one `read_output` gives. */
const READ_BYTES = 1024 * 1024;

/** What a row's functions get: the session it runs in, and what a client can do there. */
export class TrapContext {
  readonly client: WireClient;
  readonly url: string;
  /** Absent when another address is tested. */
  readonly daemon: TestDaemon | undefined;
  /** A directory of the row's own, where its session starts. */
  readonly directory: string;
  /** Digits that tell the row's processes from all others: in their environment, or as `sleep 300.DIGITS`. */
  readonly mark: string;
  /** Longest wait for an answer beyond a command's own run time, in milliseconds. */
  readonly marginMs: number;
  sessionId = '';
  /** Id of the command that runs. */
  commandId = '';

  constructor(
    client: WireClient,
    { url, daemon, root }: { url: string; daemon: TestDaemon | undefined; root: string },
    marginMs: number,
  ) {
    this.client = client;
    this.url = url;
    this.daemon = daemon;
    this.marginMs = marginMs;
    this.mark = String(randomInt(10 ** 12, 10 ** 13));
    this.directory = `${root}/row-${this.mark}`;
  }

  /** A command that sleeps long and is known as this row's. */
  get sleep(): string {
    return `sleep 300.${this.mark}`;
  }

  newCommandId(): string {
    this.commandId = `trap-${randomBytes(8).toString('hex')}`;
    return this.commandId;
  }

  /** Runs a further command in the session. */
  async run(command: string, options: Partial<RequestInput<'execute_command'>> = {}): Promise<CommandResult> {
    const answer = await this.client.run(command, this.sessionId, options);
    if (answer.error) throw new Error(`${command}: ${answer.error.code}: ${answer.error.message}`);
    return answer;
  }

  /** Waits until the running command is blocked in a read from its terminal. */
  async awaitInput(): Promise<void> {
    await this.client.event('awaiting_input', (event) => event.command_id === this.commandId);
  }

  /** Types into the running command. */
  async input(data: string, eof = false): Promise<WireAnswer<'send_input'>> {
    return this.client.request('send_input', { session_id: this.sessionId, data, eof });
  }

  /** Signals the running command. */
  async signal(
    signal: RequestInput<'signal_command'>['signal'],
    commandId = this.commandId,
  ): Promise<WireAnswer<'signal_command'>> {
    return this.client.request('signal_command', { command_id: commandId, signal });
  }

  /** Waits until the running command has printed this. */
  async output(text: string, commandId = this.commandId): Promise<void> {
    await this.client.until(() => (this.streamed(commandId).includes(text) ? true : undefined), PROCESS_HANG_MS);
  }

  /** What has been streamed of a command, both streams in order. */
  streamed(commandId: string, stream?: 'stdout' | 'stderr'): Buffer {
    const events = this.client.all('command_output').filter((event) => event.command_id === commandId);
    const wanted = stream === undefined ? events : events.filter((event) => event.stream === stream);
    return Buffer.concat(wanted.map(({ data }) => Buffer.from(data as Uint8Array)));
  }

  /** Runs a command outside of the session, and gives its standard output. */
  async elsewhere(command: string): Promise<string> {
    const answer = await this.client.run(command);
    if (answer.error) throw new Error(`${command}: ${answer.error.code}: ${answer.error.message}`);
    return answer.stdout;
  }

  /** Closes the session. */
  async close(): Promise<void> {
    await this.client.request('close_session', { session_id: this.sessionId });
  }

  /** Every byte of an output, from the spool. */
  async wholeOutput(commandId: string, stream: 'stdout' | 'stderr' = 'stdout'): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let offset = 0, isDone = false; !isDone;) {
      const answer = await this.client.request('read_output', {
        command_id: commandId,
        stream,
        offset,
        length: READ_BYTES,
      });
      if (answer.error) throw new Error(`read_output: ${answer.error.code}: ${answer.error.message}`);
      parts.push(Buffer.from(answer.data));
      offset += answer.data.length;
      isDone = answer.eof || answer.data.length === 0;
    }
    return Buffer.concat(parts);
  }
}

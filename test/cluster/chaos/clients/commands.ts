import { setTimeout as sleep } from 'node:timers/promises';

import type { ErrorBody } from '../../../../src/core/errors.js';
import type { RequestInput } from '../../../../src/core/protocol/requests.js';
import type { WireAnswer } from '../../../support/wire.js';
import { nodeOf } from '../../../../src/core/cluster/address.js';
import type { Outcome } from '../ledger.js';
import type { ClientOptions } from './client-options.js';
import type { Line } from './line.js';

/** How long a client sends a command again, in milliseconds. */
const GIVE_UP_MS = 60_000;
/** Pause before a command is sent again, in milliseconds. */
const AGAIN_MS = 250;
/** Share of the commands that may have been done, and are sent again to know it. */
const CURIOUS_SHARE = 0.6;
/** How long after it was disturbed a node may still count as lost, in milliseconds. */
const AFTERMATH_MS = 20_000;

/** Errors that a broken cluster gives; each says whether the request may be sent again, and whether it may have been done. */
const DECLARED = new Set(['NODE_LOST', 'NODE_UNREACHABLE', 'NO_CAPACITY', 'REGISTRY_UNAVAILABLE']);

/** What a client knows of a command at the end. */
export interface SentCommand {
  readonly outcome: Outcome;
  /** Of a command that has run. */
  readonly answer?: WireAnswer<'execute_command'>;
  /** Whether its session is gone. */
  readonly isSessionLost: boolean;
}

/** Sends commands as often as they may be sent, and settles them in the ledger. */
export class CommandSender {
  readonly #options: ClientOptions;
  readonly #line: Line;
  #number = 0;

  constructor(options: ClientOptions, line: Line) {
    this.#options = options;
    this.#line = line;
  }

  /** An id that no other command has. */
  nextId(): string {
    this.#number += 1;
    return `${this.#options.name}-${this.#number}`;
  }

  /** Runs a command, which notes itself in the ledger first. */
  async run(
    command_id: string,
    command: string,
    options: Partial<RequestInput<'execute_command'>> = {},
  ): Promise<SentCommand> {
    const { ledger, counts } = this.#options;
    const from = performance.now();
    const text = `${ledger.mark(command_id)}; ${command}`;
    const sent = await this.#send({ ...options, command_id, command: text }, from);
    ledger.settle({ id: command_id, outcome: sent.outcome, from, to: performance.now() });
    counts.add(`commands: ${sent.outcome}`);
    return sent;
  }

  async #send(request: RequestInput<'execute_command'>, from: number): Promise<SentCommand> {
    const { random, counts } = this.#options;
    let mayHaveRun = false;
    const given = (isSessionLost: boolean): SentCommand => ({
      outcome: mayHaveRun ? 'unknown' : 'never',
      isSessionLost,
    });
    while (performance.now() - from < GIVE_UP_MS) {
      const answer = await this.#line.ask('execute_command', request);
      if (answer && !answer.error)
        return { outcome: 'once', answer: this.#examine(answer, request), isSessionLost: false };
      const error = answer?.error;
      counts.add(error ? `answers: ${error.code}` : 'answers: none, the connection broke');
      mayHaveRun ||= !error || error.details?.['maybe_executed'] === true;
      if (error && !this.#maySendAgain(error, request, from)) return given(error.code === 'SESSION_NOT_FOUND');
      if (error?.code === 'NODE_LOST' && random() > CURIOUS_SHARE) return given(false);
      await sleep(AGAIN_MS);
    }
    return given(false);
  }

  /** Whether a command is sent again after an error. Fails for errors that nothing has caused, and for those that do not say enough. */
  #maySendAgain(
    { code, message, details = {} }: ErrorBody,
    request: RequestInput<'execute_command'>,
    from: number,
  ): boolean {
    const { fail, nodes } = this.#options;
    const about = `${code} (${message}) ${JSON.stringify(details)} for ${request.command_id ?? ''} in ${request.session_id ?? 'no session'}`;
    if (DECLARED.has(code)) {
      if (typeof details['retry_safe'] !== 'boolean' || typeof details['maybe_executed'] !== 'boolean')
        fail(`says not whether it may have been done: ${about}`);
      if (code === 'REGISTRY_UNAVAILABLE' && !nodes.lackedRedis(from, performance.now()))
        fail(`Redis was there: ${about}`);
      return true;
    }
    if (code !== 'SESSION_NOT_FOUND') fail(`unexpected: ${about}`);
    else this.#examineLoss(request.session_id ?? '', about);
    return false;
  }

  /** A session is lost with its node only. */
  #examineLoss(sessionId: string, about: string): void {
    const { nodes, fail } = this.#options;
    const node = nodes.find(nodeOf(sessionId) ?? '');
    if (node?.wasDisturbedAfter(performance.now() - AFTERMATH_MS) !== true) fail(`its node is well: ${about}`);
  }

  #examine(
    answer: WireAnswer<'execute_command'>,
    { command_id, session_id }: RequestInput<'execute_command'>,
  ): WireAnswer<'execute_command'> {
    const { status, exit_code, session_state } = answer;
    if (status !== 'completed' || exit_code !== 0 || answer.command_id !== command_id)
      this.#options.fail(
        `${command_id ?? ''} in ${session_id ?? 'no session'} is ${JSON.stringify({ status, exit_code, session_state, id: answer.command_id, stderr: answer.stderr })}`,
      );
    return answer;
  }
}

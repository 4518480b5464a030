import { eventually } from '../../../support/measure.js';
import { StreamCheck } from '../../../support/stream-check.js';
import type { WireClient } from '../../../support/wire.js';
import type { ClientOptions } from './client-options.js';
import { type ClientParts, inSessions } from './sessions.js';

/** Lines that a command prints, and the time between two, in seconds. */
const LINES = 60;
const LINE_S = 0.03;
/** Time for output that comes after the answer, in milliseconds: the node may be lost meanwhile. */
const WHOLE_MS = 15_000;

const TEXT = Array.from({ length: LINES }, (_, index) => `line ${index + 1}\n`).join('');

/** Streams the output of commands, and puts it together over all connections. */
export const followStreams = (options: ClientOptions): Promise<void> => inSessions(options, follow);

/** Runs one command, so that a gap is one of its output. */
async function follow(
  session_id: string,
  { counts, fail }: ClientOptions,
  { line, commands }: ClientParts,
): Promise<void> {
  const followed = new FollowedSession(session_id);
  line.prepare = (client) => followed.follow(client);
  const id = commands.nextId();
  // What the connection that has opened the session gets, too.
  line.leave();
  const text = `for i in $(seq ${LINES}); do echo line $i; sleep ${LINE_S}; done`;
  const { answer } = await commands.run(id, text, { session_id, stream: true });
  followed.take();
  if (answer && !followed.isWhole) counts.add('answers before the end of their output');
  // The answer to a command that was sent again may come before the output that another connection has followed.
  const wait = async () => followed.assertWhole(await line.connected());
  if (answer) await eventually(wait, WHOLE_MS).catch(() => undefined);
  line.prepare = () => Promise.resolve();
  counts.add('streams');
  if (followed.check.gaps > 0) counts.add('streams with a gap that was told');
  const problems = followed.check.problems;
  if (problems.length > 0) fail(`the output of ${id} in ${session_id}: ${problems.join('; ')}`);
  if (answer && answer.stdout !== TEXT) fail(`${id} has printed ${JSON.stringify(answer.stdout)}`);
  const streamed = followed.check.text();
  if (answer && !followed.isWhole && !followed.isGone)
    fail(
      `${id} in ${session_id} has streamed ${JSON.stringify(streamed.slice(-80))} at the end, ${streamed.length} of ${TEXT.length}`,
    );
}

/** The output of a session, from one connection after the other. */
class FollowedSession {
  readonly check = new StreamCheck();
  readonly #id: string;
  #client: WireClient | undefined;
  #taken = 0;
  #isAttached = false;
  #isGone = false;

  constructor(id: string) {
    this.#id = id;
  }

  /** Whether all has come, or a gap was told. */
  get isWhole(): boolean {
    return this.check.gaps > 0 || this.check.text() === TEXT;
  }

  /** Whether the session has ended, with the output that was kept of it. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** @throws Error when something is still to come */
  async assertWhole(client: WireClient): Promise<void> {
    await this.follow(client);
    this.take();
    if (!this.isWhole && !this.#isGone) throw new Error('output is missing');
  }

  /** Attaches over a new connection, and again when the node counted as lost meanwhile. */
  async follow(client: WireClient): Promise<void> {
    if (client !== this.#client) {
      this.take();
      this.#client = client;
      this.#taken = 0;
      this.#isAttached = false;
    }
    this.take();
    if (this.#isAttached || this.#isGone) return;
    const attached = await client
      .request('attach_session', { session_id: this.#id, from_seq: this.check.nextSeq })
      .catch(() => undefined);
    this.#isAttached = attached !== undefined && attached.error === undefined;
    this.#isGone = attached?.error?.code === 'SESSION_NOT_FOUND';
    if (this.#isAttached) this.check.takeGap(attached?.gap ?? null);
  }

  /** Takes what has come. What is missing after a link that had broken is told after the events that follow it. */
  take(): void {
    const events = this.#client?.events.slice(this.#taken) ?? [];
    this.#taken += events.length;
    const isOwnEnd = ({ name, payload }: (typeof events)[number]) =>
      name === 'session_closed' && (payload as { readonly session_id?: unknown }).session_id === this.#id;
    if (events.some(isOwnEnd)) this.#isAttached = false;
    const own = events.filter(({ payload }) => (payload as { readonly session_id?: unknown }).session_id === this.#id);
    for (let from = 0; from < own.length;) {
      const end = own.findIndex(({ name }, index) => index >= from && name === 'session_reattached');
      const part = own.slice(from, end === -1 ? undefined : end);
      if (end !== -1) {
        const detached = part.findIndex(({ name }) => name === 'session_detached');
        this.check.take(part.splice(0, detached));
        this.check.takeGap((own[end]!.payload as { readonly gap: Parameters<StreamCheck['takeGap']>[0] }).gap);
      }
      this.check.take(part);
      from = end === -1 ? own.length : end + 1;
    }
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../fixtures/client.mjs', import.meta.url));

/** What the client process tells, one JSON object a line. */
export type ClientNote =
  | { readonly note: 'started'; readonly session_id?: string; readonly command_id: string }
  | { readonly note: 'event'; readonly name: string; readonly payload: Readonly<Record<string, unknown>> }
  | { readonly note: 'disconnected'; readonly reason: string };

/** A client in a process of its own, so that it can be stopped or killed. It runs one command with `stream: true`. */
export class ClientProcess implements AsyncDisposable {
  readonly sessionId: string;
  readonly commandId: string;
  /** Everything it has told, in order. */
  readonly notes: readonly ClientNote[];
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor(child: ChildProcess, notes: readonly ClientNote[], sessionId: string, commandId: string) {
    this.#child = child;
    this.#exited = child.exitCode === null ? once(child, 'exit') : Promise.resolve();
    this.notes = notes;
    this.sessionId = sessionId;
    this.commandId = commandId;
  }

  /** Connects, opens a session (not with `alone`) and starts the command. Resolves when its first output has come. */
  static async start(url: string, command: string, place: 'session' | 'alone' = 'session'): Promise<ClientProcess> {
    const child = spawn(process.execPath, [PROGRAM, url, command, place], { stdio: ['ignore', 'pipe', 'inherit'] });
    const notes: ClientNote[] = [];
    let ids: { session_id?: string; command_id: string } | undefined;
    await new Promise<void>((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        const note = JSON.parse(line) as ClientNote;
        notes.push(note);
        if (note.note === 'started') ids = note;
        if (ids && note.note === 'event' && note.name === 'command_output') resolve();
      });
      child.on('exit', (code, signal) => {
        reject(new Error(`the client ended early: ${code ?? signal ?? ''}`));
      });
    });
    return new ClientProcess(child, notes, ids!.session_id ?? '', ids!.command_id);
  }

  /** The payloads of one kind of event. */
  all(name: string): Readonly<Record<string, unknown>>[] {
    return this.notes.flatMap((note) => (note.note === 'event' && note.name === name ? [note.payload] : []));
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Kills it and waits for its end. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.#exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

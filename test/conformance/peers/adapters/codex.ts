import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import type { Peer, PeerPlace, PeerResult, PeerRunOptions, PeerSession } from '../peer.js';
import { ServerProcess } from '../server-process.js';

/** As wide as terminals of our daemon. */
const SIZE = { rows: 50, cols: 200 };

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly processId: string; readonly stream: 'stdout' | 'stderr'; readonly deltaBase64: string };
  readonly result?: { readonly exitCode?: number };
  readonly error?: { readonly message: string };
}

interface Running {
  readonly processId: string;
  readonly stdout: Buffer[];
  readonly stderr: Buffer[];
}

class CodexSession implements PeerSession {
  readonly #server: ServerProcess;
  readonly #place: PeerPlace;
  readonly #waiting = new Map<number, (message: Message) => void>();
  readonly #commands = new Map<string, Running>();
  #lastId = 0;
  #running: Running | undefined;

  constructor(server: ServerProcess, place: PeerPlace) {
    this.#server = server;
    this.#place = place;
    createInterface({ input: server.child.stdout }).on('line', (line) => {
      this.#receive(JSON.parse(line) as Message);
    });
  }

  async initialize(): Promise<void> {
    const clientInfo = { name: 'conformance', title: 'conformance', version: '1.0.0' };
    await this.#request('initialize', { clientInfo, capabilities: { experimentalApi: true } });
    this.#server.child.stdin.write(`${JSON.stringify({ method: 'initialized' })}\n`);
  }

  async run(command: string, options: PeerRunOptions): Promise<PeerResult> {
    const processId = `command-${this.#lastId}`;
    const running: Running = { processId, stdout: [], stderr: [] };
    this.#commands.set(processId, running);
    this.#running = running;
    const hasInput = options.isAttended || options.stdin !== undefined;
    const answered = this.#request('command/exec', {
      command: options.args ? [command, ...options.args] : ['bash', '-c', command],
      processId,
      cwd: options.cwd ?? this.#place.directory,
      env: { ...this.#place.env, ...options.env },
      sandboxPolicy: { type: 'dangerFullAccess' },
      streamStdoutStderr: true,
      disableOutputCap: true,
      streamStdin: hasInput,
      ...(options.isOnTerminal && { tty: true, size: SIZE }),
      ...(options.timeoutMs === undefined ? { disableTimeout: true } : { timeoutMs: options.timeoutMs }),
    });
    // A program may end without reading it.
    if (options.stdin !== undefined) await this.input(options.stdin, true).catch(ignoreEnded);
    const { exitCode } = await answered;
    const bytes = Buffer.concat(running.stdout);
    return { stdout: bytes.toString(), stderr: Buffer.concat(running.stderr).toString(), exitCode, bytes };
  }

  async input(data: string, eof: boolean): Promise<void> {
    const deltaBase64 = data === '' ? null : Buffer.from(data).toString('base64');
    await this.#request('command/exec/write', { processId: this.#running?.processId, deltaBase64, closeStdin: eof });
  }

  output(): string {
    return Buffer.concat(this.#running?.stdout ?? []).toString();
  }

  async close(): Promise<void> {
    await this.#server.end();
  }

  #receive({ id, method, params, ...answer }: Message): void {
    if (id !== undefined) this.#waiting.get(id)?.({ id, ...answer });
    else if (method === 'command/exec/outputDelta' && params) {
      this.#commands.get(params.processId)?.[params.stream].push(Buffer.from(params.deltaBase64, 'base64'));
    }
  }

  async #request(method: string, params: object): Promise<NonNullable<Message['result']>> {
    const id = ++this.#lastId;
    const answered = new Promise<Message>((resolve) => this.#waiting.set(id, resolve));
    this.#server.child.stdin.write(`${JSON.stringify({ id, method, params })}\n`);
    const { result, error } = await answered;
    if (!result) throw new Error(`${method}: ${error?.message ?? 'no result'}`);
    return result;
  }
}

function ignoreEnded(error: unknown): void {
  if (!/no longer running|no active command/.test(String(error))) throw error;
}

/** OpenAI's coding agent: the command execution that its editors' extensions use, without a model. */
export const codex: Peer = {
  name: 'codex',
  title: 'OpenAI Codex',
  version: '0.169.0',
  how: '`command/exec` of `codex app-server` over stdio, with `bash -c`, streamed output, no sandbox and no limit of output',
  install: { npm: ['@openai/codex@0.169.0'] },
  notions: new Set([
    ...(['one_shot', 'exit_code', 'streams', 'timeout', 'stdin', 'input'] as const),
    ...(['tty', 'surroundings', 'args', 'bytes'] as const),
  ]),
  async open(place) {
    const home = join(place.directory, '..', `home-${place.env['CONFORMANCE_ROW'] ?? ''}`);
    mkdirSync(home);
    const server = new ServerProcess(join(place.installed, 'node_modules/.bin/codex'), ['app-server'], {
      cwd: place.directory,
      env: { ...process.env, ...place.env, CODEX_HOME: home },
    });
    const session = new CodexSession(server, place);
    await session.initialize();
    return session;
  },
};

import { execFileSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { NotApplicable, type Peer, type PeerResult, type PeerRunOptions, type PeerSession } from '../peer.js';
import { ServerProcess } from '../server-process.js';

const BRIDGE = fileURLToPath(new URL('../bridges/pexpect_bridge.py', import.meta.url));

interface Answer {
  readonly output?: string;
  readonly error?: string;
}

class PexpectSession implements PeerSession {
  readonly #server: ServerProcess;
  #answer: (answer: Answer) => void = () => undefined;

  constructor(server: ServerProcess) {
    this.#server = server;
    createInterface({ input: server.child.stdout }).on('line', (line) => {
      this.#answer(JSON.parse(line) as Answer);
    });
    server.child.on('exit', () => {
      this.#answer({ error: 'the process has ended' });
    });
  }

  async run(command: string, { timeoutMs }: PeerRunOptions): Promise<PeerResult> {
    const answered = new Promise<Answer>((resolve) => (this.#answer = resolve));
    this.#send({ run: command, timeout: timeoutMs === undefined ? null : timeoutMs / 1000 });
    const { output, error } = await answered;
    if (output === undefined) throw new Error(`run_command: ${error ?? 'no output'}`);
    // A terminal ends lines so.
    return { stdout: output.replaceAll('\r\n', '\n') };
  }

  input(data: string, eof: boolean): Promise<void> {
    if (data !== '') this.#send({ send: data });
    if (eof) this.#send({ eof: true });
    return Promise.resolve();
  }

  signal(signal: string): Promise<void> {
    if (signal !== 'SIGINT') throw new NotApplicable('sends no signal but an interrupt');
    this.#send({ interrupt: true });
    return Promise.resolve();
  }

  async close(): Promise<void> {
    await this.#server.end();
  }

  #send(request: object): void {
    this.#server.child.stdin.write(`${JSON.stringify(request)}\n`);
  }
}

/** The library on which most shells of agents written in Python rest: a prompt of its own marks the end of a command. */
export const pexpect: Peer = {
  name: 'pexpect',
  title: 'pexpect',
  version: '4.9.0',
  how: '`replwrap.bash()` and `run_command` of the Python library; at a time-out `sendintr`, and the prompt awaited again',
  install: {
    script: (folder) => {
      execFileSync('python3', ['-m', 'pip', 'install', '--quiet', '--target', folder, 'pexpect==4.9.0'], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    },
    command: 'pip install pexpect==4.9.0',
  },
  notions: new Set(['session', 'timeout', 'input', 'signal', 'terminal'] as const),
  open(place) {
    const server = new ServerProcess('python3', [BRIDGE], {
      cwd: place.directory,
      env: { ...process.env, ...place.env, PYTHONPATH: place.installed },
    });
    return Promise.resolve(new PexpectSession(server));
  },
};

import { setTimeout as sleep } from 'node:timers/promises';

import { McpServer } from '../mcp-server.js';
import { NotApplicable, type Peer, type PeerResult, type PeerRunOptions, type PeerSession } from '../peer.js';

/** Longest wait of one call; the tool returns as soon as the process ends. */
const CALL_MS = 4000;
/** The same where something will be typed meanwhile. */
const ATTENDED_CALL_MS = 300;
const POLL_MS = 100;

const STARTED = /^Process started with PID (\d+)[^\n]*\nInitial output:\n/;
const RUNNING = /\n?\n⏳ Process is running\. Use read_process_output to get more output\.$|\n\n🔄 [^\n]*$/;
const READ = /^\[Reading [^\n]*\]\n\n(?:\(No output in requested range\))?/;
const COMPLETED = /\n?\n?✅ Process completed with exit code (\S+)[^\n]*$/;

class DesktopCommanderSession implements PeerSession {
  readonly #server: McpServer;
  #pid = 0;
  #output = '';

  constructor(server: McpServer) {
    this.#server = server;
  }

  async run(command: string, options: PeerRunOptions): Promise<PeerResult> {
    this.#output = '';
    const timeout_ms = options.timeoutMs ?? (options.isAttended ? ATTENDED_CALL_MS : CALL_MS);
    const { texts, isError } = await this.#server.call('start_process', { command, timeout_ms, shell: 'bash' });
    const text = texts.join('');
    const pid = STARTED.exec(text)?.[1];
    if (isError || pid === undefined) throw new Error(`start_process: ${text}`);
    this.#pid = Number(pid);
    const initial = text.replace(STARTED, '');
    this.#output = initial.replace(RUNNING, '');
    const isRunning = RUNNING.test(initial);
    if (isRunning && options.timeoutMs !== undefined) await this.signal('SIGINT');
    const exitCode = await this.#ended(isRunning);
    return { stdout: this.#output, exitCode };
  }

  async input(data: string, eof: boolean): Promise<void> {
    if (eof) throw new NotApplicable('cannot end the input of a running command');
    await this.#server.call('interact_with_process', { pid: this.#pid, input: data, wait_for_prompt: false });
  }

  async signal(signal: string): Promise<void> {
    if (signal !== 'SIGINT') throw new NotApplicable('sends no signal but an interrupt');
    await this.#server.call('force_terminate', { pid: this.#pid });
  }

  output(): string {
    return this.#output;
  }

  async close(): Promise<void> {
    await this.#server.close();
  }

  /** Reads until the process has ended, which only this tool tells, as it tells the exit code. */
  async #ended(isRunning: boolean): Promise<number | undefined> {
    for (;;) {
      const { texts } = await this.#server.call('read_process_output', { pid: this.#pid, timeout_ms: CALL_MS });
      const text = texts.join('');
      const code = COMPLETED.exec(text)?.[1];
      if (isRunning) this.#output += text.replace(COMPLETED, '').replace(READ, '');
      if (code !== undefined) return code === 'null' ? undefined : Number(code);
      if (!READ.test(text)) throw new Error(`read_process_output: ${text}`);
      await sleep(POLL_MS);
    }
  }
}

/** The shell and file tools that most users of MCP have. */
export const desktopCommander: Peer = {
  name: 'desktop-commander',
  title: 'Desktop Commander',
  version: '0.2.52',
  how: 'MCP over stdio: `start_process` with bash, then `read_process_output` for the exit code; `interact_with_process`, `force_terminate`',
  install: { npm: ['@wonderwhy-er/desktop-commander@0.2.52'] },
  notions: new Set(['one_shot', 'exit_code', 'timeout', 'input', 'signal'] as const),
  async open(place) {
    const server = await McpServer.start('desktop-commander', place);
    await server.call('set_config_value', { key: 'telemetryEnabled', value: false });
    return new DesktopCommanderSession(server);
  },
};

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A backend of another hand than our own `llm-service.ts`: beside the project, or where the variable says. */
const PROGRAM =
  process.env['FAKE_LLM_BACKEND'] ??
  fileURLToPath(new URL('../../../shared/tools/fake-llm-backend.mjs', import.meta.url));

/** Why it cannot be used; undefined when it can. */
export const noFakeBackend = existsSync(PROGRAM)
  ? undefined
  : `there is no ${PROGRAM}: FAKE_LLM_BACKEND may say where it is`;

/** The backend as a process, on a port of its own. The model's name says how it behaves: `fake-ok`, `fake-error-401`, … */
export class FakeBackend implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(): Promise<FakeBackend> {
    const child = spawn(process.execPath, [PROGRAM, '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
    process.once('exit', () => child.kill('SIGKILL'));
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    return new FakeBackend(child, (JSON.parse(line.toString()) as { port: number }).port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

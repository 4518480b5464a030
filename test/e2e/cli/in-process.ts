import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { PassThrough } from 'node:stream';

import type { Context, Output } from '../../../src/cli/console/context.js';
import { runCommandLine } from '../../../src/cli/program.js';
import { type CliOptions, type CliResult, environmentOf, MAIN } from './support.js';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** An output without a terminal, whose bytes are kept. */
class KeptOutput implements Output {
  readonly isTerminal = false;
  readonly isColoured = false;
  readonly size = undefined;
  readonly isBroken = false;
  readonly broken = new Promise<void>(() => undefined);
  readonly #chunks: Buffer[] = [];

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  write(data: string | Uint8Array): Promise<void> {
    this.#chunks.push(Buffer.from(data));
    return Promise.resolve();
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  onResize(): Disposable {
    return { [Symbol.dispose]: () => undefined };
  }
}

/**
 * Calls the command line in the process of the test, which takes a tenth of a program's time. For what it prints and how it ends; what
 * needs a process of its own (signals, a terminal, a reader that goes, the start of a daemon, certificates of the environment) is
 * tested with `runCli`.
 */
export async function callCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const { cwd = process.cwd(), input } = options;
  const [stdout, stderr, stdin] = [new KeptOutput(), new KeptOutput(), new PassThrough()];
  const isGiven = typeof input === 'string' || input instanceof Uint8Array;
  stdin.end(isGiven ? Buffer.from(input) : undefined);
  let code = 0;
  const context: Context = {
    programName: `node ${relative(cwd, MAIN)}`,
    version,
    env: environmentOf(options),
    cwd,
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout,
    stderr,
    exitWith: (given) => {
      code = given;
    },
    exitNow: (given) => {
      throw new Error(`a call in this process cannot exit with ${given} at once`);
    },
    warnOnce: (line) => {
      if (!stderr.bytes.includes(line)) void stderr.write(`shell-adapter: ${line}\n`);
    },
    onSignal: () => ({ [Symbol.dispose]: () => undefined }),
    onFault: () => ({ [Symbol.dispose]: () => undefined }),
  };
  await runCommandLine(args, context);
  const { bytes } = stdout;
  const { bytes: errorBytes } = stderr;
  return { code, bytes, errorBytes, stdout: bytes.toString(), stderr: errorBytes.toString() };
}
